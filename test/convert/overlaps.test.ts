/** Views that share bytes without being the same are written whole, with a warning; disjoint slices are independent. */
import { planConversion } from '@assay/convert';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { archiveInMemory, noise, type TensorSpec } from './archive-in-memory.ts';

function overlaps(tensors: readonly (readonly [string, TensorSpec])[], deflated = false): [string, string][] {
  const archive = archiveInMemory({ storages: { a: { bytes: noise(256), deflated }, b: { bytes: noise(256, 2) } }, tensors });
  const { findings, output } = planConversion(archive);
  expect(output.tensors).toHaveLength(tensors.length);
  return findings
    .filter(({ code, severity }) => code === 'CONVERT_OVERLAP' && severity === 'warning')
    .map(({ subject, args }): [string, string] => [subject.tensor ?? '', args['with'] as string]);
}

it.each([false, true])('warns of a transposed view beside the whole (deflated: %s)', (deflated) => {
  const found = overlaps([['w', { storage: 'a', shape: [8, 8] }], ['t', { storage: 'a', shape: [8, 8], stride: [1, 8] }]], deflated);
  expect(found.flat().toSorted()).toEqual(['t', 't', 'w', 'w']);
});

it('warns of windows that slide over each other, each of them once', () => {
  const windows = [0, 3, 6, 9].map((offset): [string, TensorSpec] => [`w${offset}`, { storage: 'a', shape: [5], offset }]);
  const found = overlaps([...windows, ['apart', { storage: 'a', shape: [4], offset: 20 }]]);
  expect(found.map(([name]) => name).toSorted()).toEqual(['w0', 'w3', 'w6', 'w9']);
});

it('a short view inside a long one does not hide what comes after it', () => {
  const found = overlaps([
    ['long', { storage: 'a', shape: [20] }],
    ['short', { storage: 'a', shape: [2], offset: 1 }],
    ['late', { storage: 'a', shape: [2], offset: 15 }],
  ]);
  expect(found.map(([name]) => name).toSorted()).toEqual(['late', 'long', 'short']);
});

it.each<[title: string, tensors: readonly (readonly [string, TensorSpec])[]]>([
  ['neighbouring slices', [['x', { storage: 'a', shape: [8] }], ['y', { storage: 'a', shape: [8], offset: 8 }]]],
  ['the same range of two storages', [['x', { storage: 'a', shape: [8] }], ['y', { storage: 'b', shape: [8] }]]],
  [
    'columns cut from one matrix',
    [
      ['q', { storage: 'a', shape: [8, 3], stride: [8, 1] }],
      ['k', { storage: 'a', shape: [8, 3], stride: [8, 1], offset: 3 }],
      ['v', { storage: 'a', shape: [8, 2], stride: [8, 1], offset: 6 }],
    ],
  ],
  [
    'columns cut from one matrix and transposed',
    [
      ['q', { storage: 'a', shape: [4, 8], stride: [1, 8] }],
      ['k', { storage: 'a', shape: [4, 8], stride: [1, 8], offset: 4 }],
    ],
  ],
  ['an empty view inside another', [['x', { storage: 'a', shape: [8] }], ['y', { storage: 'a', shape: [0], offset: 4 }]]],
])('%s are independent', (_, tensors) => {
  expect(overlaps(tensors)).toEqual([]);
});

it('columns that share one column are named', () => {
  const found = overlaps([
    ['q', { storage: 'a', shape: [8, 4], stride: [8, 1] }],
    ['k', { storage: 'a', shape: [8, 4], stride: [8, 1], offset: 3 }],
  ]);
  expect(found).toEqual([['q', 'k'], ['k', 'q']]);
});

it('names exactly the contiguous views that share a byte with another', () => {
  const view = fc.record({ offset: fc.nat(30), length: fc.integer({ min: 1, max: 30 }), storage: fc.constantFrom('a', 'b') });
  const same = (a: { offset: number; length: number; storage: string }, b: typeof a): boolean =>
    a.storage === b.storage && a.offset < b.offset + b.length && b.offset < a.offset + a.length;
  fc.assert(
    fc.property(fc.uniqueArray(view, { selector: (v) => `${v.storage} ${v.offset} ${v.length}`, maxLength: 12 }), (views) => {
      const found = overlaps(views.map((v, index) => [`t${index}`, { storage: v.storage, shape: [v.length], offset: v.offset }]));
      const expected = views.flatMap((v, index) => (views.some((other) => other !== v && same(v, other)) ? [`t${index}`] : []));
      expect(found.map(([name]) => name).toSorted()).toEqual(expected.toSorted());
      for (const [name, other] of found) {
        const [a, b] = [views[Number(name.slice(1))], views[Number(other.slice(1))]];
        expect(a !== undefined && b !== undefined && same(a, b)).toBe(true);
      }
    }),
  );
});
