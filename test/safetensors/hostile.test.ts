import { isAssayError, type AssayError, type Code, type Facts } from '@assay/core';
import { checkSafetensors, openSafetensors, type SafetensorsOptions } from 'safetensors-js';
import { describe, expect, it } from 'vitest';
import { bytesOf, countingSource, entry, fileOf, one, padded, sourceOf } from './file-bytes.ts';

// Rows of the conformance list: an input, our strict verdict with its code and facts, and whether safetensors 0.8.0 opens it.
interface Row {
  readonly title: string;
  readonly file: Uint8Array;
  /** The error of strict rules; absent where they accept. */
  readonly code?: Code;
  readonly context?: Facts;
  /** Codes of what is not an error, in file order. */
  readonly notes?: readonly Code[];
  readonly reference: 'accepts' | 'rejects';
  readonly options?: SafetensorsOptions;
}

async function refusalOf(row: Row, rules: 'strict' | 'reference'): Promise<AssayError | undefined> {
  try {
    await openSafetensors(sourceOf(row.file), { ...row.options, rules });
    return undefined;
  } catch (error) {
    if (isAssayError(error)) return error;
    throw error;
  }
}

function rows(id: string, list: readonly Row[]): void {
  describe(id, () => {
    it.each(list)('$title', async (row) => {
      const strict = await refusalOf(row, 'strict');
      expect(strict?.code).toBe(row.code);
      if (row.context !== undefined) expect(strict?.context).toMatchObject(row.context);
      const reference = await refusalOf(row, 'reference');
      expect(reference === undefined ? 'accepts' : 'rejects').toBe(row.reference);
      const check = await checkSafetensors(sourceOf(row.file), row.options);
      expect(check.ok).toBe(row.code === undefined);
      if (strict !== undefined) expect(check.findings).toEqual(strict.findings);
      if (row.notes !== undefined) expect(check.findings.filter((f) => f.severity !== 'error').map((f) => f.code)).toEqual(row.notes);
      const starts = check.findings.map(({ subject }) => subject.start ?? 0);
      expect(starts).toEqual(starts.toSorted((a, b) => a - b));
      for (const finding of check.findings) {
        expect(finding.subject.path).toBe('x.safetensors');
        expect(finding.args).toMatchObject({ specification: expect.stringMatching(/^(accepts|rejects)$/), reference: expect.stringMatching(/^(accepts|rejects)$/) });
      }
    });
  });
}

const clean = (title: string, file: Uint8Array): Row => ({ title, file, notes: [], reference: 'accepts' });
const warned = (title: string, file: Uint8Array, ...notes: Code[]): Row => ({ title, file, notes, reference: 'accepts' });
const refused = (title: string, file: Uint8Array, code: Code, context: Facts = {}, reference: 'accepts' | 'rejects' = 'rejects'): Row => ({
  title,
  file,
  code,
  context,
  reference,
});
const two = (a: string, b: string): string => padded(`{"a":${a},"b":${b}}`);
const stated = (declared: bigint): Uint8Array => fileOf('{}', 0, declared);

rows('S01 the length of the header', [
  ...[0, 1, 7].map((length) => refused(`${length} bytes`, new Uint8Array(length), 'SAFETENSORS_TOO_SHORT', { offset: 0, found: length, expected: 8 })),
  refused('0', stated(0n), 'SAFETENSORS_HEADER_EMPTY', { offset: 0, declared: 0n }),
  refused('1', fileOf('{'), 'SAFETENSORS_HEADER_JSON', { offset: 9, found: 'the end' }),
  refused('more than the file', stated(3n), 'SAFETENSORS_HEADER_PAST_END', { offset: 0, declared: 3n, found: 10, expected: 11 }),
  refused('100,000,000 in a small file', stated(100_000_000n), 'SAFETENSORS_HEADER_PAST_END', { declared: 100_000_000n, expected: 100_000_008 }),
  ...[100_000_001n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n].map((declared) =>
    refused(String(declared), stated(declared), 'SAFETENSORS_HEADER_TOO_LARGE', { offset: 0, declared, limit: 100_000_000 }),
  ),
]);

