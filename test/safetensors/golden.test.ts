import { createMemorySink, type DType } from '@assay/core';
import { checkSafetensors, layoutSafetensors, openSafetensors, writeSafetensors, type TensorToWrite } from 'safetensors-js';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sourceOf } from './file-bytes.ts';

// Origin: make-goldens.py, with safetensors 0.8.0.
const folder = new URL('golden/', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.safetensors')).map((name) => name.slice(0, -12));

interface Given {
  readonly tensors: readonly (readonly [name: string, dtype: DType, shape: readonly number[]])[];
  readonly metadata: Readonly<Record<string, string>> | null;
}

function load(name: string): { file: Uint8Array; tensors: TensorToWrite[]; metadata: Map<string, string> | undefined } {
  const given = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as Given;
  return {
    file: new Uint8Array(readFileSync(new URL(`${name}.safetensors`, folder))),
    tensors: given.tensors.map(([name, dtype, shape]) => ({ name, dtype, shape })),
    metadata: given.metadata === null ? undefined : new Map(Object.entries(given.metadata)),
  };
}

const generated = (index: number, length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (index * 31 + at * 7) % 256);

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<number[]> {
  const bytes: number[] = [];
  for await (const chunk of chunks) bytes.push(...chunk);
  return bytes;
}

describe.each(names)('golden %s', (name) => {
  const { file, tensors, metadata } = load(name);
  const options = metadata === undefined ? {} : { metadata };

  it('is written byte for byte as by safetensors 0.8.0', async () => {
    const layout = layoutSafetensors(tensors.toReversed(), options);
    expect(layout.byteLength).toBe(file.length);
    let written: Uint8Array | undefined;
    const sink = createMemorySink({ size: layout.byteLength, publish: (bytes) => (written = bytes) });
    const index = new Map(tensors.map((tensor, at) => [tensor.name, at]));
    const lengths = new Map(layout.tensors.map((tensor) => [tensor.name, tensor.end - tensor.start]));
    await writeSafetensors(sink, layout, async function* (tensor) {
      yield generated(index.get(tensor) ?? 0, lengths.get(tensor) ?? 0);
    });
    await sink.commit();
    expect(Buffer.from(written ?? []).toString('latin1')).toBe(Buffer.from(file).toString('latin1'));
  });

  it('is opened with what was saved', async () => {
    const archive = await openSafetensors(sourceOf(file));
    expect([...archive.tensors.keys()].sort()).toEqual(tensors.map((tensor) => tensor.name).sort());
    expect(archive.metadata).toEqual(metadata ?? new Map());
    for (const [index, { name, dtype, shape }] of tensors.entries()) {
      expect(archive.tensors.get(name)).toMatchObject({ name, dtype, shape });
      const bytes = await joined(archive.stream(name));
      expect(bytes).toEqual([...generated(index, archive.tensors.get(name)?.byteLength ?? -1)]);
    }
  });

  it('gives a finding or opens when it is cut at any byte', async () => {
    for (let length = 0; length < file.length; length += 1) {
      const check = await checkSafetensors(sourceOf(file.subarray(0, length)));
      expect(check.ok).toBe(false);
      expect(['SAFETENSORS_TOO_SHORT', 'SAFETENSORS_HEADER_PAST_END', 'SAFETENSORS_DATA_SHORT']).toContain(
        check.findings.find(({ severity }) => severity === 'error')?.code,
      );
    }
  });
});

it('writes the vectors of the reference’s own tests', () => {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  expect(hex(layoutSafetensors([]).header)).toBe('08000000000000007b7d202020202020');
  const withMetadata = layoutSafetensors([], { metadata: new Map([['framework', 'pt']]) });
  expect(withMetadata.header[0]).toBe(40);
  expect(new TextDecoder().decode(withMetadata.header.subarray(8))).toBe('{"__metadata__":{"framework":"pt"}}     ');
  expect(layoutSafetensors([{ name: 'attn0', dtype: 'F32', shape: [1, 1, 2, 3] }]).header[0]).toBe(72);
  expect(layoutSafetensors([{ name: 'attn.0', dtype: 'F32', shape: [1, 2, 3] }]).header[0]).toBe(64);
});
