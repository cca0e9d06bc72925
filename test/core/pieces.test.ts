import { deflateRawSync } from 'node:zlib';
import { createMemorySource, createOneThreadCopyRunner, createMemorySink, Disposer, inflateWithStreams, readPieces, applyTransform, outputSegments, wasmHashers, type CopyStep, type Kernels, type Piece } from '@assay/core';
import { defaultKernels } from '@assay/formats';
import { describe, expect, it } from 'vitest';

const kernels: Kernels = defaultKernels;
const numbers = (count: number): Uint8Array => Uint8Array.from({ length: count }, (_, index) => index % 256);

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const copies: Buffer[] = [];
  for await (const chunk of chunks) copies.push(Buffer.from(chunk));
  return Buffer.concat(copies);
}

describe('readPieces', () => {
  const plain = numbers(240);
  const compressed = deflateRawSync(plain);
  const sources = [createMemorySource(plain), createMemorySource(Uint8Array.from([9, 9, ...compressed, 9]))];
  const member = { source: 1, start: 2, end: 2 + compressed.length, inflatedLength: 240 };
  const pieces: Piece[] = [
    { kind: 'inline', bytes: Uint8Array.of(1, 2, 3) },
    { kind: 'range', source: 0, start: 8, end: 24, transform: { swap: 4 } },
    { kind: 'inflated', ...member, from: 16, to: 48, transform: { flip: { width: 4, which: 'imaginary' } } },
    { kind: 'strided', storage: { kind: 'range', source: 0, start: 0, end: 240 }, view: { shape: [3, 4], stride: [1, 3], offset: 2, itemSize: 2 } },
    { kind: 'strided', storage: { kind: 'inflated', ...member, from: 0, to: 240 }, view: { shape: [2, 3], stride: [30, 2], offset: 1, itemSize: 4 } },
  ];

  it('lays pieces one after another, and any range of them is that part of the whole', async () => {
    const whole = await collect(readPieces(pieces, { sources, kernels }));
    const words = (view: { offset: number; itemSize: number }, at: readonly number[]): number[] =>
      at.flatMap((index) => [...plain.subarray((view.offset + index) * view.itemSize, (view.offset + index + 1) * view.itemSize)]);
    const swapped = [11, 10, 9, 8, 15, 14, 13, 12, 19, 18, 17, 16, 23, 22, 21, 20];
    const flipped = [...plain.subarray(16, 48)].map((byte, index) => (index % 8 === 7 ? byte ^ 0x80 : byte));
    const small = words({ offset: 2, itemSize: 2 }, [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]);
    const inflated = words({ offset: 1, itemSize: 4 }, [0, 2, 4, 30, 32, 34]);
    expect([...whole]).toEqual([1, 2, 3, ...swapped, ...flipped, ...small, ...inflated]);
    for (let start = 0; start < whole.length; start += 5) {
      for (let end = start; end <= whole.length; end += 7) {
        expect(await collect(readPieces(pieces, { sources, kernels }, { start, end }))).toEqual(whole.subarray(start, end));
      }
    }
  });

  it('reads in chunks of the buffer it is given, cut at whole units', async () => {
    const buffer = new Uint8Array(10);
    const lengths: number[] = [];
    for await (const chunk of readPieces([{ kind: 'range', source: 0, start: 0, end: 24, transform: { swap: 4 } }], { sources, kernels, buffer })) lengths.push(chunk.length);
    expect(lengths).toEqual([8, 8, 8]);
  });

  it.each([
    ['shorter than stated', { ...member, inflatedLength: 241 }],
    ['longer than stated', { ...member, inflatedLength: 239 }],
    ['cut', { ...member, end: member.end - 4 }],
    ['no deflate stream', { ...member, start: 0 }],
  ])('refuses a deflated member that is %s', async (_, wrong) => {
    const piece: Piece = { kind: 'inflated', ...wrong, from: 0, to: wrong.inflatedLength };
    await expect(collect(readPieces([piece], { sources, kernels: { ...kernels, inflate: inflateWithStreams } }))).rejects.toMatchObject({ code: 'ZIP_ENTRY_INFLATE_FAILED' });
  });
});