rows('S02 an empty header', [
  clean('{} and nothing else', fileOf('{}')),
  refused('{} and a byte', fileOf('{}', 1), 'SAFETENSORS_DATA_TRAILING', { offset: 10, found: 1, expected: 0, bytes: 1 }),
]);

rows('S03 padding', [
  warned('a leading space', fileOf(' {}'), 'SAFETENSORS_HEADER_PADDING'),
  warned('a leading line end', fileOf('\n{}'), 'SAFETENSORS_HEADER_PADDING'),
  clean('trailing spaces', fileOf('{}      ')),
  warned('a trailing tab and line ends', fileOf('{}\t\n\r'), 'SAFETENSORS_HEADER_PADDING'),
  refused('trailing NUL', fileOf('{}\0\0'), 'SAFETENSORS_HEADER_JSON', { offset: 10, problem: 'trailing', found: 'the byte 0x00' }),
]);

const named = (...name: number[]): Uint8Array => new Uint8Array([...bytesOf('{"'), ...name, ...bytesOf(`":${entry()}}`)]);
rows('S04 text', [
  refused('a byte order mark', fileOf('\ufeff{}'), 'SAFETENSORS_HEADER_JSON', { offset: 8, found: 'a byte order mark' }),
  refused('UTF-16', fileOf(new Uint8Array([0x7b, 0, 0x7d, 0])), 'SAFETENSORS_HEADER_JSON', { offset: 9, found: 'the byte 0x00' }),
  refused('UTF-16 with its mark', fileOf(new Uint8Array([0xff, 0xfe, 0x7b, 0])), 'SAFETENSORS_HEADER_UTF8', { offset: 8 }),
  refused('an invalid byte', fileOf(named(0xff), 1), 'SAFETENSORS_HEADER_UTF8', { offset: 10, found: 'the byte 0xff' }),
  refused('an overlong form', fileOf(named(0x61, 0xc0, 0xaf), 1), 'SAFETENSORS_HEADER_UTF8', { offset: 11, found: 'the byte 0xc0' }),
  refused('an overlong form of 3 bytes', fileOf(named(0xe0, 0x80, 0xaf), 1), 'SAFETENSORS_HEADER_UTF8', { offset: 10 }),
  refused('a truncated character', fileOf(named(0xe2, 0x82), 1), 'SAFETENSORS_HEADER_UTF8', { offset: 10 }),
  refused('a surrogate in UTF-8', fileOf(named(0xed, 0xa0, 0x80), 1), 'SAFETENSORS_HEADER_UTF8', { offset: 10 }),
  refused('a character above U+10FFFF', fileOf(named(0xf4, 0x90, 0x80, 0x80), 1), 'SAFETENSORS_HEADER_UTF8', { offset: 10 }),
  refused('an escaped lone surrogate', fileOf(`{"\\ud800":${entry()}}`, 1), 'SAFETENSORS_HEADER_JSON', { offset: 10, problem: 'lone-surrogate' }),
]);

rows('S05 two tensors of one name', [
  refused('one range', fileOf(padded(`{"a":${entry()},"a":${entry()}}`), 1), 'SAFETENSORS_DUPLICATE_TENSOR', { tensor: 'a', offset: 61, first: 9 }, 'accepts'),
  refused('another range', fileOf(padded(`{"a":${entry()},"a":${entry({ offsets: '[1,2]' })}}`), 2), 'SAFETENSORS_DUPLICATE_TENSOR', { tensor: 'a' }),
  refused(
    'an empty and a real one',
    fileOf(padded(`{"a":${entry({ shape: '[0]', offsets: '[0,0]' })},"a":${entry()}}`), 1),
    'SAFETENSORS_DUPLICATE_TENSOR',
    { tensor: 'a' },
    'accepts',
  ),
  refused('by an escape', fileOf(padded(`{"t":${entry()},"\\u0074":${entry()}}`), 1), 'SAFETENSORS_DUPLICATE_TENSOR', { tensor: 't', offset: 61 }, 'accepts'),
]);

