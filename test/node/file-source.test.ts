import { execFileSync } from 'node:child_process';
import { chmod, mkdir, open, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import { readBytes } from '@assay/core';
import { openFile, openMappedFile } from '@assay/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { patterned, scratchFolder } from '../conformance/scratch.ts';
import { asNobody } from './as-nobody.ts';
import { failureOf } from './failure.ts';

describe.each([
  ['read by position', openFile],
  ['mapped', openMappedFile],
])('a file %s', (_, openSource) => {
  test('is refused when it is a folder', async () => {
    const error = await failureOf(openSource(await scratchFolder()));
    expect(error.code).toBe('SOURCE_NOT_A_FILE');
  });

  test('is refused when it is a pipe, without waiting for a writer', async () => {
    const path = join(await scratchFolder(), 'pipe');
    execFileSync('mkfifo', [path]);
    expect((await failureOf(openSource(path))).code).toBe('SOURCE_NOT_A_FILE');
  });

  test('is refused when it is a device', async () => {
    expect((await failureOf(openSource('/dev/zero'))).code).toBe('SOURCE_NOT_A_FILE');
  });

  test('is refused when it is a socket', async () => {
    const path = join(await scratchFolder(), 'socket');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => void server.close());
    expect((await failureOf(openSource(path))).code).toBe('SOURCE_NOT_A_FILE');
  });

  test.each(['missing', 'missing/file', 'file/below', 'x'.repeat(300)])('is not found: %s', async (name) => {
    const folder = await scratchFolder();
    await writeFile(join(folder, 'file'), 'x');
    const path = join(folder, name);
    const error = await failureOf(openSource(path));
    expect([error.code, error.context['path']]).toEqual(['SOURCE_NOT_FOUND', path]);
  });

  test('is denied to who may not read it', async () => {
    const folder = await scratchFolder();
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'secret'), 'x', { mode: 0o600 });
    await chmod(join(folder, 'secret'), 0);
    expect((await asNobody(() => failureOf(openSource(join(folder, 'secret'))))).code).toBe('IO_PERMISSION');
  });

  test('is found through a link', async () => {
    const folder = await scratchFolder();
    await writeFile(join(folder, 'blob'), 'weights');
    await symlink('blob', join(folder, 'link'));
    const source = await openSource(join(folder, 'link'));
    expect(Buffer.from(await readBytes(source, 0, 7)).toString()).toBe('weights');
    await source[Symbol.asyncDispose]();
  });

  test('keeps the name it was given, and locates itself absolutely', async () => {
    const path = join(await scratchFolder(), 'file');
    await writeFile(path, 'x');
    const given = relative(process.cwd(), path);
    const source = await openSource(given);
    expect(source.name).toBe(given);
    expect(source.locator).toEqual({ kind: 'path', path, identity: await source.identity() });
    await source[Symbol.asyncDispose]();
  });

  test('changes its identity when it is written to, and when it is replaced', async () => {
    const path = join(await scratchFolder(), 'file');
    await writeFile(path, 'one');
    const source = await openSource(path);
    const before = await source.identity();
    await writeFile(path, 'two');
    const after = await source.identity();
    expect(after).not.toBe(before);
    await writeFile(`${path}.new`, 'two');
    await rename(`${path}.new`, path);
    expect(await source.identity()).not.toBe(after);
    await source[Symbol.asyncDispose]();
  });

  test('is read past 4 GiB', async () => {
    const path = join(await scratchFolder(), 'sparse');
    const size = 5 * 2 ** 30 + 123;
    const handle = await open(path, 'w');
    await handle.truncate(size);
    await handle.write(Buffer.from('the very end'), 0, 12, size - 12);
    await handle.close();
    const source = await openSource(path);
    expect(source.size).toBe(size);
    expect(Buffer.from(await readBytes(source, size - 12, size)).toString()).toBe('the very end');
    expect(await readBytes(source, 2 ** 32 - 2, 2 ** 32 + 2)).toEqual(new Uint8Array(4));
    await source[Symbol.asyncDispose]();
  });
});

test('a file that was cut while it was open says SOURCE_CHANGED', async () => {
  const path = join(await scratchFolder(), 'file');
  await writeFile(path, patterned(10_000));
  const source = await openFile(path);
  await truncate(path, 100);
  const error = await failureOf(source.readInto(new Uint8Array(50), 80));
  expect([error.code, error.context]).toEqual(['SOURCE_CHANGED', { offset: 100 }]);
  await source[Symbol.asyncDispose]();
});

test('a read stops between system calls when it is told to', async () => {
  const path = join(await scratchFolder(), 'file');
  await writeFile(path, 'x');
  const source = await openFile(path);
  const reason = new Error('enough');
  await expect(source.readInto(new Uint8Array(1), 0, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await source[Symbol.asyncDispose]();
});

test('a mapped file lends views across the borders of its windows, each within 1 GiB', async () => {
  const path = join(await scratchFolder(), 'sparse');
  const handle = await open(path, 'w');
  const border = 2 ** 30;
  await handle.truncate(3 * border);
  await handle.write(Buffer.from('across the border'), 0, 17, border - 8);
  await handle.write(Buffer.from('far away'), 0, 8, 3 * border - 8);
  await handle.close();
  const source = await openMappedFile(path);
  const text = (start: number, end: number): string | undefined => source.withView?.(start, end, (view) => Buffer.from(view).toString());
  expect(text(border - 8, border + 9)).toBe('across the border');
  expect(text(3 * border - 8, 3 * border)).toBe('far away');
  for (let start = 0; start < 3 * border - 8; start += border / 2) expect(text(start, start + 8)).toHaveLength(8);
  expect(source.withView?.(10, border - 2 ** 17, (view) => view.length)).toBe(border - 2 ** 17 - 10);
  expect(() => source.withView?.(0, border, () => undefined)).toThrow(RangeError);
  expect(() => source.withView?.(3 * border - 1, 3 * border + 1, () => undefined)).toThrow(RangeError);
  await source[Symbol.asyncDispose]();
  expect(() => source.withView?.(0, 1, () => undefined)).toThrow(TypeError);
});

test('a mapped file that was cut is not mapped any further', async () => {
  const path = join(await scratchFolder(), 'file');
  await writeFile(path, patterned(10_000));
  const source = await openMappedFile(path);
  await truncate(path, 100);
  const error = await failureOf(source.readInto(new Uint8Array(50), 0));
  expect(error.code).toBe('SOURCE_CHANGED');
  await source[Symbol.asyncDispose]();
});

test('the folder of a file may go while it is open', async () => {
  const folder = join(await scratchFolder(), 'sub');
  await mkdir(folder);
  await writeFile(join(folder, 'file'), 'still here');
  const source = await openFile(join(folder, 'file'));
  await rm(folder, { recursive: true });
  expect(Buffer.from(await readBytes(source, 0, 10)).toString()).toBe('still here');
  await source[Symbol.asyncDispose]();
});
