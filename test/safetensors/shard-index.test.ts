import { createMemorySource, type TensorInfo } from '@assay/core';
import { buildShardIndex, checkShardIndex, formatShardIndex, readShardIndex, shardNameProblem, type Shard } from 'safetensors-js';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bytesOf, countingSource } from './file-bytes.ts';

const first = 'model-00001-of-00002.safetensors';
const second = 'model-00002-of-00002.safetensors';
const coded = (code: string, context: object = {}): object => expect.objectContaining({ name: 'AssayError', code, context: expect.objectContaining(context) as object }) as object;

function shard(name: string, ...tensors: string[]): Shard {
  return { name, tensors: new Map<string, TensorInfo>(tensors.map((tensor) => [tensor, { name: tensor, dtype: 'F32', shape: [2], byteLength: 8 }])) };
}

const index = (weightMap: Record<string, string>, metadata = '{"total_size":16}'): Uint8Array =>
  bytesOf(`{"metadata":${metadata},"weight_map":${JSON.stringify(weightMap)}}`);

it('is written as transformers writes it, and read back', async () => {
  // Origin: make-goldens.py, Python's json.dumps(index, indent=2, sort_keys=True).
  const golden = new Uint8Array(readFileSync(new URL('golden/index.json', import.meta.url)));
  const read = await readShardIndex(createMemorySource(golden, 'model.safetensors.index.json'));
  expect(new TextDecoder().decode(formatShardIndex(read))).toBe(new TextDecoder().decode(golden));
  expect(read.totalSize).toBe(12345678901);
  expect(read.findings).toEqual([]);
});

it('is built of shards, and checks clean against them', async () => {
  const shards = [shard(first, 'a', 'b'), shard(second, 'c')];
  const built = buildShardIndex(shards, { metadata: new Map([['note', 'x']]) });
  const read = await readShardIndex(formatShardIndex(built));
  expect(read.totalSize).toBe(24);
  expect(read.metadata).toEqual(new Map<string, unknown>([['note', 'x'], ['total_size', 24]]));
  expect([...read.weightMap]).toEqual([['a', first], ['b', first], ['c', second]]);
  expect(checkShardIndex(read, shards)).toEqual({ ok: true, complete: true, findings: [] });
});

it('reads back what it writes, whatever the names', async () => {
  const name = fc.string({ unit: 'binary' }).filter((text) => !/\p{Surrogate}/u.test(text));
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(name), async (names) => {
      const built = buildShardIndex([shard('model.safetensors', ...names)]);
      const read = await readShardIndex(formatShardIndex(built));
      expect(new Map(read.weightMap)).toEqual(built.weightMap);
    }),
  );
});

describe('names that are no plain relative path (I01)', () => {
  it.each([
    ['../x.safetensors', 'step'],
    ['a/../../x.safetensors', 'step'],
    ['a//x.safetensors', 'step'],
    ['./x.safetensors', 'step'],
    ['..', 'step'],
    ['/etc/passwd', 'absolute'],
    ['\\x.safetensors', 'backslash'],
    ['..\\x.safetensors', 'backslash'],
    ['\\\\server\\share', 'backslash'],
    ['C:x.safetensors', 'drive'],
    ['C:\\x.safetensors', 'backslash'],
    ['C:/x.safetensors', 'drive'],
    ['x.safetensors:stream', 'url'],
    ['a b:stream.safetensors', 'drive'],
    ['http://example.org/x.safetensors', 'url'],
    ['file:///etc/passwd', 'url'],
    ['data:x.safetensors', 'url'],
    ['%2e%2e/x.safetensors', 'encoded'],
    ['%252e%252e%252fx.safetensors', 'encoded'],
    ['a%2f..%2fx.safetensors', 'encoded'],
    ['%5cx.safetensors', 'encoded'],
    ['x%00.safetensors', 'encoded'],
    ['x\0.safetensors', 'nul'],
    ['x\n.safetensors', 'control'],
    ['a./x.safetensors', 'trailing'],
    ['x.safetensors ', 'trailing'],
    ['', 'empty'],
    ['n'.repeat(5000), 'long'],
  ])('%j is refused', async (name, problem) => {
    expect(shardNameProblem(name)).toBe(problem);
    await expect(readShardIndex(index({ a: name }))).rejects.toEqual(coded('INDEX_SHARD_NAME_UNSAFE', { problem }));
    expect(() => buildShardIndex([shard(name, 'a')])).toThrow(coded('INDEX_SHARD_NAME_UNSAFE', { problem }));
  });

  it.each(['model.safetensors', first, 'unet/diffusion.fp16.safetensors', 'a%20b.safetensors', '..a.safetensors', 'é.safetensors'])('%j is a name', (name) => {
    expect(shardNameProblem(name)).toBeUndefined();
  });
});