rows('S06 other keys that are there twice', [
  refused('__metadata__', fileOf('{"__metadata__":{},"__metadata__":{}}'), 'SAFETENSORS_DUPLICATE_METADATA', { offset: 27, key: '__metadata__' }),
  refused('__metadata__ by an escape', fileOf('{"__metadata__":{},"__metad\\u0061ta__":{}}'), 'SAFETENSORS_DUPLICATE_METADATA', { offset: 27 }),
  refused('a key of the metadata', fileOf('{"__metadata__":{"k":"1","k":"2"}}'), 'SAFETENSORS_DUPLICATE_METADATA', { offset: 33, key: 'k' }, 'accepts'),
  refused('dtype', fileOf(one({ more: ',"dtype":"U8"' }), 1), 'SAFETENSORS_DUPLICATE_FIELD', { tensor: 'a', field: 'dtype' }),
  refused('shape by an escape', fileOf(one({ more: ',"\\u0073hape":[1]' }), 1), 'SAFETENSORS_DUPLICATE_FIELD', { field: 'shape' }),
  refused('an unknown field', fileOf(one({ more: ',"x":1,"x":2' }), 1), 'SAFETENSORS_DUPLICATE_FIELD', { field: 'x' }, 'accepts'),
]);

const largeMetadata = fileOf(`{"__metadata__":{"k":"${'v'.repeat(10_000_000)}"}}`);
rows('S07 metadata', [
  ...['5', '"a"', '[]', '[["a","b"]]', 'true'].map((value) =>
    refused(`is ${value}`, fileOf(`{"__metadata__":${value}}`), 'SAFETENSORS_METADATA_INVALID', { offset: 24, expected: 'object' }),
  ),
  ...['1', 'null', '{}', '["b"]'].map((value) =>
    refused(`has the value ${value}`, fileOf(`{"__metadata__":{"k":${value}}}`), 'SAFETENSORS_METADATA_INVALID', { offset: 29, key: 'k', expected: 'string' }),
  ),
  warned('is null', fileOf('{"__metadata__":null}'), 'SAFETENSORS_METADATA_NULL'),
  refused('is a tensor', fileOf(`{"__metadata__":${entry()}}`, 1), 'SAFETENSORS_METADATA_INVALID', { key: 'shape' }),
  refused('has 10 MB', largeMetadata, 'LIMIT_EXCEEDED', { limit: 'maxMetadataBytes', found: 10_000_008, allowed: 10_000_000 }, 'accepts'),
]);

rows('S08 entries', [
  warned('an unknown field', fileOf(one({ more: ',"x":[{"y":null},1e5]' }), 1), 'SAFETENSORS_FIELD_UNKNOWN'),
  refused('a missing field', fileOf('{"a":{"dtype":"U8","shape":[1]}}', 1), 'SAFETENSORS_FIELD_MISSING', { offset: 13, tensor: 'a', missing: ['data_offsets'] }),
  refused('no fields', fileOf('{"a":{}}'), 'SAFETENSORS_FIELD_MISSING', { missing: ['dtype', 'shape', 'data_offsets'] }),
  ...['null', '5', '"U8"', 'true'].map((value) => refused(value, fileOf(`{"a":${value}}`), 'SAFETENSORS_ENTRY_INVALID', { offset: 13, tensor: 'a', expected: 'object' })),
  refused('a list, as serde reads it', fileOf(padded('{"a":["U8",[1],[0,1]]}'), 1), 'SAFETENSORS_ENTRY_INVALID', { offset: 13, found: 'array', items: 3 }, 'accepts'),
  refused('a list of 4', fileOf(padded('{"a":["U8",[1],[0,1],0]}'), 1), 'SAFETENSORS_ENTRY_INVALID', { items: 4 }),
]);

