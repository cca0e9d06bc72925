import { readFileSync } from 'node:fs';
import { createMemorySource, isAssayError, type AssayError, type ByteSource, type TensorArchive } from '@assay/core';
import { openArchive, openTorchZip } from '@assay/formats';
import { describe, expect, test } from 'vitest';
import { countingSource } from '../support/counting-source.ts';
import { pickleOf, PickleBuilder, type Writable } from '../support/pickle-builder.ts';
import { floats, storage, tensor, torchZip, zipOf } from '../support/torch-builder.ts';

const fixture = (file: string): Uint8Array => readFileSync(new URL(`../fixtures/${file}`, import.meta.url));

async function refusal(opened: Promise<TensorArchive>): Promise<AssayError> {
  const error: unknown = await opened.then(
    () => new Error('was not refused'),
    (cause: unknown) => cause,
  );
  if (isAssayError(error)) return error;
  throw error;
}

/** A source, and the ranges [start, end) that are read of it. */
function recordingSource(bytes: Uint8Array): { source: ByteSource; reads: [start: number, end: number][] } {
  const inner = countingSource(bytes, 'a.pt');
  const reads: [number, number][] = [];
  const readInto: ByteSource['readInto'] = (target, start, options) => {
    reads.push([start, start + target.length]);
    return inner.readInto(target, start, options);
  };
  return { source: { ...inner, readInto }, reads };
}

const one: Writable = new Map([['w', tensor(storage('0', 2), [2], [1])]]);
const storages = { 0: floats(1, 2) };

