import { checkSafetensors, layoutSafetensors, openSafetensors, tokenizeJson } from 'safetensors-js';
import { expect, it } from 'vitest';
import { bytesOf, countingSource, entry, fileOf } from './file-bytes.ts';

function manyTensors(count: number): Uint8Array {
  const tensors = Array.from({ length: count }, (_, index) => ({ name: `layers.${index}.weight`, dtype: 'F16' as const, shape: [2, 2] }));
  const layout = layoutSafetensors(tensors);
  const file = new Uint8Array(layout.byteLength);
  file.set(layout.header);
  return file;
}

it('opens any number of tensors with two reads, of the length and of the header', async () => {
  for (const count of [0, 1, 1000, 20_000]) {
    const file = manyTensors(count);
    const source = countingSource(file);
    const archive = await openSafetensors(source);
    expect(archive.tensors.size).toBe(count);
    expect(source.reads).toEqual([8, file.length - count * 8 - 8]);
  }
});

it('reads of a tensor only its bytes', async () => {
  const source = countingSource(manyTensors(100));
  const archive = await openSafetensors(source);
  source.reads.length = 0;
  for await (const chunk of archive.stream('layers.7.weight')) expect(chunk.length).toBe(8);
  expect(source.reads).toEqual([8]);
});

/** Tokens until the end or the problem. */
function work(text: string): number {
  const json = tokenizeJson(bytesOf(text));
  while (json.next() !== 'end' && json.kind !== 'problem');
  return json.tokens;
}

it.each<[string, (size: number) => string]>([
  ['tensors', (size) => `{${Array.from({ length: size }, (_, index) => `"${index}":${entry()}`).join(',')}}`],
  ['one long name', (size) => `{"${'n'.repeat(size * 50)}":${entry()}}`],
  ['escapes', (size) => `{"${'\\u0061'.repeat(size)}":${entry()}}`],
  ['one long shape', (size) => `{"a":${entry({ shape: `[${'1,'.repeat(size)}1]` })}}`],
  ['long integers', (size) => `{"a":${entry({ shape: `[${'9'.repeat(300)}]`.repeat(1), more: `,"x":[${`${'9'.repeat(300)},`.repeat(size)}1]` })}}`],
  ['one name again and again', (size) => `{${Array.from({ length: size }, () => `"a":${entry()}`).join(',')}}`],
  ['unknown fields', (size) => `{"a":${entry({ more: Array.from({ length: size }, (_, index) => `,"x${index}":0`).join('') })}}`],
  ['unclosed text', (size) => `{"${'a'.repeat(size * 50)}`],
  ['brackets', (size) => '['.repeat(size * 50)],
])('takes tokens in proportion to the input: %s', async (_, textOf) => {
  const [small, large] = [work(textOf(500)), work(textOf(2000))];
  expect(large).toBeLessThanOrEqual(small * 4.1);
  const { findings } = await checkSafetensors(countingSource(fileOf(textOf(2000))));
  expect(findings.length).toBeLessThanOrEqual(2010);
});