const badOffset = (offsets: string, context: Facts): Row => refused(offsets, fileOf(one({ offsets }), 1), 'SAFETENSORS_OFFSETS_INVALID', { tensor: 'a', ...context });
rows('S09 data_offsets', [
  badOffset('[-1,1]', { offset: 55, found: '-1' }),
  badOffset('[1,0]', { offset: 54, problem: 'backwards', found: 0, expected: 1 }),
  badOffset('[0,16.0]', { found: '16.0' }),
  badOffset('[0,1.6e1]', { found: '1.6e1' }),
  badOffset('[-0,1]', { found: '-0' }),
  badOffset('[0,"1"]', { found: 'string' }),
  badOffset('[0,null]', { found: 'null' }),
  badOffset('[0]', { problem: 'not two', found: 1, expected: 2 }),
  badOffset('[0,1,2]', { problem: 'not two', found: 3 }),
  badOffset('[]', { problem: 'not two', found: 0 }),
  badOffset('[0,18446744073709551616]', { found: '18446744073709551616' }),
  badOffset('{}', { problem: 'not a list', found: 'object' }),
  badOffset('1', { problem: 'not a list', found: 'number' }),
  refused('a leading zero', fileOf(one({ offsets: '[0,01]' }), 1), 'SAFETENSORS_HEADER_JSON', { problem: 'number' }),
]);

const [u8x2, u8x2b] = [entry({ shape: '[2]', offsets: '[0,2]' }), entry({ shape: '[2]', offsets: '[1,3]' })];
rows('S10 coverage of the data', [
  refused('full overlap', fileOf(two(entry(), entry()), 1), 'SAFETENSORS_DATA_OVERLAP', { tensor: 'b', other: 'a', offset: 120, found: 0, expected: 1 }),
  refused('partial overlap', fileOf(two(u8x2, u8x2b), 3), 'SAFETENSORS_DATA_OVERLAP', { tensor: 'b', other: 'a', offset: 121, found: 1, expected: 2 }),
  refused('an empty tensor inside another', fileOf(two(u8x2, entry({ shape: '[0]', offsets: '[1,1]' })), 2), 'SAFETENSORS_DATA_OVERLAP', { tensor: 'b' }),
  refused('a hole', fileOf(two(entry(), entry({ offsets: '[2,3]' })), 3), 'SAFETENSORS_DATA_HOLE', { tensor: 'b', offset: 121, found: 2, expected: 1 }),
  refused('a first offset that is not 0', fileOf(one({ offsets: '[1,2]' }), 2), 'SAFETENSORS_DATA_HOLE', { tensor: 'a', offset: 64, found: 1, expected: 0 }),
  refused('trailing data', fileOf(one(), 3), 'SAFETENSORS_DATA_TRAILING', { offset: 65, found: 3, expected: 1, bytes: 2 }),
  refused('short data', fileOf(two(entry(), entry({ shape: '[9]', offsets: '[1,10]' })), 4), 'SAFETENSORS_DATA_SHORT', {
    tensor: 'b',
    offset: 124,
    found: 4,
    expected: 10,
    missing: 6,
    whole: 1,
    cut: 1,
  }),
  clean('empty tensors between and after others', fileOf(padded(`{"c":${entry({ shape: '[0]', offsets: '[1,1]' })},"a":${entry()},"b":${entry({ shape: '[3,0]', offsets: '[0,0]' })}}`), 1)),
]);

const shaped = (title: string, dtype: string, shape: string, offsets: string, length: number, code: Code, context: Facts = {}): Row =>
  refused(title, fileOf(one({ dtype: `"${dtype}"`, shape, offsets }), length), code, { tensor: 'a', ...context });
