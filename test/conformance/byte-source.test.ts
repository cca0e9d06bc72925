/**
 * What every ByteSource promises.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMemorySource, isAssayError, readBytes, type ByteSource } from '@assay/core';
import { openFile, openFolder, openMappedFile } from '@assay/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { patterned, scratchFolder } from './scratch.ts';

type Make = (bytes: Uint8Array) => Promise<ByteSource>;

const implementations: [string, Make][] = [
  ['memory', async (bytes) => createMemorySource(bytes)],
  ['file', async (bytes) => openFile(await written(bytes))],
  ['mapped file', async (bytes) => openMappedFile(await written(bytes))],
  [
    'file of a folder',
    async (bytes) => {
      const folder = await scratchFolder();
      await writeFile(join(folder, 'file.bin'), bytes);
      return openFolder(folder).open('file.bin');
    },
  ],
];

async function written(bytes: Uint8Array): Promise<string> {
  const path = join(await scratchFolder(), 'file.bin');
  await writeFile(path, bytes);
  return path;
}

describe.each(implementations)('a source: %s', (_, create) => {
  const make: Make = async (bytes) => {
    const source = await create(bytes);
    onTestFinished(() => source[Symbol.asyncDispose]());
    return source;
  };

  test.each([0, 1, 4095, 4096, 100_001])('has its size and all its bytes: %i', async (size) => {
    const bytes = patterned(size);
    const source = await make(bytes);
    expect(source.size).toBe(size);
    expect(await readBytes(source, 0, size)).toEqual(bytes);
  });

  test('fills a target from any start, and nothing around it', async () => {
    const bytes = patterned(10_000);
    const source = await make(bytes);
    const around = new Uint8Array(102).fill(7);
    await source.readInto(around.subarray(1, 101), 9900);
    expect(around.subarray(1, 101)).toEqual(bytes.subarray(9900));
    expect([around[0], around[101]]).toEqual([7, 7]);
  });

  test('reads into shared memory', async () => {
    const bytes = patterned(5000);
    const source = await make(bytes);
    const target = new Uint8Array(new SharedArrayBuffer(1000));
    await source.readInto(target, 1234);
    expect([...target]).toEqual([...bytes.subarray(1234, 2234)]);
  });

  test('answers reads that overlap in time', async () => {
    const bytes = patterned(300_000);
    const source = await make(bytes);
    const starts = [0, 299_000, 150_000, 1, 77_777];
    const parts = await Promise.all(starts.map((start) => readBytes(source, start, start + 1000)));
    expect(parts).toEqual(starts.map((start) => bytes.slice(start, start + 1000)));
  });

  test('says SOURCE_SHORT_READ for bytes past its end', async () => {
    const source = await make(patterned(100));
    const error = await source.readInto(new Uint8Array(20), 90).catch((cause: unknown) => cause);
    expect(isAssayError(error) && [error.code, error.context]).toEqual([
      'SOURCE_SHORT_READ',
      { offset: 90, found: 10, expected: 20 },
    ]);
  });

  test('keeps its identity while nothing changes', async () => {
    const source = await make(patterned(100));
    const before = await source.identity();
    await readBytes(source, 0, 100);
    expect(await source.identity()).toBe(before);
  });

  test('lends views of the same bytes, where it lends any', async () => {
    const bytes = patterned(70_000);
    const source = await make(bytes);
    if (source.withView === undefined) return;
    expect(source.withView(65_000, 66_000, (view) => [...view])).toEqual([...bytes.subarray(65_000, 66_000)]);
    expect(source.withView(3, 3, (view) => view.length)).toBe(0);
    const nested = source.withView(0, 10, (outer) => source.withView?.(60_000, 60_010, (inner) => [...outer, ...inner]));
    expect(nested).toEqual([...bytes.subarray(0, 10), ...bytes.subarray(60_000, 60_010)]);
  });

  test('may be disposed of twice', async () => {
    const source = await create(patterned(10));
    await source[Symbol.asyncDispose]();
    await source[Symbol.asyncDispose]();
  });
});
