/**
 * What every CopyRunner promises.
 */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import {
  createMemorySink,
  createMemorySource,
  createOneThreadCopyRunner,
  isAssayError,
  wasmHashers,
  type ByteSink,
  type ByteSource,
  type CopyRunner,
  type CopyStep,
} from '@assay/core';
import { defaultKernels } from '@assay/formats';
import { createCopyRunner, createFile, openFile, type CopyRunnerOptions } from '@assay/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { patterned, scratchFolder } from './scratch.ts';

/** A place to run in: how sources and sinks are made there, and what was published. */
interface Place {
  readonly runner: CopyRunner;
  readonly source: (bytes: Uint8Array) => Promise<ByteSource>;
  readonly sink: (size: number) => Promise<{ readonly sink: ByteSink; readonly published: () => Promise<Uint8Array> }>;
}

function inMemory(runner: CopyRunner): Place {
  return {
    runner,
    source: async (bytes) => createMemorySource(bytes),
    async sink(size) {
      let bytes = new Uint8Array(0);
      return { sink: createMemorySink({ size, publish: (whole) => (bytes = whole as Uint8Array<ArrayBuffer>) }), published: async () => bytes };
    },
  };
}

async function onDisk(options: CopyRunnerOptions): Promise<Place> {
  const folder = await scratchFolder();
  const runner = createCopyRunner(options);
  onTestFinished(() => runner[Symbol.asyncDispose]());
  let count = 0;
  return {
    runner,
    async source(bytes) {
      const path = join(folder, `in-${(count += 1)}`);
      await writeFile(path, bytes);
      const source = await openFile(path);
      onTestFinished(() => source[Symbol.asyncDispose]());
      return source;
    },
    async sink(size) {
      const path = join(folder, `out-${(count += 1)}`);
      const sink = await createFile(path, { size });
      onTestFinished(() => sink[Symbol.asyncDispose]());
      return { sink, published: async () => new Uint8Array(await readFile(path)) };
    },
  };
}

const implementations: [string, () => Promise<Place>][] = [
  ['core, one thread', async () => inMemory(createOneThreadCopyRunner({ kernels: defaultKernels, hashers: wasmHashers }))],
  ['node, over memory', async () => ({ ...(await onDisk({})), ...inMemory((await onDisk({})).runner) })],
  ['node, 1 thread', () => onDisk({ threads: 1 })],
  ['node, 2 threads', () => onDisk({ threads: 2 })],
  ['node, 3 threads', () => onDisk({ threads: 3 })],
  ['node, 1 thread and maps', () => onDisk({ threads: 1, reader: 'mmap' })],
  ['node, 2 threads and maps', () => onDisk({ threads: 2, reader: 'mmap' })],
];

const SIZE = 3_000_000;
const bytes = patterned(SIZE);
const deflated = deflateRawSync(bytes.subarray(0, 1_000_000));