rows('S11 sizes beyond 64 bits', [
  shaped('elements', 'I32', '[2,18446744073709551614]', '[0,16]', 16, 'SAFETENSORS_SHAPE_OVERFLOW', { dtype: 'I32', shape: [2, 18446744073709551614n] }),
  shaped('bytes', 'I32', '[2,9223372036854775807]', '[0,16]', 16, 'SAFETENSORS_SHAPE_OVERFLOW'),
  shaped('a product that wraps to 4', 'U8', '[4194305,4194305,211106198978564]', '[0,4]', 4, 'SAFETENSORS_SHAPE_OVERFLOW'),
  shaped('a product that is 0 only in the end', 'F32', '[18446744073709551615,18446744073709551615,0]', '[0,0]', 0, 'SAFETENSORS_SHAPE_OVERFLOW'),
  clean('0 before 2^64-1', fileOf(one({ shape: '[0,18446744073709551615]', offsets: '[0,0]' }))),
]);

rows('S12 dimensions around 2^53', [
  clean('2^53+1 beside 0', fileOf(one({ shape: '[9007199254740993,0]', offsets: '[0,0]' }))),
  shaped('2^53+1 against 2^53', 'U8', '[9007199254740993]', '[0,9007199254740992]', 1, 'SAFETENSORS_SIZE_MISMATCH', { found: 9007199254740992n, expected: 9007199254740993n }),
  shaped('2^53+1 in a small file', 'U8', '[9007199254740993]', '[0,9007199254740993]', 1, 'SAFETENSORS_DATA_SHORT', { expected: 9007199254740993n, missing: 9007199254740992n }),
]);

const shapeRow = (shape: string, context: Facts): Row => refused(shape, fileOf(one({ shape }), 1), 'SAFETENSORS_SHAPE_INVALID', { tensor: 'a', ...context });
rows('S13 shapes', [
  shapeRow('[-1]', { offset: 36, axis: 0, found: '-1' }),
  shapeRow('[1,null]', { axis: 1, found: 'null' }),
  shapeRow('[[1]]', { axis: 0, found: 'array' }),
  shapeRow('[1.0]', { found: '1.0' }),
  shapeRow('[18446744073709551616]', { found: '18446744073709551616' }),
  shapeRow('1', { problem: 'not a list', found: 'number' }),
  shapeRow('null', { problem: 'not a list', found: 'null' }),
  clean('rank 0', fileOf(one({ shape: '[]' }), 1)),
  warned('rank 1000', fileOf(one({ shape: `[${Array(1000).fill(1).join(',')}]` }), 1), 'SAFETENSORS_RANK_HIGH'),
]);

rows('S14 dtypes', [
  shaped('unknown', 'U7', '[1]', '[0,1]', 1, 'SAFETENSORS_DTYPE_UNKNOWN', { offset: 22, found: 'U7' }),
  shaped('lower case', 'u8', '[1]', '[0,1]', 1, 'SAFETENSORS_DTYPE_UNKNOWN', { found: 'u8' }),
  shaped('F4, odd', 'F4', '[3]', '[0,1]', 1, 'SAFETENSORS_SIZE_FRACTION', { dtype: 'F4', shape: [3] }),
  clean('F4, even', fileOf(one({ dtype: '"F4"', shape: '[2]' }), 1)),
  clean('four F6_E2M3', fileOf(one({ dtype: '"F6_E2M3"', shape: '[4]', offsets: '[0,3]' }), 3)),
  ...['null', '4', '["U8"]', '{}', '{"U8":[]}', '{"U8":null,"I8":null}'].map((dtype) =>
    refused(dtype, fileOf(one({ dtype }), 1), 'SAFETENSORS_DTYPE_INVALID', { offset: 22, expected: 'string' }),
  ),
  refused('a variant, as serde reads it', fileOf(one({ dtype: '{"U8":null}' }), 1), 'SAFETENSORS_DTYPE_INVALID', { offset: 22 }, 'accepts'),
]);

rows('S15 sizes that are not their ranges', [
  shaped('smaller', 'F32', '[2,3]', '[0,20]', 20, 'SAFETENSORS_SIZE_MISMATCH', { offset: 57, found: 20, expected: 24, dtype: 'F32', shape: [2, 3] }),
  shaped('larger', 'F32', '[1]', '[0,5]', 5, 'SAFETENSORS_SIZE_MISMATCH', { found: 5, expected: 4 }),
]);

