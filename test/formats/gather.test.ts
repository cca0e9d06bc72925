import type { StridedView } from '@assay/core';
import { gatherStrided } from '@assay/formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countingStorage, type CountingStorage } from '../support/counting-storage.ts';

/** Every byte of a storage differs from its neighbours, also 256 and 65536 bytes away. */
function patterned(byteLength: number): Uint8Array {
  return Uint8Array.from({ length: byteLength }, (_, i) => (i * 151 + (i >>> 8) * 31 + (i >>> 16) * 7) & 0xff);
}

/** The definition: one element after another. */
function naive({ shape, stride, offset, itemSize }: StridedView, storage: Uint8Array): Uint8Array {
  const count = shape.reduce((product, size) => product * size, 1);
  const out = new Uint8Array(count * itemSize);
  for (let element = 0; element < count; element += 1) {
    let [rest, place] = [element, offset];
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      const size = shape[axis] as number;
      place += (rest % size) * (stride[axis] as number);
      rest = Math.floor(rest / size);
    }
    out.set(storage.subarray(place * itemSize, (place + 1) * itemSize), element * itemSize);
  }
  return out;
}

async function gathered(view: StridedView, storage: CountingStorage, start?: number, end?: number): Promise<Uint8Array> {
  const total = view.shape.reduce((product, size) => product * size, view.itemSize);
  const chunks: Uint8Array[] = [];
  for await (const chunk of gatherStrided(view, storage, { start: start ?? 0, end: end ?? total })) {
    chunks.push(chunk.slice());
    chunk.fill(0xee); // a chunk is the caller's to change
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** As toEqual, which takes seconds for arrays of a megabyte. */
function expectSame(found: Uint8Array, expected: Uint8Array): void {
  expect(found.length).toBe(expected.length);
  expect(Buffer.compare(found, expected)).toBe(0);
}

const axes = fc.array(
  fc.record({
    size: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constant(1), fc.integer({ min: 6, max: 70 })),
    stride: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: -70, max: 200 }), fc.constant(1)),
  }),
  { maxLength: 5 },
);

const views = fc
  .record({ axes, itemSize: fc.constantFrom(1, 2, 3, 4, 8, 12, 16), slack: fc.integer({ min: 0, max: 3 }) })
  .filter((view) => view.axes.reduce((product, { size }) => product * size, 1) <= 20_000)
  .map(({ axes: list, itemSize, slack }) => {
    const low = list.reduce((sum, { size, stride }) => sum + Math.min(0, Math.max(0, size - 1) * stride), 0);
    const high = list.reduce((sum, { size, stride }) => sum + Math.max(0, Math.max(0, size - 1) * stride), 0);
    const view: StridedView = {
      shape: list.map(({ size }) => size),
      // The stride of an axis of one element means nothing.
      stride: list.map(({ size, stride }) => (size === 1 ? stride * 2 ** 40 : stride)),
      offset: slack - low,
      itemSize,
    };
    return { view, storageByteLength: (slack - low + high + 1 + slack) * itemSize };
  });