/** Steps of every kind over [bytes, deflated], and what they must write. */
function everyKind(): { steps: CopyStep[]; expected: Uint8Array; crc32s: (number | undefined)[][] } {
  const header = new TextEncoder().encode('a header, made up');
  const transposed = new Uint8Array(600 * 500 * 2);
  for (let row = 0; row < 600; row += 1) {
    for (let column = 0; column < 500; column += 1) {
      const at = 1000 + (column * 600 + row) * 2;
      transposed.set(bytes.subarray(at, at + 2), (row * 500 + column) * 2);
    }
  }
  const swapped = bytes.slice(2_000_000, 2_500_000);
  for (let start = 0; start < swapped.length; start += 4) swapped.subarray(start, start + 4).reverse();
  const tiny = [0, 1, 2].map((index) => bytes.subarray(100 + index * 64, 100 + index * 64 + 10));
  const expected: Uint8Array[] = [];
  let at = 0;
  const next = (part: Uint8Array): number => {
    expected.push(part);
    at += part.length;
    return at - part.length;
  };
  const range = (start: number, end: number) => ({ kind: 'range', source: 0, start, end }) as const;
  const steps: CopyStep[] = [
    {
      parts: [
        { kind: 'copy', at: next(header), piece: { kind: 'inline', bytes: header } },
        ...tiny.map((part, index) => {
          const start = 100 + index * 64;
          return { kind: 'copy', at: next(part), check: index !== 1, piece: range(start, start + 10) } as const;
        }),
        { kind: 'copy', at: next(bytes.subarray(0, 1_234_567)), check: true, piece: range(0, 1_234_567) },
        { kind: 'check', source: 0, start: 5, end: 900_000 },
      ],
    },
    {
      parts: [
        {
          kind: 'copy',
          at: next(transposed),
          piece: { kind: 'strided', storage: range(1000, 1000 + transposed.length), view: { shape: [600, 500], stride: [1, 600], offset: 0, itemSize: 2 } },
        },
        { kind: 'copy', at: next(bytes.subarray(7, 7)), check: true, piece: range(7, 7) },
      ],
    },
    {
      parts: [
        { kind: 'copy', at: next(swapped), check: true, piece: { ...range(2_000_000, 2_500_000), transform: { swap: 4 } } },
        { kind: 'copy', at: next(bytes.subarray(1, 2_900_001)), piece: range(1, 2_900_001) },
      ],
    },
    {
      parts: [
        {
          kind: 'inflate',
          source: 1,
          start: 0,
          end: deflated.length,
          inflatedLength: 1_000_000,
          targets: [
            { from: 10, to: 700_010, at: next(bytes.subarray(10, 700_010)) },
            { from: 500_000, to: 1_000_000, at: next(bytes.subarray(500_000, 1_000_000)) },
          ],
        },
      ],
    },
  ];
  return {
    steps,
    expected: Buffer.concat(expected),
    crc32s: [
      [undefined, crc32(tiny[0] ?? ''), undefined, crc32(tiny[2] ?? ''), crc32(bytes.subarray(0, 1_234_567)), crc32(bytes.subarray(5, 900_000))],
      [undefined, 0],
      [crc32(bytes.subarray(2_000_000, 2_500_000)), undefined],
      [crc32(bytes.subarray(0, 1_000_000))],
    ],
  };
}

/** Plain ranges, in order. */
function plainSteps(count: number): CopyStep[] {
  const length = SIZE / count;
  return Array.from({ length: count }, (_, index) => ({
    parts: [{ kind: 'copy', at: index * length, check: true, piece: { kind: 'range', source: 0, start: index * length, end: (index + 1) * length } }],
  }));
}

const sha256 = (whole: Uint8Array): string => createHash('sha256').update(whole).digest('hex');