it('refuses a shard of another format (I02)', async () => {
  const bytes = index({ a: 'pytorch_model.bin' });
  await expect(readShardIndex(bytes)).rejects.toEqual(coded('INDEX_SHARD_EXTENSION', { expected: '.safetensors' }));
  await expect(readShardIndex(bytes, { extension: '.bin' })).resolves.toMatchObject({ shards: ['pytorch_model.bin'] });
});

it.each<[string, readonly Shard[], readonly (readonly [string, string | undefined, string | undefined])[]]>([
  ['a tensor that no shard has', [shard(first, 'a'), shard(second)], [['INDEX_TENSOR_MISSING', second, 'b']]],
  ['a tensor that the index does not list', [shard(first, 'a', 'x'), shard(second, 'b')], [['INDEX_TENSOR_UNLISTED', first, 'x']]],
  ['a tensor in two shards', [shard(first, 'a', 'b'), shard(second, 'b')], [['INDEX_TENSOR_REPEATED', first, 'b']]],
  ['tensors in other shards', [shard(first, 'b'), shard(second, 'a')], [['INDEX_TENSOR_ELSEWHERE', second, 'a'], ['INDEX_TENSOR_ELSEWHERE', first, 'b']]],
  ['a missing shard', [shard(first, 'a')], [['INDEX_SHARD_MISSING', second, undefined]]],
  ['an extra shard', [shard(first, 'a'), shard(second, 'b'), shard('x.safetensors')], [['INDEX_SHARD_EXTRA', 'x.safetensors', undefined]]],
])('finds %s (I05, I06)', async (_, shards, expected) => {
  const read = await readShardIndex(index({ a: first, b: second }));
  const { findings, complete } = checkShardIndex(read, shards);
  const seen = findings.filter(({ code }) => code !== 'INDEX_TOTAL_SIZE').map(({ code, subject }) => [code, subject.path, subject.tensor]);
  expect(seen).toEqual(expected);
  expect(complete).toBe(shards.length > 1);
});

it('finds a total size that is wrong (I06)', async () => {
  const shards = [shard(first, 'a'), shard(second, 'b')];
  const read = await readShardIndex(index({ a: first, b: second }, '{"total_size":17}'));
  expect(checkShardIndex(read, shards).findings).toMatchObject([{ code: 'INDEX_TOTAL_SIZE', args: { found: 17, expected: 16n } }]);
});

it.each(['-1', '1e308', '1.5', '"16"', 'null'])('notes the total size %s (I06)', async (text) => {
  const { totalSize, findings } = await readShardIndex(index({ a: first, b: second }, `{"total_size":${text}}`));
  expect(totalSize).toBeUndefined();
  expect(findings).toMatchObject([{ code: 'INDEX_TOTAL_SIZE', severity: 'warning' }]);
});

it('takes a total size that is written as a float', async () => {
  expect(await readShardIndex(index({ a: first, b: second }, '{"total_size":16.0}'))).toMatchObject({ totalSize: 16, findings: [] });
});