describe('gatherStrided', () => {
  it('yields what one element after another would, for any strides, through reads or lent bytes', async () => {
    await fc.assert(
      fc.asyncProperty(views, fc.boolean(), async ({ view, storageByteLength }, lend) => {
        const bytes = patterned(storageByteLength);
        expectSame(await gathered(view, countingStorage(bytes, { lend })), naive(view, bytes));
      }),
      { numRuns: 400 },
    );
  });

  it('yields any range of whole elements', async () => {
    await fc.assert(
      fc.asyncProperty(views, fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), async (made, a, b) => {
        const { view, storageByteLength } = made;
        const bytes = patterned(storageByteLength);
        const whole = naive(view, bytes);
        const count = whole.length / view.itemSize;
        const [start, end] = [Math.min(a, b), Math.max(a, b)].map((part) => Math.floor(part * count) * view.itemSize) as [number, number];
        expectSame(await gathered(view, countingStorage(bytes), start, end), whole.subarray(start, end));
      }),
      { numRuns: 400 },
    );
  });

  it.each([1, 2, 4, 8, 16])('turns matrices of odd and even sizes in items of %i bytes', async (itemSize) => {
    for (const [rows, columns] of [[64, 128], [67, 130], [131, 66], [256, 3], [1, 200], [130, 128]] as const) {
      for (const offset of [0, 1, 2]) {
        const view = { shape: [rows, columns], stride: [1, rows], offset, itemSize };
        const bytes = patterned((rows * columns + offset) * itemSize);
        for (const lend of [false, true]) expectSame(await gathered(view, countingStorage(bytes, { lend })), naive(view, bytes));
      }
    }
  });

  it('reads lent bytes that no word is aligned to', async () => {
    const view = { shape: [30, 40], stride: [1, 30], offset: 0, itemSize: 4 };
    const bytes = patterned(30 * 40 * 4 + 1).subarray(1);
    expectSame(await gathered(view, countingStorage(bytes, { lend: true })), naive(view, bytes));
  });

  it.each([
    ['a transposed matrix', { shape: [9001, 4097], stride: [1, 9001], offset: 3, itemSize: 2 }],
    ['a matrix of few long rows', { shape: [3, 7_000_001], stride: [1, 3], offset: 0, itemSize: 4 }],
    ['a permuted block', { shape: [150, 400, 310], stride: [1, 150 * 310, 150], offset: 0, itemSize: 1 }],
    ['a matrix that runs backwards', { shape: [3000, 2500], stride: [-1, 3000], offset: 2999, itemSize: 8 }],
    ['rows far apart', { shape: [3, 5, 70_001], stride: [1_000_000, 200_000, 2], offset: 17, itemSize: 4 }],
    ['an expanded block', { shape: [4, 900, 3, 900], stride: [0, 1, 0, 900], offset: 0, itemSize: 4 }],
    ['windows that overlap', { shape: [600, 40_000], stride: [7, 1], offset: 5, itemSize: 1 }],
  ])('yields %s that takes several tiles or reads', async (_, view) => {
    const needed = view.shape.reduce((most, size, axis) => most + (size - 1) * Math.max(0, view.stride[axis] as number), view.offset + 1);
    const bytes = patterned(needed * view.itemSize);
    const total = view.shape.reduce((product, size) => product * size, view.itemSize);
    for (const lend of [false, true]) {
      const sink = Buffer.alloc(total);
      let filled = 0;
      for await (const chunk of gatherStrided(view, countingStorage(bytes, { lend }), { start: 0, end: total })) {
        sink.set(chunk, filled);
        filled += chunk.length;
      }
      expect(filled).toBe(total);
      // Every element near the edges of the whole, and every 97th between: the definition is slow.
      const count = total / view.itemSize;
      for (let element = 0; element < count; element += element < 1000 || element > count - 1000 ? 1 : 97) {
        let [rest, place] = [element, view.offset];
        for (let axis = view.shape.length - 1; axis >= 0; axis -= 1) {
          place += (rest % (view.shape[axis] as number)) * (view.stride[axis] as number);
          rest = Math.floor(rest / (view.shape[axis] as number));
        }
        for (let byte = 0; byte < view.itemSize; byte += 1) {
          if (sink[element * view.itemSize + byte] !== bytes[place * view.itemSize + byte]) expect.fail(`element ${element} differs`);
        }
      }
    }
  });

  it('keeps the bits of signalling NaNs', async () => {
    const bytes = new Uint8Array(new Uint32Array([0x7f80_0001, 0xffbf_ffff, 0x7ff0_0000, 1]).buffer);
    const view = { shape: [2, 2], stride: [1, 2], offset: 0, itemSize: 4 };
    expect(new Uint32Array((await gathered(view, countingStorage(bytes))).buffer)).toEqual(new Uint32Array([0x7f80_0001, 0x7ff0_0000, 0xffbf_ffff, 1]));
  });

  it('yields a scalar and nothing for no elements, without a read', async () => {
    const storage = countingStorage(patterned(40));
    expect(await gathered({ shape: [], stride: [], offset: 3, itemSize: 4 }, storage)).toEqual(patterned(40).subarray(12, 16));
    const none = countingStorage(patterned(40));
    expect(await gathered({ shape: [3, 0, 2], stride: [7, 2 ** 50, 1], offset: 900, itemSize: 4 }, none)).toHaveLength(0);
    expect(none.reads).toEqual([]);
  });

  it('refuses a view past its storage, and a range that cuts an element', async () => {
    const storage = countingStorage(patterned(64));
    await expect(gathered({ shape: [4, 4], stride: [4, 1], offset: 1, itemSize: 4 }, storage)).rejects.toBeInstanceOf(RangeError);
    await expect(gathered({ shape: [4], stride: [-1], offset: 2, itemSize: 4 }, storage)).rejects.toBeInstanceOf(RangeError);
    await expect(gathered({ shape: [4], stride: [1], offset: 0, itemSize: 4 }, storage, 0, 6)).rejects.toBeInstanceOf(TypeError);
    await expect(gathered({ shape: [4], stride: [1], offset: 0, itemSize: 4 }, storage, 0, 20)).rejects.toBeInstanceOf(TypeError);
  });

  it('rethrows the reason of an abort', async () => {
    const reason = new Error('enough');
    const options = { start: 0, end: 16, signal: AbortSignal.abort(reason) };
    const chunks = gatherStrided({ shape: [4], stride: [1], offset: 0, itemSize: 4 }, countingStorage(patterned(16)), options);
    await expect(chunks[Symbol.asyncIterator]().next()).rejects.toBe(reason);
  });
});

