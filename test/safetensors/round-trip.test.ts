import { createMemorySink, dtypeFacts, dtypes, type DType } from '@assay/core';
import { compareCodePoints, layoutSafetensors, openSafetensors, writeSafetensors, type SafetensorsLayout, type TensorToWrite } from 'safetensors-js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sourceOf } from './file-bytes.ts';

const name = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' })).filter((text) => text !== '__metadata__' && !/\p{Surrogate}/u.test(text));
const dtype = fc.constantFrom<DType>(...dtypes);
const tensor = fc
  .record({ name, dtype, shape: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 }) })
  .filter(({ dtype, shape }) => (shape.reduce((product, size) => product * size, 1) * dtypeFacts(dtype).bits) % 8 === 0);
const tensors = fc.uniqueArray(tensor, { selector: (item) => item.name, maxLength: 12 });
const metadata = fc.option(
  fc.uniqueArray(fc.tuple(name, name), { selector: ([key]) => key, maxLength: 4 }).map((pairs) => new Map(pairs)),
  { nil: undefined },
);

async function write(layout: SafetensorsLayout): Promise<Uint8Array> {
  let file = new Uint8Array(0);
  const sink = createMemorySink({ size: layout.byteLength, publish: (bytes) => (file = new Uint8Array(bytes)) });
  await writeSafetensors(sink, layout, async function* (wanted) {
    const at = layout.tensors.findIndex(({ name }) => name === wanted);
    const { start, end } = layout.tensors[at] ?? { start: 0, end: 0 };
    // In two chunks, where there is enough.
    const bytes = new Uint8Array(end - start).fill(at + 1);
    yield bytes.subarray(0, 3);
    yield bytes.subarray(3);
  });
  await sink.commit();
  return file;
}

it('opens what it writes, with the same tensors, bytes and metadata', async () => {
  await fc.assert(
    fc.asyncProperty(tensors, metadata, async (list, texts) => {
      const layout = layoutSafetensors(list as TensorToWrite[], texts === undefined ? {} : { metadata: texts });
      const file = await write(layout);
      expect(file.length).toBe(layout.byteLength);
      const archive = await openSafetensors(sourceOf(file));
      expect(archive.findings.filter(({ severity, code }) => severity === 'warning' && !code.startsWith('SAFETENSORS_NAME_'))).toEqual([]);
      expect([...archive.tensors.keys()]).toEqual(layout.tensors.map((placed) => placed.name));
      expect(archive.metadata).toEqual(texts ?? new Map());
      for (const [at, placed] of layout.tensors.entries()) {
        const { name, dtype, shape, start, end } = placed;
        expect(archive.tensors.get(name)).toEqual({ name, dtype, shape, byteLength: end - start });
        expect(archive.locate(name)).toEqual([{ kind: 'range', source: 0, start, end }]);
        let length = 0;
        for await (const chunk of archive.stream(name)) {
          length += chunk.length;
          expect(chunk.every((byte) => byte === at + 1)).toBe(true);
        }
        expect(length).toBe(end - start);
      }
    }),
    { numRuns: 300 },
  );
});

it('writes the same bytes for any order of tensors and metadata', () => {
  fc.assert(
    fc.property(tensors, metadata, (list, texts) => {
      const options = texts === undefined ? {} : { metadata: texts };
      const reversed = texts === undefined ? {} : { metadata: new Map([...texts].reverse()) };
      expect(layoutSafetensors(list.toReversed(), reversed).header).toEqual(layoutSafetensors(list, options).header);
    }),
  );
});

it('orders names as their UTF-8 bytes', () => {
  fc.assert(
    fc.property(name, name, (a, b) => {
      expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

it('streams a part of a tensor', async () => {
  const layout = layoutSafetensors([{ name: 'a', dtype: 'U8', shape: [10] }]);
  const file = new Uint8Array(layout.byteLength);
  file.set(layout.header);
  file.set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], layout.header.length);
  const archive = await openSafetensors(sourceOf(file));
  const chunks: number[] = [];
  for await (const chunk of archive.stream('a', { start: 3, end: 6 })) chunks.push(...chunk);
  expect(chunks).toEqual([3, 4, 5]);
  expect(() => archive.locate('b')).toThrow(RangeError);
});
