// The fixtures are made by test/fixtures/make-fixtures.py with PyTorch 2.13 and 1.13, their goldens by safetensors 0.8.0.
import { readFileSync } from 'node:fs';
import { createMemorySource, isAssayError, type TensorArchive } from '@assay/core';
import { openArchive } from '@assay/formats';
import { openSafetensors } from 'safetensors-js';
import { describe, expect, test } from 'vitest';

const folder = new URL('../fixtures/', import.meta.url);

interface Fixture {
  readonly file: string;
  readonly expect: 'converts' | 'refused';
  readonly golden?: string;
  readonly aliases?: Readonly<Record<string, string>>;
}

const fixtures = JSON.parse(readFileSync(new URL('fixtures.json', folder), 'utf8')) as readonly Fixture[];

function openFixture(file: string): Promise<TensorArchive> {
  return openArchive(createMemorySource(readFileSync(new URL(file, folder)), file));
}

async function bytesOf(archive: TensorArchive, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive.stream(name)) chunks.push(chunk.slice());
  return Buffer.concat(chunks);
}

describe('a checkpoint that PyTorch wrote gives the tensors that PyTorch and safetensors make of it', () => {
  test.each(fixtures.filter((fixture) => fixture.expect === 'converts'))('$file', async ({ file, golden = '', aliases }) => {
    await using archive = await openFixture(file);
    await using expected = await openSafetensors(createMemorySource(readFileSync(new URL(golden, folder)), golden));
    const names = new Map([...expected.tensors.keys()].map((name) => [name, name]));
    for (const [alias, kept] of Object.entries(aliases ?? {})) names.set(alias, kept);
    expect([...archive.tensors.keys()].toSorted()).toEqual([...names.keys()].toSorted());
    for (const [name, kept] of names) {
      const [found, wanted] = [archive.tensors.get(name), expected.tensors.get(kept)];
      expect({ name, dtype: found?.dtype, shape: found?.shape }).toEqual({ name, dtype: wanted?.dtype, shape: wanted?.shape });
      expect(await bytesOf(archive, name), name).toEqual(await bytesOf(expected, kept));
    }
    expect(archive.leftOut.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});

/** What opening each fixture that is not converted gives: a code, or the tensors that cannot be had beside others. */
const refusals: ReadonlyMap<string, string | readonly (readonly [tensor: string, code: string])[]> = new Map<string, string | readonly (readonly [string, string])[]>([
  ['legacy.pt', 'FORMAT_UNSUPPORTED'],
  ['lpips-alex.pth', 'FORMAT_UNSUPPORTED'],
  ['lpips-squeeze.pth', 'FORMAT_UNSUPPORTED'],
  ['lpips-vgg.pth', 'FORMAT_UNSUPPORTED'],
  ['bare-pickle.pt', 'FORMAT_UNSUPPORTED'],
  ['torchscript.pt', 'FORMAT_UNSUPPORTED'],
  ['exported.pt2', 'FORMAT_UNSUPPORTED'],
  ['sparse-coo.pt', [['weight', 'TORCH_TENSOR_SPARSE']]],
  ['sparse-csr.pt', [['weight', 'TORCH_TENSOR_SPARSE']]],
  ['sparse-beside-dense.pt', [['coo', 'TORCH_TENSOR_SPARSE'], ['csc', 'TORCH_TENSOR_SPARSE'], ['bsr', 'TORCH_TENSOR_SPARSE']]],
  ['quantized-per-tensor.pt', [['q', 'TORCH_TENSOR_QUANTIZED'], ['u', 'TORCH_TENSOR_QUANTIZED']]],
  ['quantized-per-channel.pt', [['q', 'TORCH_TENSOR_QUANTIZED']]],
  ['quantized-beside-dense.pt', [['q', 'TORCH_TENSOR_QUANTIZED']]],
  ['meta.pt', [['ghost', 'TORCH_TENSOR_META']]],
  ['complex128.pt', [['z', 'TORCH_DTYPE_UNSUPPORTED']]],
  ['complex32.pt', [['z', 'TORCH_DTYPE_UNSUPPORTED']]],
  ['bits.pt', [['bits', 'TORCH_DTYPE_UNSUPPORTED']]],
  ['wrapper-subclass.pt', [['two', 'TORCH_TENSOR_WRAPPER']]],
  ['nested-tensor.pt', [['ragged', 'TORCH_TENSOR_NESTED']]],
  ['numpy-backed.pt', [['xla', 'TORCH_TENSOR_NUMPY'], ['xla_bf16', 'TORCH_TENSOR_NUMPY']]],
  ['numpy-arrays.pt', 'TORCH_NO_TENSORS'],
  ['no-tensors.pt', 'TORCH_NO_TENSORS'],
  ['number.pt', 'TORCH_NO_TENSORS'],
  ['whole-module.pt', 'TORCH_OBJECT_NOT_WEIGHTS'],
  ['protocol0.pt', 'PICKLE_PERSISTENT_ID_TEXT'],
  // Sound as far as opening looks: the payloads and their CRC-32 are the conversion's matter.
  ['skip-data.pt', []],
  ['crc-one-wrong.pt', []],
  ['colliding-names.pt', 'TORCH_NAME_DUPLICATE'],
  ['colliding-integer-key.pt', 'TORCH_NAME_DUPLICATE'],
  ['surrogate-name.pt', [['bad\ud800name', 'TORCH_NAME_NOT_UNICODE']]],
  ['metadata-name.pt', [['__metadata__', 'TORCH_NAME_RESERVED']]],
  ['expanded-bomb.pt', 'LIMIT_EXCEEDED'],
  ['truncated.pt', 'ZIP_DIRECTORY_MISSING'],
  ['short-storage.pt', 'TORCH_STORAGE_SIZE_MISMATCH'],
  ['missing-storage.pt', 'TORCH_STORAGE_MISSING'],
  ['missing-pickle.pt', 'TORCH_PICKLE_MISSING'],
  ['bad-byteorder.pt', 'TORCH_BYTE_ORDER_UNKNOWN'],
  ['bzip2-entries.pt', 'ZIP_ENTRY_METHOD'],
]);

describe('a checkpoint that cannot be converted is refused by what it is', () => {
  test.each(fixtures.filter((fixture) => fixture.expect === 'refused'))('$file', async ({ file }) => {
    let found: unknown;
    try {
      await using archive = await openFixture(file);
      found = archive.leftOut.filter(({ severity }) => severity === 'error').map(({ subject, code }) => [subject.tensor, code]);
    } catch (error) {
      if (!isAssayError(error)) throw error;
      expect(error.hint).toBeTypeOf('string');
      found = error.code;
    }
    expect(found).toEqual(refusals.get(file));
  });
});

test('a state dict beside strangers lists them, and builds none', async () => {
  await using archive = await openFixture('strangers.pt');
  const classes = archive.findings.filter(({ code }) => code === 'TORCH_CLASS_NOT_BUILT').map(({ args }) => args['class']);
  expect(classes).toEqual(expect.arrayContaining(['argparse.Namespace', '__main__.Config', 'pathlib.PurePosixPath', 'numpy.dtype', 'functools.partial']));
  expect(archive.leftOut.map(({ args }) => args['path'])).toContain('config');
});

test('a pickle with bytes after its end is opened with a warning', async () => {
  await using archive = await openFixture('padded-pickle.pt');
  expect(archive.findings).toMatchObject([{ code: 'PICKLE_TRAILING_BYTES', severity: 'warning' }]);
});
