/** Real files, hashed on real threads. */
import { createHash, randomBytes } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Disposer } from '@assay/core';
import { createTaskRunner, openFile } from '@assay/node';
import { createExpectation, formatChecksumLine, parseChecksumFile, verifyChecksumFile, verifyFiles, type VerifyInput } from '@assay/verify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

describe('real files', () => {
  let folder = '';
  const tasks = createTaskRunner({ threads: 2 });
  const contents = new Map(Array.from({ length: 8 }, (_, i): [string, Buffer] => [`file ${i}.bin`, randomBytes(i * 300_000)]));
  const sha256 = (bytes: Uint8Array = Buffer.alloc(0)): string => createHash('sha256').update(bytes).digest('hex');

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'assay-files-'));
    for (const [name, bytes] of contents) await writeFile(join(folder, name), bytes);
    await mkdir(join(folder, 'folder'));
  });
  afterAll(async () => {
    await tasks[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  it('of a checksum file are verified in its order', async () => {
    const lines = [...contents].map(([name, bytes]) => formatChecksumLine({ name, algorithm: 'sha256', digest: sha256(bytes) }));
    const list = parseChecksumFile([...lines, `${sha256()}  folder`, `${sha256()}  none`, ''].join('\n'), { name: 'SHA256SUMS' });
    const report = await verifyChecksumFile(list, { open: (name) => openFile(join(folder, name)), tasks });
    expect(report.files.map(({ name, status }) => [name, status])).toEqual([
      ...[...contents.keys()].map((name) => [name, 'ok']),
      ['folder', 'unreadable'],
      ['none', 'missing'],
    ]);
    expect(report.findings.map(({ code, subject }) => [code, subject.path])).toEqual([
      ['SOURCE_NOT_A_FILE', 'folder'],
      ['SOURCE_NOT_FOUND', 'none'],
    ]);
  });

  it('that grew since they were opened get no verdict, though the bytes of then are right', async () => {
    await using owned = new Disposer();
    const inputs: VerifyInput[] = [];
    for (const name of ['file 2.bin', 'file 3.bin']) {
      const source = owned.use(await openFile(join(folder, name)));
      inputs.push({ source, name, expected: createExpectation({ sha256: sha256(contents.get(name)) }) });
    }
    await appendFile(join(folder, 'file 2.bin'), 'more');
    const report = await verifyFiles(inputs, { tasks });
    expect(report.files.map(({ status }) => status)).toEqual(['unreadable', 'ok']);
    expect(report.findings.map(({ code }) => code)).toEqual(['SOURCE_CHANGED']);
    expect(report.complete).toBe(false);
  });
});
