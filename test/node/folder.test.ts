import { execFileSync } from 'node:child_process';
import { link, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry } from '@assay/core';
import { openFolder } from '@assay/node';
import { expect, test } from 'vitest';
import { scratchFolder } from '../conformance/scratch.ts';
import { failureOf } from './failure.ts';

async function list(path: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of openFolder(path).list()) entries.push(entry);
  return entries;
}

test('a folder lists what it holds, and does not walk into links', async () => {
  const folder = await scratchFolder();
  await mkdir(join(folder, 'sub'));
  await writeFile(join(folder, 'sub', 'file'), '12345');
  await link(join(folder, 'sub', 'file'), join(folder, 'twin'));
  await symlink('sub/file', join(folder, 'link'));
  await symlink('nowhere', join(folder, 'broken'));
  await symlink('sub', join(folder, 'linked-folder'));
  await symlink('.', join(folder, 'loop'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const entries = await list(folder);
  expect(entries.map(({ path, kind, linkTarget, dangling }) => [path, kind, linkTarget, dangling])).toEqual([
    ['broken', 'link', 'nowhere', true],
    ['link', 'link', 'sub/file', false],
    ['linked-folder', 'link', 'sub', false],
    ['loop', 'link', '.', false],
    ['pipe', 'other', undefined, undefined],
    ['sub', 'folder', undefined, undefined],
    ['sub/file', 'file', undefined, undefined],
    ['twin', 'file', undefined, undefined],
  ]);
  const find = (path: string): Entry | undefined => entries.find((entry) => entry.path === path);
  expect([find('link')?.size, find('twin')?.size, find('twin')?.links]).toEqual([5, 5, 2]);
  expect(find('twin')?.inode).toBe(find('sub/file')?.inode);
  expect(find('twin')?.mtimeNs).toBeGreaterThan(10n ** 18n);
});

test('a folder that is missing, or a file, cannot be listed', async () => {
  const folder = await scratchFolder();
  await writeFile(join(folder, 'file'), 'x');
  expect((await failureOf(list(join(folder, 'missing')))).code).toBe('SOURCE_NOT_FOUND');
  expect((await failureOf(list(join(folder, 'file')))).code).toBe('SOURCE_NOT_FOUND');
});

test('a folder removes no folder', async () => {
  const folder = await scratchFolder();
  await mkdir(join(folder, 'sub'));
  expect((await failureOf(openFolder(folder).remove('sub'))).code).toBe('SOURCE_NOT_A_FILE');
});

test('an aborted file leaves no folder that was made for it', async () => {
  const folder = await scratchFolder();
  await mkdir(join(folder, 'kept'));
  const sink = await openFolder(folder).create('kept/new/er/file', { size: 1, overwrite: false });
  await sink.abort();
  expect(await readdir(folder, { recursive: true })).toEqual(['kept']);
});