describe('a file is opened as what it is, whatever its name says', () => {
  const misleads = (found: string, expected: string): object => ({ code: 'FORMAT_NAME_MISLEADS', severity: 'warning', args: { found, expected } });

  test.each([
    ['plain.pt', 'plain.pt', 'torch-zip', []],
    ['plain.pt', 'model.bin', 'torch-zip', []],
    ['plain.pt', 'model', 'torch-zip', []],
    ['plain.pt', 'model.safetensors', 'torch-zip', [misleads('torch-zip', 'safetensors')]],
    ['golden/plain.safetensors', 'model.safetensors', 'safetensors', []],
    ['golden/plain.safetensors', 'a.b/model.BIN', 'safetensors', [misleads('safetensors', 'torch-zip')]],
    ['golden/plain.safetensors', 'model.ckpt', 'safetensors', [misleads('safetensors', 'torch-zip')]],
  ])('%s as %s', async (file, name, format, findings) => {
    await using archive = await openArchive(createMemorySource(fixture(file), name));
    expect(archive.format).toBe(format);
    expect(archive.tensors.size).toBe(3);
    expect(archive.findings).toMatchObject(findings);
  });

  test('what is no weights is refused by its kind', async () => {
    const page = new TextEncoder().encode('<!DOCTYPE html><title>Sign in</title>');
    expect((await refusal(openArchive(createMemorySource(page, 'model.bin')))).code).toBe('FORMAT_HTML');
  });

  test('a safetensors file has nothing to select', async () => {
    const error = await refusal(openArchive(createMemorySource(fixture('golden/plain.safetensors'), 'a'), { select: 'x' }));
    expect(error).toMatchObject({ code: 'TORCH_SELECT_NOT_FOUND', context: { select: 'x' } });
  });

  test('an abort rethrows its reason', async () => {
    const reason = new Error('enough');
    await expect(openArchive(createMemorySource(fixture('plain.pt'), 'a'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('an opened checkpoint', () => {
  test('says what a person wants to know, and lists every member with its CRC-32', async () => {
    await using archive = await openArchive(createMemorySource(fixture('plain.pt'), 'plain.pt'));
    expect(Object.fromEntries(archive.facts)).toEqual({
      'container': 'PyTorch zip',
      'torch': '2.7 or later',
      'protocol': '2',
      'byte order': 'little',
      'root': 'plain',
      'weights': 'the whole object',
    });
    expect(archive.members.map(({ name }) => name)).toContain('plain/data.pkl');
    for (const { crc32 } of archive.members) expect(crc32).toBeTypeOf('number');
  });

  test('throws a RangeError for a name that it does not have', async () => {
    await using archive = await openArchive(createMemorySource(fixture('plain.pt'), 'plain.pt'));
    expect(() => archive.locate('nothing')).toThrow(RangeError);
  });

  test('streams any range of a tensor', async () => {
    await using archive = await openTorchZip(createMemorySource(torchZip(one, storages), 'a'));
    const chunks: Uint8Array[] = [];
    for await (const chunk of archive.stream('w', { start: 3, end: 6 })) chunks.push(chunk.slice());
    expect(new Uint8Array(Buffer.concat(chunks))).toEqual(floats(1, 2).slice(3, 6));
  });
});

describe('opening reads the directory, the headers, the pickle and small records, never a storage', () => {
  test('in a file of 8 MB that is almost all storage', async () => {
    const size = 4_000_000;
    const value = new Map(['0', '1'].map((key) => [key, tensor(storage(key, size, 'ByteStorage'), [size], [1])]));
    const { source, reads } = recordingSource(torchZip(value, { 0: new Uint8Array(size), 1: new Uint8Array(size) }));
    await using archive = await openArchive(source);
    for (const { name, start, end } of archive.members.filter((member) => member.name.includes('/data/'))) {
      const touched = reads.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, end) - Math.max(from, start)), 0);
      // The head that tells formats apart, and the windows around headers, may touch a storage's ends.
      expect(touched, name).toBeLessThan(200_000);
    }
    expect(reads.reduce((sum, [start, end]) => sum + end - start, 0)).toBeLessThan(400_000);
    expect(reads.length).toBeLessThan(30);
  });

  test('and the work grows in step with the tensors', async () => {
    const cost = async (count: number): Promise<number> => {
      const entries = Array.from({ length: count }, (_, index) => [`layer.${index}.weight`, tensor(storage(String(index), 2), [2], [1])] as const);
      const records = Object.fromEntries(entries.map((_, index) => [String(index), floats(index, 1)]));
      const source = countingSource(torchZip(new Map(entries), records), 'a.pt');
      await using archive = await openTorchZip(source);
      expect(archive.tensors.size).toBe(count);
      return source.bytesRead() / count;
    };
    const [small, large] = [await cost(500), await cost(4000)];
    expect(large).toBeLessThan(small * 1.2);
  });
});

describe('archives of another layout are refused', () => {
  const pickle = pickleOf(one);
  test.each([
    ['without a root folder', [['data.pkl', pickle]], 'TORCH_MEMBER_OUTSIDE_ROOT', { found: 'data.pkl' }],
    ['with a member outside the root', [['a/data.pkl', pickle], ['b/data/0', floats(1, 2)]], 'TORCH_MEMBER_OUTSIDE_ROOT', { found: 'b/data/0', expected: 'a/...' }],
    ['whose root is a prefix of another', [['a/data.pkl', pickle], ['ab/data/0', floats(1, 2)]], 'TORCH_MEMBER_OUTSIDE_ROOT', { found: 'ab/data/0' }],
    ['without a pickle', [['a/version', '3']], 'TORCH_PICKLE_MISSING', { expected: 'a/data.pkl' }],
    ['of TorchScript', [['a/data.pkl', pickle], ['a/constants.pkl', pickle]], 'FORMAT_UNSUPPORTED', { kind: 'torchscript' }],
  ] as const)('%s', async (_, members, code, context) => {
    expect(await refusal(openTorchZip(createMemorySource(zipOf(members), 'a.pt')))).toMatchObject({ code, context });
  });

  test('with a pickle larger than the limit, before it is read', async () => {
    const error = await refusal(openTorchZip(createMemorySource(torchZip(one, storages), 'a.pt'), { limits: { maxPickleBytes: 100 } }));
    expect(error).toMatchObject({ code: 'LIMIT_EXCEEDED', context: { limit: 'maxPickleBytes', allowed: 100 } });
  });

  test('with a pickle that is malformed, by its offset', async () => {
    const error = await refusal(openTorchZip(createMemorySource(torchZip(new PickleBuilder().proto().op('BINGET', 9).stop()), 'a.pt')));
    expect(error).toMatchObject({ code: 'PICKLE_MEMO_MISSING', context: { offset: 2 }, findings: [{ subject: { path: 'a.pt', member: 'archive/data.pkl', start: 2 } }] });
  });
});

test('a file cut at any byte is refused with a code', async () => {
  const whole = torchZip(one, storages);
  await using archive = await openArchive(createMemorySource(whole, 'a.pt'));
  expect(archive.tensors.size).toBe(1);
  for (let length = 0; length < whole.length; length += 1) {
    const error = await refusal(openArchive(createMemorySource(whole.subarray(0, length), 'a.pt')));
    expect(error.code).toMatch(/^(?:FORMAT|ZIP)_/);
  }
});

test('a pickle with any one byte changed gives an archive or an error with a code', async () => {
  const pickle = pickleOf(one);
  for (let at = 0; at < pickle.length; at += 1) {
    for (const byte of [0, 0x28, 0x2e, 0x52, 0x71, 0x94, 0xff, (pickle[at] ?? 0) ^ 1]) {
      const changed = pickle.slice();
      changed[at] = byte;
      try {
        await using archive = await openTorchZip(createMemorySource(torchZip(changed, storages), 'a.pt'));
        for (const name of archive.tensors.keys()) for await (const chunk of archive.stream(name)) expect(chunk.length).toBeGreaterThan(0);
      } catch (error) {
        expect(isAssayError(error), String(error)).toBe(true);
      }
    }
  }
});