it('notes shards that the numbering promises (I06)', async () => {
  const { findings } = await readShardIndex(index({ a: 'm-00002-of-00004.safetensors' }));
  expect(findings).toMatchObject([{ code: 'INDEX_SHARD_GAP', severity: 'warning', args: { missing: [1, 3, 4], expected: 4 } }]);
});

it.each<[string, string, string, object]>([
  ['a key twice', '{"weight_map":{},"weight_map":{}}', 'INDEX_DUPLICATE_KEY', { key: 'weight_map', offset: 17 }],
  ['a tensor twice', '{"weight_map":{"a":"x.safetensors","\\u0061":"x.safetensors"}}', 'INDEX_DUPLICATE_KEY', { key: 'a' }],
  ['a metadata key twice', '{"metadata":{"b":1,"b":2},"weight_map":{}}', 'INDEX_DUPLICATE_KEY', { key: 'b', offset: 19 }],
  ['no weight_map', '{}', 'INDEX_INVALID', { missing: 'weight_map' }],
  ['an array', '[]', 'INDEX_INVALID', { expected: 'object' }],
  ['a weight_map of numbers', '{"weight_map":{"a":1}}', 'INDEX_INVALID', { key: 'a', expected: 'string' }],
  ['a weight_map that is a list', '{"weight_map":[]}', 'INDEX_INVALID', { key: 'weight_map' }],
  ['nothing', '', 'INDEX_JSON', { found: 'the end' }],
  ['a page', '<!DOCTYPE html>', 'INDEX_JSON', { offset: 0, found: '"<"' }],
  ['a byte order mark', '\ufeff{"weight_map":{}}', 'INDEX_JSON', { offset: 0 }],
  ['text after it', '{"weight_map":{}}x', 'INDEX_JSON', { offset: 17, problem: 'trailing' }],
  ['depth', `{"x":${'['.repeat(100_000)}`, 'LIMIT_EXCEEDED', { limit: 'maxJsonDepth' }],
])('refuses %s (I07)', async (_, text, code, context) => {
  await expect(readShardIndex(bytesOf(text))).rejects.toEqual(coded(code, context));
});

it('keeps __proto__ as a name like others (I07)', async () => {
  const { weightMap } = await readShardIndex(bytesOf('{"weight_map":{"__proto__":"x.safetensors"}}'));
  expect([...weightMap]).toEqual([['__proto__', 'x.safetensors']]);
});

it('refuses too many shards and too many bytes before reading them (I07)', async () => {
  const many = Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`t${at}`, `s${at}.safetensors`]));
  await expect(readShardIndex(index(many), { limits: { maxShards: 10 } })).rejects.toEqual(coded('LIMIT_EXCEEDED', { limit: 'maxShards', found: 11 }));
  const source = countingSource(new Uint8Array(0), 250_000_001);
  await expect(readShardIndex(source)).rejects.toEqual(coded('LIMIT_EXCEEDED', { limit: 'maxIndexBytes', found: 250_000_001 }));
  expect(source.reads).toEqual([]);
});

it('gives a typed error when it is cut at any byte', async () => {
  const bytes = index({ a: first, b: second });
  for (let length = 0; length < bytes.length; length += 1) {
    await expect(readShardIndex(bytes.subarray(0, length))).rejects.toEqual(coded('INDEX_JSON'));
  }
});

it('refuses to build an index with one tensor in two shards', () => {
  expect(() => buildShardIndex([shard(first, 'a'), shard(second, 'a')])).toThrow(coded('INDEX_TENSOR_REPEATED', { tensor: 'a', shards: [first, second] }));
});

it('has more findings than a call takes arguments, and lists them', async () => {
  const count = 200_000;
  const read = await readShardIndex(index({ a: first }));
  const tensors = new Map<string, TensorInfo>(Array.from({ length: count }, (_, at) => [`t${at}`, { name: `t${at}`, dtype: 'F32', shape: [2], byteLength: 8 }]));
  expect(checkShardIndex(read, [{ name: first, tensors }]).findings.length).toBeGreaterThanOrEqual(count);
});