describe('applyTransform', () => {
  it('swaps, then flips the sign of the little-endian value', () => {
    const bytes = Uint8Array.of(0x3f, 0x80, 0, 0);
    applyTransform(bytes, { swap: 4, flip: { width: 4, which: 'all' } });
    expect(new DataView(bytes.buffer).getFloat32(0, true)).toBe(-1);
  });
});

describe('the one-thread copy runner', () => {
  it('writes what the steps say in any order, and reports CRC-32 and digests', async () => {
    const source = createMemorySource(numbers(100));
    const compressed = deflateRawSync(numbers(50));
    const steps: CopyStep[] = [
      { parts: [{ kind: 'copy', piece: { kind: 'range', source: 0, start: 10, end: 20 }, at: 14, check: true }] },
      { parts: [{ kind: 'copy', piece: { kind: 'inline', bytes: Uint8Array.of(7, 7) }, at: 0 }, { kind: 'copy', piece: { kind: 'range', source: 0, start: 0, end: 4 }, at: 2, check: true }] },
      { parts: [{ kind: 'inflate', source: 1, start: 0, end: compressed.length, inflatedLength: 50, targets: [{ from: 4, to: 8, at: 6 }, { from: 6, to: 10, at: 10 }] }] },
      { parts: [{ kind: 'check', source: 0, start: 0, end: 100 }] },
    ];
    let published: Uint8Array | undefined;
    const sink = createMemorySink({ size: 24, publish: (bytes) => (published = bytes) });
    let written = 0;
    const result = await createOneThreadCopyRunner({ kernels, hashers: wasmHashers }).run(steps, [source, createMemorySource(compressed)], sink, {
      byteLength: 24,
      digests: ['md5'],
      onBytes: (count) => (written += count),
    });
    await sink.commit();
    expect([...(published ?? [])]).toEqual([7, 7, 0, 1, 2, 3, 4, 5, 6, 7, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    expect(written).toBe(24);
    expect(result.steps.map(({ crc32s }) => crc32s.filter((crc) => crc !== undefined).length)).toEqual([1, 1, 1, 1]);
    expect(result.digests.get('md5')).toMatch(/^[0-9a-f]{32}$/);
    expect(outputSegments(steps).map(({ start, end }) => [start, end])).toEqual([[0, 2], [2, 6], [6, 10], [10, 14], [14, 24]]);
  });
});

describe('Disposer', () => {
  it('releases last first, once, and all of it even when one fails', async () => {
    const released: string[] = [];
    const disposer = new Disposer();
    disposer.defer(() => void released.push('first'));
    disposer.defer(() => {
      throw new Error('stuck');
    });
    disposer.defer(() => void released.push('last'));
    await expect(disposer[Symbol.asyncDispose]()).rejects.toThrow('stuck');
    expect(released).toEqual(['last', 'first']);
    await expect(disposer[Symbol.asyncDispose]()).rejects.toThrow('stuck');
    expect(released.length).toBe(2);
    expect(() => disposer.defer(() => undefined)).toThrow(TypeError);
  });

  it('hands over what it owns', async () => {
    let released = 0;
    const first = new Disposer();
    first.defer(() => void (released += 1));
    const second = first.move();
    await first[Symbol.asyncDispose]();
    expect(released).toBe(0);
    await second[Symbol.asyncDispose]();
    expect(released).toBe(1);
  });
});

it('runs a step of more parts than a call takes arguments', async () => {
  const count = 150_000;
  const source = createMemorySource(new Uint8Array(count).fill(7));
  const sink = createMemorySink({ size: count, publish: () => undefined });
  const parts = Array.from({ length: count }, (_, at) => ({ kind: 'copy', piece: { kind: 'range', source: 0, start: at, end: at + 1 }, at, check: true }) as const);
  const { steps } = await createOneThreadCopyRunner({ kernels, hashers: wasmHashers }).run([{ parts }], [source], sink, { byteLength: count });
  expect(steps[0]?.crc32s).toHaveLength(count);
});
