/**
 * What every Folder promises.
 */
import { createMemoryFolder, isAssayError, readBytes, type Folder } from '@assay/core';
import { openFolder } from '@assay/node';
import { describe, expect, test } from 'vitest';
import { patterned, scratchFolder } from './scratch.ts';

const implementations: [string, () => Promise<Folder>][] = [
  ['memory', async () => createMemoryFolder()],
  ['disk', async () => openFolder(await scratchFolder())],
];

async function put(folder: Folder, path: string, bytes: Uint8Array, overwrite = false): Promise<void> {
  const sink = await folder.create(path, { size: bytes.length, overwrite });
  await sink.writeAt(bytes, 0);
  await sink.commit();
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  const error = await work.catch((cause: unknown) => cause);
  return isAssayError(error) ? error.code : error;
}

describe.each(implementations)('a folder: %s', (_, make) => {
  test('gives back the files that were created in it', async () => {
    const folder = await make();
    await put(folder, 'a/b/c.bin', patterned(1000));
    const source = await folder.open('a/b/c.bin');
    expect(await readBytes(source, 0, source.size)).toEqual(patterned(1000));
    await source[Symbol.asyncDispose]();
  });

  test('lists its files sorted by path, with their sizes', async () => {
    const folder = await make();
    for (const path of ['b.txt', 'a/z', 'a.txt', 'a/b/c', 'ab', 'é', 'Z']) await put(folder, path, patterned(path.length));
    const files: [string, number][] = [];
    for await (const { path, kind, size } of folder.list()) if (kind === 'file') files.push([path, size]);
    expect(files).toEqual([['Z', 1], ['a.txt', 5], ['a/b/c', 5], ['a/z', 3], ['ab', 2], ['b.txt', 5], ['é', 1]]);
  });

  test('refuses to replace a file unless it may', async () => {
    const folder = await make();
    await put(folder, 'x', patterned(1));
    expect(await codeOf(folder.create('x', { size: 1, overwrite: false }))).toBe('SINK_EXISTS');
    await put(folder, 'x', patterned(2), true);
    const source = await folder.open('x');
    expect(source.size).toBe(2);
    await source[Symbol.asyncDispose]();
  });

  test('refuses to replace a file that appeared meanwhile', async () => {
    const folder = await make();
    const first = await folder.create('x', { size: 1, overwrite: false });
    await put(folder, 'x', patterned(7));
    expect(await codeOf(first.commit())).toBe('SINK_EXISTS');
    const source = await folder.open('x');
    expect(source.size).toBe(7);
    await source[Symbol.asyncDispose]();
  });

  test('removes files, and says which are missing', async () => {
    const folder = await make();
    await put(folder, 'x', patterned(1));
    await folder.remove('x');
    expect(await codeOf(folder.open('x'))).toBe('SOURCE_NOT_FOUND');
    expect(await codeOf(folder.remove('x'))).toBe('SOURCE_NOT_FOUND');
  });

  test.each(['/etc/passwd', '../x', 'a/../../x', 'a//b', './a', 'C:/x', 'a\\b', 'a\0b', ''])('refuses the path %j', async (path) => {
    const folder = await make();
    await expect(folder.open(path)).rejects.toThrow(TypeError);
    await expect(folder.create(path, { size: 0, overwrite: false })).rejects.toThrow(TypeError);
    await expect(folder.remove(path)).rejects.toThrow(TypeError);
  });
});