rows('S17 alignment', [
  warned('of the header', fileOf(`${one()} `, 1), 'SAFETENSORS_UNALIGNED'),
  warned('of a tensor', fileOf(two(entry(), entry({ dtype: '"F32"', offsets: '[1,5]' })), 5), 'SAFETENSORS_UNALIGNED'),
]);

const nameRow = (title: string, json: string): Row => warned(title, fileOf(padded(`{"${json}":${entry()}}`), 1), 'SAFETENSORS_NAME_ODD');
rows('S18 names', [
  nameRow('empty', ''),
  nameRow('NUL', 'a\\u0000b'),
  nameRow('a line end', 'a\\nb'),
  nameRow('a terminal escape', '\\u001b[31m'),
  nameRow('a bidirectional mark', 'a\u202eb'),
  nameRow('a step outside', '../x'),
  nameRow('an absolute path', '/etc/passwd'),
  nameRow('a drive', 'C:\\\\x'),
  nameRow('a byte order mark', '\ufeffa'),
  nameRow('1 MB', 'n'.repeat(1_000_000)),
  clean('__proto__', fileOf(padded(`{"__proto__":${entry()}}`), 1)),
]);

rows('S19 what is not JSON', [
  ...['{}// c', '{}/**/', '{}{}', '{}}', '{},'].map((text) => refused(text, fileOf(text), 'SAFETENSORS_HEADER_JSON', { offset: 10, problem: 'trailing' })),
  ...['// c', 'NaN', "{'a':1}", '{a:1}', '{"a"}', '{"a":}', '{,}', 'tru', '{"a":{]', '{"a":[}', '{"a"', '{"a":{"dtype":"U8"'].map((text) =>
    refused(text, fileOf(text), 'SAFETENSORS_HEADER_JSON', { problem: 'syntax' }),
  ),
  refused('a trailing comma', fileOf(`{"a":${entry()},}`, 1), 'SAFETENSORS_HEADER_JSON', { offset: 61, found: '"}"', expected: 'a quoted key' }),
  refused('a control character', fileOf(`{"a\n":${entry()}}`, 1), 'SAFETENSORS_HEADER_JSON', { offset: 11, problem: 'control-character' }),
  refused('an array', fileOf('[]'), 'SAFETENSORS_HEADER_NOT_OBJECT', { offset: 8, found: 'array' }),
  refused('null', fileOf('null'), 'SAFETENSORS_HEADER_NOT_OBJECT', { offset: 8, found: 'null' }),
  refused('127 nested brackets', fileOf(one({ more: `,"x":${'['.repeat(126)}${']'.repeat(126)}` }), 1), 'LIMIT_EXCEEDED', { limit: 'maxJsonDepth' }),
  warned('126 nested brackets', fileOf(one({ more: `,"x":${'['.repeat(125)}${']'.repeat(125)}` }), 1), 'SAFETENSORS_FIELD_UNKNOWN'),
  refused('100,000 nested braces', fileOf('{"a":'.repeat(100_000)), 'LIMIT_EXCEEDED', { offset: 8 + 127 * 5, limit: 'maxJsonDepth' }),
  refused('a number beyond doubles', fileOf(one({ more: ',"x":1e999' }), 1), 'SAFETENSORS_HEADER_JSON', { problem: 'number-range' }),
]);

rows('S22 metadata that must not be rendered', [
  ...['<script>alert(1)</script>', 'https://example.org', '\\u001b[2J', '\u202e'].map((text) =>
    warned(text, fileOf(`{"__metadata__":{"k":"${text}"}}`), 'SAFETENSORS_METADATA_CONTENT'),
  ),
  clean('plain text', fileOf('{"__metadata__":{"format":"pt","note":"a\\nb"}}')),
]);

it('refuses a header length that the file does not hold without reading or allocating it (S01)', async () => {
  for (const declared of [100_000_000n, 2n ** 64n - 1n]) {
    const source = countingSource(stated(declared));
    await expect(openSafetensors(source)).rejects.toMatchObject({ name: 'AssayError' });
    expect(source.reads).toEqual([8]);
  }
});