describe('reads of gatherStrided', () => {
  const MiB = 1 << 20;
  /** The size of the largest array that chunks lie in. */
  const drained = async (view: StridedView, storage: CountingStorage): Promise<number> => {
    let largest = 0;
    const end = view.shape.reduce((product, size) => product * size, view.itemSize);
    for await (const chunk of gatherStrided(view, storage, { start: 0, end })) largest = Math.max(largest, chunk.buffer.byteLength);
    return largest;
  };
  const total = ({ reads }: CountingStorage): number => reads.reduce((sum, { start, end }) => sum + end - start, 0);

  it.each([
    ['a contiguous view', { shape: [3000, 1000], stride: [1000, 1] }, 1],
    ['a transposed matrix', { shape: [3000, 1000], stride: [1, 3000] }, 1],
    ['channels last', { shape: [256, 512, 3, 3], stride: [512 * 9, 1, 512 * 3, 512] }, 1],
    ['half of each row', { shape: [3000, 500], stride: [1000, 1] }, 1],
    ['every second element', { shape: [1_500_000], stride: [2] }, 1],
    ['a row for all rows', { shape: [3000, 1000], stride: [0, 1] }, 1],
    ['windows that overlap', { shape: [3000, 64], stride: [1, 1] }, 1],
    ['one number for all', { shape: [3000, 1000], stride: [0, 0] }, 1],
  ])('takes one read for %s that fits in memory', async (_, { shape, stride }, expected) => {
    const storage = countingStorage(new Uint8Array(3_000_000 * 4));
    await drained({ shape, stride, offset: 0, itemSize: 4 }, storage);
    expect(storage.reads).toHaveLength(expected);
    expect(total(storage)).toBeLessThanOrEqual(storage.byteLength);
  });

  it('reads a large transposed matrix a few times over, in few reads, in tiles of at most 16 MiB', async () => {
    const storage = countingStorage(new Uint8Array(80 * MiB));
    const largest = await drained({ shape: [10_240, 4096], stride: [1, 10_240], offset: 0, itemSize: 2 }, storage);
    expect(largest).toBeLessThanOrEqual(16 * MiB);
    expect(storage.reads.length).toBeLessThan(60);
    expect(total(storage)).toBeLessThanOrEqual(storage.byteLength * 6);
    expect(storage.largestTarget()).toBeLessThanOrEqual(16 * MiB);
  });

  it('needs no more than twice the size of a small view', async () => {
    const storage = countingStorage(new Uint8Array(200_000));
    const largest = await drained({ shape: [100, 200], stride: [1, 100], offset: 0, itemSize: 4 }, storage);
    expect(largest + storage.largestTarget()).toBeLessThanOrEqual(2 * 80_000);
  });

  it('reads an expanded row once however often it is written', async () => {
    const storage = countingStorage(new Uint8Array(4 * MiB));
    await drained({ shape: [60, MiB], stride: [0, 1], offset: 0, itemSize: 4 }, storage);
    expect(total(storage)).toBe(4 * MiB);
  });

  it('reads far apart runs one by one, and long ones to their place', async () => {
    const storage = countingStorage(new Uint8Array(64 * MiB));
    await drained({ shape: [16, 1024], stride: [MiB, 1], offset: 0, itemSize: 4 }, storage);
    expect(storage.reads).toHaveLength(16);
    expect(total(storage)).toBe(16 * 4096);
  });

  it('reads as much for a range cut inside a row as for whole rows', async () => {
    const view = { shape: [2048, 1024], stride: [1, 2048], offset: 0, itemSize: 4 };
    const storage = countingStorage(new Uint8Array(8 * MiB));
    for await (const _ of gatherStrided(view, storage, { start: 500 * 4, end: 4 * MiB + 4 })) void _;
    expect(storage.reads).toHaveLength(1);
  });
});
