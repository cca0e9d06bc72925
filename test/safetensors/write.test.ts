import { createMemorySink, type DType } from '@assay/core';
import { layoutSafetensors, writeSafetensors } from 'safetensors-js';
import { expect, it } from 'vitest';

const u8 = (name: string, ...shape: (number | bigint)[]): { name: string; dtype: DType; shape: (number | bigint)[] } => ({ name, dtype: 'U8', shape });
const coded = (code: string, context: object): object => expect.objectContaining({ name: 'AssayError', code, context: expect.objectContaining(context) as object }) as object;

it('refuses a tensor named __metadata__', () => {
  expect(() => layoutSafetensors([u8('__metadata__', 1)])).toThrow(coded('SAFETENSORS_NAME_RESERVED', { tensor: '__metadata__' }));
});

it('refuses texts that UTF-8 cannot hold', () => {
  expect(() => layoutSafetensors([u8('a\ud800', 1)])).toThrow(coded('SAFETENSORS_NAME_INVALID', { tensor: 'a\ud800' }));
  expect(() => layoutSafetensors([], { metadata: new Map([['k', '\udc00']]) })).toThrow(coded('SAFETENSORS_NAME_INVALID', { key: 'k' }));
});

it('refuses two tensors of one name', () => {
  expect(() => layoutSafetensors([u8('a', 1), u8('a', 2)])).toThrow(coded('SAFETENSORS_DUPLICATE_TENSOR', { tensor: 'a' }));
});

it('refuses sizes that no file can have', () => {
  expect(() => layoutSafetensors([u8('a', 2 ** 40, 2 ** 40)])).toThrow(coded('SAFETENSORS_SHAPE_OVERFLOW', { tensor: 'a' }));
  expect(() => layoutSafetensors([u8('a', 2 ** 52), u8('b', 2 ** 52)])).toThrow(coded('SAFETENSORS_SHAPE_OVERFLOW', { tensor: 'b' }));
  expect(() => layoutSafetensors([{ name: 'a', dtype: 'F4', shape: [3] }])).toThrow(coded('SAFETENSORS_SIZE_FRACTION', { tensor: 'a' }));
});

it('refuses a header that no reader accepts, before anything is written', () => {
  const tensors = Array.from({ length: 11 }, (_, index) => u8(`${index}${'n'.repeat(9_200_000)}`, 0));
  expect(() => layoutSafetensors(tensors)).toThrow(coded('SAFETENSORS_HEADER_TOO_LARGE', { limit: 100_000_000, tensors: 11 }));
});

it('takes a caller’s mistakes as such', () => {
  expect(() => layoutSafetensors([{ name: 'a', dtype: 'F128' as DType, shape: [] }])).toThrow(TypeError);
  for (const size of [-1, 1.5, Number.NaN, 2 ** 53, -1n]) expect(() => layoutSafetensors([u8('a', size)])).toThrow(TypeError);
});

it('writes dimensions above 2^53-1 in full', () => {
  const { header } = layoutSafetensors([u8('a', 0, 18446744073709551615n)]);
  expect(new TextDecoder().decode(header.subarray(8))).toContain('"shape":[0,18446744073709551615]');
});

it.each([
  ['fewer', 3],
  ['more', 5],
])('refuses %s bytes than a tensor’s range', async (_, length) => {
  const layout = layoutSafetensors([u8('a', 4)]);
  const sink = createMemorySink({ size: layout.byteLength, publish: () => undefined });
  const writing = writeSafetensors(sink, layout, async function* () {
    yield new Uint8Array(length);
  });
  await expect(writing).rejects.toEqual(coded('SAFETENSORS_DATA_LENGTH', { tensor: 'a', found: length, expected: 4 }));
});

it('counts the bytes that it writes, and stops with the reason of the signal', async () => {
  const layout = layoutSafetensors([u8('a', 4), u8('b', 2)]);
  const sink = createMemorySink({ size: layout.byteLength, publish: () => undefined });
  const data = async function* (name: string): AsyncIterable<Uint8Array> {
    yield new Uint8Array(name === 'a' ? 4 : 2);
  };
  let written = 0;
  await writeSafetensors(sink, layout, data, { onBytes: (count) => (written += count) });
  expect(written).toBe(layout.byteLength);
  const reason = new Error('stop');
  await expect(writeSafetensors(sink, layout, data, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});
