/**
 * What every ByteSink promises.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMemorySink, type ByteSink } from '@assay/core';
import { createFile, openFolder } from '@assay/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { patterned, scratchFolder } from './scratch.ts';

interface Made {
  readonly sink: ByteSink;
  /** What was published; undefined when nothing was. */
  readonly published: () => Promise<Uint8Array | undefined>;
}

const readIfThere = async (path: string): Promise<Uint8Array | undefined> =>
  readFile(path).then(
    (bytes) => new Uint8Array(bytes),
    () => undefined,
  );

const implementations: [string, (size: number) => Promise<Made>][] = [
  [
    'memory',
    async (size) => {
      let bytes: Uint8Array | undefined;
      const sink = createMemorySink({ size, publish: (whole) => (bytes = whole) });
      return { sink, published: async () => bytes };
    },
  ],
  [
    'file',
    async (size) => {
      const path = join(await scratchFolder(), 'out.bin');
      return { sink: await createFile(path, { size }), published: () => readIfThere(path) };
    },
  ],
  [
    'file of a folder',
    async (size) => {
      const folder = await scratchFolder();
      const sink = await openFolder(folder).create('deep/er/out.bin', { size, overwrite: false });
      return { sink, published: () => readIfThere(join(folder, 'deep/er/out.bin')) };
    },
  ],
];

describe.each(implementations)('a sink: %s', (_, create) => {
  const make = async (size: number): Promise<Made> => {
    const made = await create(size);
    onTestFinished(() => made.sink[Symbol.asyncDispose]());
    return made;
  };

  test.each([0, 1, 5000])('publishes what was written: %i bytes', async (size) => {
    const bytes = patterned(size);
    const { sink, published } = await make(size);
    if (size > 0) await sink.writeAt(bytes, 0);
    expect(await published()).toBeUndefined();
    await sink.commit();
    expect(await published()).toEqual(bytes);
  });

  test('takes writes in any order and reads them back', async () => {
    const bytes = patterned(9000);
    const { sink, published } = await make(9000);
    await sink.writeAt(bytes.subarray(6000), 6000);
    await sink.writeAt(bytes.subarray(0, 3000), 0);
    await sink.writeAt(bytes.subarray(3000, 6000), 3000);
    const back = new Uint8Array(100);
    await sink.readInto(back, 5950);
    expect(back).toEqual(bytes.slice(5950, 6050));
    await sink.commit();
    expect(await published()).toEqual(bytes);
  });

  test('has zeros where nothing was written, and grows past its size', async () => {
    const { sink, published } = await make(4);
    await sink.writeAt(Uint8Array.of(9), 5);
    await sink.commit();
    expect(await published()).toEqual(Uint8Array.of(0, 0, 0, 0, 0, 9));
  });

  test('leaves nothing after abort, and refuses to go on', async () => {
    const { sink, published } = await make(4);
    await sink.writeAt(Uint8Array.of(1, 2, 3, 4), 0);
    await sink.abort();
    await sink.abort();
    expect(await published()).toBeUndefined();
    await expect(sink.writeAt(Uint8Array.of(1), 0)).rejects.toThrow(TypeError);
    await expect(sink.commit()).rejects.toThrow(TypeError);
  });

  test('keeps what was committed when it is aborted or disposed of afterwards', async () => {
    const { sink, published } = await make(1);
    await sink.writeAt(Uint8Array.of(5), 0);
    await sink.commit();
    await sink.abort();
    await sink[Symbol.asyncDispose]();
    expect(await published()).toEqual(Uint8Array.of(5));
  });

  test('rethrows the reason of an abort', async () => {
    const { sink } = await make(1);
    const reason = new Error('enough');
    await expect(sink.writeAt(Uint8Array.of(1), 0, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