describe.each(implementations)('a copy runner: %s', (_, make) => {
  test('does steps of every kind, with the CRC-32 of what was asked for', async () => {
    const { runner, source, sink: makeSink } = await make();
    const { steps, expected, crc32s } = everyKind();
    const { sink, published } = await makeSink(expected.length);
    let written = 0;
    const onBytes = (count: number): void => {
      expect(count).toBeGreaterThan(0);
      written += count;
    };
    const sources = [await source(bytes), await source(deflated)];
    const result = await runner.run(steps, sources, sink, { byteLength: expected.length, onBytes });
    await sink.commit();
    expect(sha256(await published())).toBe(sha256(expected));
    expect(result.steps.map((step) => step.crc32s)).toEqual(crc32s);
    expect(result.digests.size).toBe(0);
    expect(written).toBe(expected.length);
  });

  test('digests the whole output, whatever the order of its steps', async () => {
    const { runner, source, sink: makeSink } = await make();
    const { steps, expected } = everyKind();
    const sources = [await source(bytes), await source(deflated)];
    for (const order of [steps, steps.toReversed()]) {
      const { sink, published } = await makeSink(expected.length);
      const digests = ['sha256', 'git-blob-sha1', 'crc32'] as const;
      const result = await runner.run(order, sources, sink, { byteLength: expected.length, digests });
      await sink.commit();
      expect(sha256(await published())).toBe(sha256(expected));
      const gitBlob = createHash('sha1').update(`blob ${expected.length}\0`).update(expected).digest('hex');
      expect([...result.digests]).toEqual([
        ['sha256', sha256(expected)],
        ['git-blob-sha1', gitBlob],
        ['crc32', crc32(expected).toString(16).padStart(8, '0')],
      ]);
    }
  });

  test.each([1, 2, 60])('digests plain ranges in %i steps', async (count) => {
    const { runner, source, sink: makeSink } = await make();
    const { sink, published } = await makeSink(SIZE);
    let written = 0;
    const onBytes = (more: number): void => void (written += more);
    const result = await runner.run(plainSteps(count), [await source(bytes)], sink, { byteLength: SIZE, digests: ['sha256'], onBytes });
    await sink.commit();
    expect(sha256(await published())).toBe(sha256(bytes));
    expect(result.digests.get('sha256')).toBe(sha256(bytes));
    expect(result.steps.map(({ crc32s }) => crc32s)).toEqual(
      plainSteps(count).map((_, index) => [crc32(bytes.subarray((index * SIZE) / count, ((index + 1) * SIZE) / count))]),
    );
    expect(written).toBe(SIZE);
  });

  test('does nothing when there is nothing to do', async () => {
    const { runner, sink: makeSink } = await make();
    const { sink } = await makeSink(0);
    const result = await runner.run([], [], sink, { byteLength: 0, digests: ['sha256'] });
    expect(result).toEqual({ steps: [], digests: new Map([['sha256', sha256(new Uint8Array(0))]]) });
  });

  test('does several runs at once', async () => {
    const { runner, source, sink: makeSink } = await make();
    const from = await source(bytes);
    const digests = await Promise.all(
      [1, 3, 5, 6].map(async (count) => {
        const { sink } = await makeSink(SIZE);
        const result = await runner.run(plainSteps(count), [from], sink, { byteLength: SIZE, digests: ['sha256'] });
        return result.digests.get('sha256');
      }),
    );
    expect(digests).toEqual([1, 3, 5, 6].map(() => sha256(bytes)));
  });

  test('rethrows the reason of an abort, before and during a run', async () => {
    const { runner, source, sink: makeSink } = await make();
    const from = await source(bytes);
    const reason = new Error('enough');
    const { sink } = await makeSink(SIZE);
    const options = { byteLength: SIZE, digests: ['sha256'] } as const;
    await expect(runner.run(plainSteps(10), [from], sink, { ...options, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    // The same part again and again: far more than is done before the abort comes.
    const long = Array.from({ length: 3000 }, () => plainSteps(1)).flat();
    const onBytes = (): void => controller.abort(reason);
    await expect(runner.run(long, [from], sink, { byteLength: SIZE, signal: controller.signal, onBytes })).rejects.toBe(reason);
  });

  test('says ZIP_ENTRY_INFLATE_FAILED for a damaged member, and works on', async () => {
    const { runner, source, sink: makeSink } = await make();
    const damaged = deflated.subarray(0, deflated.length - 1000);
    const { sink } = await makeSink(1_000_000);
    const step: CopyStep = {
      parts: [
        { kind: 'inflate', source: 0, start: 0, end: damaged.length, inflatedLength: 1_000_000, targets: [{ from: 0, to: 1_000_000, at: 0 }] },
      ],
    };
    const run = runner.run([step], [await source(damaged)], sink, { byteLength: 1_000_000, digests: ['sha256'] });
    const error = await run.catch((cause: unknown) => cause);
    expect(isAssayError(error) && error.code).toBe('ZIP_ENTRY_INFLATE_FAILED');
    expect(isAssayError(error) && error.context['expected']).toBe(1_000_000);
    const again = await makeSink(SIZE);
    const result = await runner.run(plainSteps(1), [await source(bytes)], again.sink, { byteLength: SIZE, digests: ['crc32'] });
    expect(result.digests.get('crc32')).toBe(crc32(bytes).toString(16).padStart(8, '0'));
  });
});