it('keeps dimensions above 2^53-1 exact (S12)', async () => {
  const { tensors } = await openSafetensors(sourceOf(fileOf(one({ shape: '[9007199254740993,0,9007199254740991]', offsets: '[0,0]' }))));
  expect(tensors.get('a')?.shape).toEqual([9007199254740993n, 0, 9007199254740991]);
});

it('warns of names that differ in normalisation only (S18)', async () => {
  const names = Array.from({ length: 20 }, (_, index) => [`\u00e9${index}`, `e\u0301${index}`]).flat();
  const entries = names.map((name, index) => `"${name}":${entry({ offsets: `[${index},${index + 1}]` })}`);
  const { findings, tensors } = await openSafetensors(sourceOf(fileOf(padded(`{${entries.join(',')}}`), names.length)));
  expect(findings).toHaveLength(20);
  expect(findings[0]).toMatchObject({ code: 'SAFETENSORS_NAME_CLASH', subject: { tensor: 'e\u03010' }, args: { other: '\u00e90' } });
  expect(tensors.size).toBe(40);
});

it('reports a source that changes while its header is read (S21)', async () => {
  const source = countingSource(fileOf(one(), 1));
  let asked = 0;
  const changing = { ...source, identity: async () => `identity ${(asked += 1)}` };
  await expect(openSafetensors(changing)).rejects.toMatchObject({ code: 'SOURCE_CHANGED' });
});

it('reports a source that shrinks while it is read (S21)', async () => {
  const file = fileOf(one(), 1);
  const source = countingSource(file.subarray(0, 20), file.length);
  await expect(openSafetensors(source)).rejects.toMatchObject({ code: 'SOURCE_SHORT_READ' });
  await expect(checkSafetensors(source)).rejects.toMatchObject({ code: 'SOURCE_SHORT_READ' });
});

it('collects every problem, in file order', async () => {
  const header = padded(
    `{"":${entry()},"b":{"dtype":"u8","shape":[-1],"data_offsets":[1,2]},"c":${entry({ shape: '[3]', offsets: '[1,3]' })},"d":${entry({ offsets: '[5,6]' })}}`,
  );
  const check = await checkSafetensors(sourceOf(fileOf(header, 9)));
  expect(check).toMatchObject({ ok: false, complete: true, headerByteLength: header.length });
  expect(check.findings.map(({ code }) => code)).toEqual([
    'SAFETENSORS_NAME_ODD',
    'SAFETENSORS_DTYPE_UNKNOWN',
    'SAFETENSORS_SHAPE_INVALID',
    'SAFETENSORS_SIZE_MISMATCH',
    'SAFETENSORS_DATA_OVERLAP',
    'SAFETENSORS_DATA_HOLE',
    'SAFETENSORS_DATA_TRAILING',
  ]);
  expect([...check.tensors.keys()]).toEqual(['', 'd']);
});

it('lists a thousand findings of a kind and counts the others', async () => {
  const header = `{${Array.from({ length: 1500 }, (_, index) => `"${index}":0`).join(',')}}`;
  const { findings } = await checkSafetensors(sourceOf(fileOf(header)));
  expect(findings).toHaveLength(1001);
  expect(findings.at(-1)).toMatchObject({ code: 'SAFETENSORS_FINDINGS_CUT', severity: 'error', args: { code: 'SAFETENSORS_ENTRY_INVALID', omitted: 500 } });
});

it('holds the header to the limit that the caller sets', async () => {
  const file = fileOf(one(), 1);
  await expect(openSafetensors(sourceOf(file), { limits: { maxHeaderBytes: 55 }, rules: 'reference' })).rejects.toMatchObject({
    code: 'SAFETENSORS_HEADER_TOO_LARGE',
    context: { declared: 56n, limit: 55 },
  });
  await expect(openSafetensors(sourceOf(file), { limits: { maxHeaderBytes: 56 } })).resolves.toBeDefined();
});
