/** Every real checkpoint converts to the very bytes of its golden, or is refused by its code with nothing left behind. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createMemorySource, isAssayError, type Code } from '@assay/core';
import { executeConversion, planConversion } from '@assay/convert';
import { openArchive } from '@assay/formats';
import { describe, expect, it } from 'vitest';
import { runner, watchedSink } from './convert-in-memory.ts';

interface Fixture {
  readonly file: string;
  readonly what: string;
  readonly expect: 'converts' | 'refused';
  readonly golden?: string;
  readonly tensors?: number;
  readonly aliases?: Readonly<Record<string, string>>;
  readonly code?: string;
}

const folder = new URL('../fixtures/', import.meta.url);
const fixtures = JSON.parse(readFileSync(new URL('fixtures.json', folder), 'utf8')) as readonly Fixture[];

const read = (name: string): Uint8Array => new Uint8Array(readFileSync(new URL(name, folder)));
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The fixtures say why in words; this is how we say it. */
const codeOf: ReadonlyMap<string, Code> = new Map<string, Code>([
  ['legacy container, not in this release', 'FORMAT_UNSUPPORTED'],
  ['bare pickle, not in this release', 'FORMAT_UNSUPPORTED'],
  ['TorchScript archive', 'FORMAT_UNSUPPORTED'],
  ['torch.export archive', 'FORMAT_UNSUPPORTED'],
  ['sparse tensor', 'TORCH_TENSOR_SPARSE'],
  ['quantised tensor', 'TORCH_TENSOR_QUANTIZED'],
  ['meta tensor', 'TORCH_TENSOR_META'],
  ['no such dtype in safetensors', 'TORCH_DTYPE_UNSUPPORTED'],
  ['wrapper subclass', 'TORCH_TENSOR_WRAPPER'],
  ['nested tensor', 'TORCH_TENSOR_NESTED'],
  ['numpy-backed tensor', 'TORCH_TENSOR_NUMPY'],
  ['no tensors', 'TORCH_NO_TENSORS'],
  ['a module object, not a map of tensors', 'TORCH_OBJECT_NOT_WEIGHTS'],
  ['persistent id is text', 'PICKLE_PERSISTENT_ID_TEXT'],
  ['storages were never written', 'CONVERT_DATA_NEVER_WRITTEN'],
  ['two tensors of one name', 'TORCH_NAME_DUPLICATE'],
  ['name is not unicode', 'TORCH_NAME_NOT_UNICODE'],
  ['reserved name', 'TORCH_NAME_RESERVED'],
  ['over the limit for expansion', 'LIMIT_EXCEEDED'],
  ['CRC-32 mismatch', 'CONVERT_CRC_MISMATCH'],
  ['no end of central directory', 'ZIP_DIRECTORY_MISSING'],
  ['storage shorter than its count', 'TORCH_STORAGE_SIZE_MISMATCH'],
  ['storage missing', 'TORCH_STORAGE_MISSING'],
  ['no data.pkl', 'TORCH_PICKLE_MISSING'],
  ['unknown byte order', 'TORCH_BYTE_ORDER_UNKNOWN'],
  ['compression method', 'ZIP_ENTRY_METHOD'],
]);

describe('converts', () => {
  const converting = fixtures.filter(({ expect: expected }) => expected === 'converts');
  it.each(converting.map((fixture): [string, Fixture] => [`${fixture.file}: ${fixture.what}`, fixture]))('%s', async (_, fixture) => {
    await using archive = await openArchive(createMemorySource(read(fixture.file), fixture.file));
    const plan = planConversion(archive);
    const watch = watchedSink(plan.output.byteLength);
    const report = await executeConversion(plan, archive, { runner, sink: watch.sink });
    const golden = sha256(read(fixture.golden ?? ''));
    expect(sha256(watch.published ?? new Uint8Array(0))).toBe(golden);
    expect(report.digests.get('sha256')).toBe(golden);
    expect(report.tensors).toBe(fixture.tensors);
    expect(Object.fromEntries(report.aliases.map(({ name, keptAs }) => [name, keptAs]))).toEqual(fixture.aliases ?? {});
    expect(report.crc).toBe(fixture.file === 'no-crc.pt' ? 'never-computed' : 'matched');
  });
});

describe('refuses', () => {
  const refused = fixtures.filter(({ expect: expected }) => expected === 'refused');
  it.each(refused.map((fixture): [string, Fixture] => [`${fixture.file}: ${fixture.what}`, fixture]))('%s', async (_, fixture) => {
    const { failure, published } = await refusal(fixture.file);
    if (!isAssayError(failure)) throw failure;
    expect(failure.code).toBe(codeOf.get(fixture.code ?? ''));
    expect(failure.hint).toBeTruthy();
    expect(published).toBeUndefined();
  });
});

async function refusal(file: string): Promise<{ failure: unknown; published: Uint8Array | undefined }> {
  let watch = watchedSink(0);
  try {
    await using archive = await openArchive(createMemorySource(read(file), file));
    const plan = planConversion(archive);
    watch = watchedSink(plan.ok ? plan.output.byteLength : 0);
    await executeConversion(plan, archive, { runner, sink: watch.sink });
    return { failure: undefined, published: watch.published };
  } catch (failure) {
    return { failure, published: watch.published };
  }
}
