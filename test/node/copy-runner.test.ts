import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { open, readFile, readdir, rename, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { ByteSink, ByteSource, CopyRunner, CopyStep } from '@assay/core';
import { createCopyRunner, createFile, createTaskRunner, openFile, type CopyRunnerOptions } from '@assay/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { patterned, scratchFolder } from '../conformance/scratch.ts';
import { failureOf } from './failure.ts';

const MIB = 1 << 20;

async function sparse(path: string, size: number): Promise<ByteSource> {
  const handle = await open(path, 'w');
  await handle.truncate(size);
  await handle.close();
  const source = await openFile(path);
  onTestFinished(() => source[Symbol.asyncDispose]());
  return source;
}

async function output(path: string, size: number): Promise<ByteSink> {
  const sink = await createFile(path, { size });
  onTestFinished(() => sink[Symbol.asyncDispose]());
  return sink;
}

function runnerFor(options: CopyRunnerOptions = {}): CopyRunner {
  const runner = createCopyRunner(options);
  onTestFinished(() => runner[Symbol.asyncDispose]());
  return runner;
}

/** Steps that read everything and write nothing. */
function readingSteps(size: number): CopyStep[] {
  const steps: CopyStep[] = [];
  for (let start = 0; start < size; start += 8 * MIB) {
    steps.push({ parts: [{ kind: 'check', source: 0, start, end: Math.min(size, start + 8 * MIB) }] });
  }
  return steps;
}

function copyingSteps(size: number): CopyStep[] {
  return readingSteps(size).map(({ parts: [part] }): CopyStep => {
    const { start, end } = part as { start: number; end: number };
    return { parts: [{ kind: 'copy', at: start, check: true, piece: { kind: 'range', source: 0, start, end } }] };
  });
}

/** Processes that this one has started and that have not ended. */
async function children(): Promise<number[]> {
  const threads = await readdir('/proc/self/task');
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/self/task/${thread}/children`, 'utf8').catch(() => '')));
  return lists.flatMap((list) => list.trim().split(' ').filter(Boolean).map(Number));
}

async function newChild(before: readonly number[]): Promise<number> {
  for (;;) {
    const found = (await children()).find((pid) => !before.includes(pid));
    if (found !== undefined) return found;
    await setTimeout(5);
  }
}

describe.each(['pread', 'mmap'] as const)('a source that changes, read with %s', (reader) => {
  test('says SOURCE_CHANGED when it is cut during the run, and nothing is left', async () => {
    const folder = await scratchFolder();
    const path = join(folder, 'in');
    const size = 64 * 1024 * MIB;
    const source = await sparse(path, size);
    const sink = await output(join(folder, 'out'), 0);
    const run = failureOf(runnerFor({ reader }).run(readingSteps(size), [source], sink, { byteLength: 0 }));
    await setTimeout(400);
    await truncate(path, 1000);
    const error = await run;
    expect(error.code).toBe('SOURCE_CHANGED');
    await sink.abort();
    expect(await readdir(folder)).toEqual(['in']);
  });

  test('says SOURCE_CHANGED when it is another file by the time the run begins', async () => {
    const folder = await scratchFolder();
    const source = await sparse(join(folder, 'in'), MIB);
    await writeFile(join(folder, 'other'), new Uint8Array(MIB));
    await rename(join(folder, 'other'), join(folder, 'in'));
    const sink = await output(join(folder, 'out'), MIB);
    const run = runnerFor({ reader }).run(copyingSteps(MIB), [source], sink, { byteLength: MIB, digests: ['sha256'] });
    expect((await failureOf(run)).code).toBe('SOURCE_CHANGED');
  });

  test('says SOURCE_CHANGED when it was touched or is gone by the time the run begins', async () => {
    const folder = await scratchFolder();
    const path = join(folder, 'in');
    const source = await sparse(path, MIB);
    const sink = await output(join(folder, 'out'), MIB);
    const runner = runnerFor({ reader });
    await utimes(path, 1, 1);
    expect((await failureOf(runner.run(copyingSteps(MIB), [source], sink, { byteLength: MIB }))).code).toBe('SOURCE_CHANGED');
    await rename(path, join(folder, 'gone'));
    expect((await failureOf(runner.run(copyingSteps(MIB), [source], sink, { byteLength: MIB }))).code).toBe('SOURCE_CHANGED');
  });
});

test('processes over memory maps share any number of steps', async () => {
  const folder = await scratchFolder();
  const bytes = patterned(700_000);
  await writeFile(join(folder, 'in'), bytes);
  const source = await openFile(join(folder, 'in'));
  onTestFinished(() => source[Symbol.asyncDispose]());
  for (const count of [1, 2, 3, 4, 7]) {
    const length = 700_000 / count;
    const bounds = Array.from({ length: count + 1 }, (_, index) => Math.floor(index * length));
    const steps = bounds.slice(1).map((end, index): CopyStep => {
      const start = bounds[index] ?? 0;
      return { parts: [{ kind: 'copy', at: start, piece: { kind: 'range', source: 0, start, end } }] };
    });
    const sink = await output(join(folder, `out ${count}`), 700_000);
    await runnerFor({ reader: 'mmap', threads: 3 }).run(steps, [source], sink, { byteLength: 700_000 });
    await sink.commit();
    expect(Buffer.compare(await readFile(join(folder, `out ${count}`)), bytes)).toBe(0);
  }
});

test('a process over memory maps that is killed says WORKER_DIED', async () => {
  const folder = await scratchFolder();
  const size = 64 * 1024 * MIB;
  const source = await sparse(join(folder, 'in'), size);
  const sink = await output(join(folder, 'out'), 0);
  const before = await children();
  const run = failureOf(runnerFor({ reader: 'mmap' }).run(readingSteps(size), [source], sink, { byteLength: 0 }));
  process.kill(await newChild(before), 'SIGKILL');
  expect((await run).code).toBe('WORKER_DIED');
});

test('no process over memory maps outlives an abort', async () => {
  const folder = await scratchFolder();
  const size = 64 * 1024 * MIB;
  const source = await sparse(join(folder, 'in'), size);
  const sink = await output(join(folder, 'out'), 0);
  const before = await children();
  const controller = new AbortController();
  const reason = new Error('enough');
  const run = runnerFor({ reader: 'mmap' }).run(readingSteps(size), [source], sink, { byteLength: 0, signal: controller.signal });
  const ended = expect(run).rejects.toBe(reason);
  await newChild(before);
  controller.abort(reason);
  await ended;
  expect((await children()).filter((pid) => !before.includes(pid))).toEqual([]);
});

test('large strided views are read through maps in another process, all else in threads', async () => {
  const folder = await scratchFolder();
  const [rows, columns] = [4096, 8192];
  const size = rows * columns * 2;
  await writeFile(join(folder, 'in'), patterned(size));
  const source = await openFile(join(folder, 'in'));
  onTestFinished(() => source[Symbol.asyncDispose]());
  const storage = { kind: 'range', source: 0, start: 0, end: size } as const;
  const steps: CopyStep[] = [
    ...copyingSteps(MIB),
    { parts: [{ kind: 'copy', at: MIB, piece: { kind: 'strided', storage, view: { shape: [columns, rows], stride: [1, columns], offset: 0, itemSize: 2 } } }] },
    { parts: [{ kind: 'copy', at: MIB + size, piece: { kind: 'range', source: 0, start: 0, end: MIB } }] },
  ];
  const byteLength = size + 2 * MIB;
  const digests: (string | undefined)[] = [];
  for (const reader of ['auto', 'pread'] as const) {
    const sink = await output(join(folder, reader), byteLength);
    const before = await children();
    const run = runnerFor({ reader }).run(steps, [source], sink, { byteLength, digests: ['sha256'] });
    if (reader === 'auto') expect(await newChild(before)).toBeGreaterThan(0);
    digests.push((await run).digests.get('sha256'));
    await sink.commit();
    digests.push(createHash('sha256').update(await readFile(join(folder, reader))).digest('hex'));
  }
  expect(new Set(digests).size).toBe(1);
});

test('an abort midway leaves nothing, and the runner works on', async () => {
  const folder = await scratchFolder();
  const size = 256 * MIB;
  const source = await sparse(join(folder, 'in'), size);
  const sink = await output(join(folder, 'out'), size);
  const runner = runnerFor({ threads: 2 });
  const controller = new AbortController();
  const reason = new Error('enough');
  const onBytes = (): void => controller.abort(reason);
  const run = runner.run(copyingSteps(size), [source], sink, { byteLength: size, digests: ['sha256', 'md5', 'sha1'], signal: controller.signal, onBytes });
  await expect(run).rejects.toBe(reason);
  await sink.abort();
  expect(await readdir(folder)).toEqual(['in']);
  const next = await output(join(folder, 'out'), MIB);
  await runner.run(copyingSteps(MIB), [source], next, { byteLength: MIB });
  await next.commit();
  expect(await readFile(join(folder, 'out'))).toEqual(Buffer.alloc(MIB));
});

test('a thread that may not write on says why', async () => {
  const folder = await scratchFolder();
  await writeFile(join(folder, 'in'), new Uint8Array(4 * MIB));
  const script = `
    import { createCopyRunner, createFile, openFile } from '@assay/node';
    const source = await openFile(${JSON.stringify(join(folder, 'in'))});
    const sink = await createFile(${JSON.stringify(join(folder, 'out'))});
    const runner = createCopyRunner({ threads: 2 });
    const piece = { kind: 'range', source: 0, start: 0, end: ${4 * MIB} };
    const codes = [];
    for (const check of [true, false]) for (const digests of [[], ['sha256']]) {
      const steps = [{ parts: [{ kind: 'copy', at: 0, piece, check }] }];
      await runner.run(steps, [source], sink, { byteLength: ${4 * MIB}, digests }).catch((error) => codes.push(error.code));
    }
    await sink.abort();
    await runner[Symbol.asyncDispose]();
    console.log(codes.join());`;
  const command = 'ulimit -f 1024; exec "$0" --input-type=module --eval "$1"';
  const { stdout, stderr } = spawnSync('bash', ['-c', command, process.execPath, script], { encoding: 'utf8', cwd: import.meta.dirname });
  expect([stdout, stderr]).toEqual([`${Array.from({ length: 4 }, () => 'SINK_FILE_TOO_LARGE').join()}\n`, '']);
  expect(await readdir(folder)).toEqual(['in']);
});

test('a range past 4 GiB is copied to past 4 GiB', async () => {
  const folder = await scratchFolder();
  const far = 5 * 1024 * MIB;
  const handle = await open(join(folder, 'in'), 'w');
  await handle.truncate(far);
  await handle.write(patterned(2 * MIB), 0, 2 * MIB, far);
  await handle.close();
  const source = await openFile(join(folder, 'in'));
  onTestFinished(() => source[Symbol.asyncDispose]());
  for (const check of [true, false]) {
    const sink = await output(join(folder, `out ${check}`), 0);
    const step: CopyStep = { parts: [{ kind: 'copy', at: far - 7, check, piece: { kind: 'range', source: 0, start: far, end: far + 2 * MIB } }] };
    await runnerFor().run([step], [source], sink, { byteLength: far - 7 + 2 * MIB });
    const back = new Uint8Array(2 * MIB);
    await sink.readInto(back, far - 7);
    expect(Buffer.compare(back, patterned(2 * MIB))).toBe(0);
    await sink.abort();
  }
});

test('a process that never disposes of its runners ends all the same', () => {
  const script = `
    import { createCopyRunner, createTaskRunner } from '@assay/node';
    createCopyRunner();
    createTaskRunner();
    console.log('done');`;
  const options = { encoding: 'utf8', cwd: import.meta.dirname, timeout: 20_000 } as const;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], options);
  expect([stdout, status]).toEqual(['done\n', 0]);
});

test.each([0, -1, 1.5, Number.NaN])('%d threads are refused', (threads) => {
  expect(() => createCopyRunner({ threads })).toThrow(TypeError);
  expect(() => createTaskRunner({ threads })).toThrow(TypeError);
});
