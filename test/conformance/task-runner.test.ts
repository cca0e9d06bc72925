/**
 * What every TaskRunner promises.
 */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createMemorySource,
  createOneThreadTaskRunner,
  isAssayError,
  wasmHashers,
  type ByteSource,
  type DigestTask,
  type TaskResult,
  type TaskRunner,
} from '@assay/core';
import { createTaskRunner, openFile } from '@assay/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { patterned, scratchFolder } from './scratch.ts';

type Make = () => Promise<{ runner: TaskRunner; source: (bytes: Uint8Array) => Promise<ByteSource> }>;

const onThreads =
  (threads: number, files: boolean, callerHelps = false): Make =>
  async () => {
    const runner = createTaskRunner({ threads, callerHelps });
    onTestFinished(() => runner[Symbol.asyncDispose]());
    const folder = await scratchFolder();
    let count = 0;
    const source = async (bytes: Uint8Array): Promise<ByteSource> => {
      if (!files) return createMemorySource(bytes);
      const path = join(folder, String((count += 1)));
      await writeFile(path, bytes);
      const opened = await openFile(path);
      onTestFinished(() => opened[Symbol.asyncDispose]());
      return opened;
    };
    return { runner, source };
  };

const implementations: [string, Make][] = [
  ['core, one thread', async () => ({ runner: createOneThreadTaskRunner(wasmHashers), source: async (bytes) => createMemorySource(bytes) })],
  ['node, 1 thread', onThreads(1, true)],
  ['node, 2 threads', onThreads(2, true)],
  ['node, the caller and a thread', onThreads(2, true, true)],
  ['node, the caller alone', onThreads(1, true, true)],
  ['node, over memory', onThreads(2, false)],
];

async function collect(results: AsyncIterable<TaskResult>): Promise<TaskResult[]> {
  const all: TaskResult[] = [];
  for await (const result of results) all.push(result);
  return all.sort((a, b) => a.task - b.task);
}

const whole = (source: ByteSource, index = 0): DigestTask => ({ kind: 'digest', source: index, start: 0, end: source.size, algorithms: ['sha256'] });
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe.each(implementations)('a task runner: %s', (_, make) => {
  test('gives one result for each task, with all digests of its range', async () => {
    const { runner, source } = await make();
    const contents = [0, 1, 3_000_001, 77, 600_000].map((size) => patterned(size, size));
    const sources = await Promise.all(contents.map(source));
    const tasks: DigestTask[] = [
      ...sources.map((one, index) => whole(one, index)),
      { kind: 'digest', source: 2, start: 5, end: 2_000_005, algorithms: ['md5', 'git-blob-sha1'] },
    ];
    const progress = tasks.map(() => 0);
    const onBytes = (task: number, count: number): void => void (progress[task] = (progress[task] ?? 0) + count);
    const results = await collect(runner.run(tasks, sources, { onBytes }));
    const part = patterned(3_000_001, 3_000_001).subarray(5, 2_000_005);
    expect(results).toEqual([
      ...contents.map((bytes, task) => ({ task, ok: true, digests: new Map([['sha256', sha256(bytes)]]) })),
      {
        task: 5,
        ok: true,
        digests: new Map([
          ['md5', createHash('md5').update(part).digest('hex')],
          ['git-blob-sha1', createHash('sha1').update(`blob ${part.length}\0`).update(part).digest('hex')],
        ]),
      },
    ]);
    expect(progress).toEqual([0, 1, 3_000_001, 77, 600_000, 2_000_000]);
  });

  test('reads one large range, alone', async () => {
    const { runner, source } = await make();
    const bytes = patterned(5_000_003);
    const from = await source(bytes);
    expect(await collect(runner.run([whole(from)], [from]))).toEqual([
      { task: 0, ok: true, digests: new Map([['sha256', sha256(bytes)]]) },
    ]);
  });

  test('does hundreds of tasks', async () => {
    const { runner, source } = await make();
    const from = await source(patterned(1000));
    const tasks = Array.from({ length: 300 }, (_, start) => ({ kind: 'digest', source: 0, start, end: 1000, algorithms: ['crc32'] }) as const);
    const results = await collect(runner.run(tasks, [from]));
    expect(results.map(({ task, ok }) => [task, ok])).toEqual(tasks.map((_, task) => [task, true]));
  });

  test('says which task failed, and does the others', async () => {
    const { runner, source } = await make();
    const from = await source(patterned(1000));
    const results = await collect(runner.run([{ ...whole(from), end: 1001 }, whole(from)], [from]));
    expect(results.map(({ ok }) => ok)).toEqual([false, true]);
    const [failed] = results;
    expect(failed?.ok === false && isAssayError(failed.error) && failed.error.code).toBe('SOURCE_SHORT_READ');
  });

  test('rethrows the reason of an abort, before and during a run', async () => {
    const { runner, source } = await make();
    const from = await source(patterned(3_000_000));
    const reason = new Error('enough');
    await expect(collect(runner.run([whole(from)], [from], { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    const controller = new AbortController();
    const tasks = Array.from({ length: 5000 }, () => whole(from));
    const onBytes = (): void => controller.abort(reason);
    await expect(collect(runner.run(tasks, [from], { signal: controller.signal, onBytes }))).rejects.toBe(reason);
  });

  test('stops when the consumer leaves', async () => {
    const { runner, source } = await make();
    const from = await source(patterned(100_000));
    const tasks = Array.from({ length: 50 }, () => whole(from));
    for await (const result of runner.run(tasks, [from])) {
      expect(result.ok).toBe(true);
      break;
    }
    expect(await collect(runner.run([whole(from)], [from]))).toHaveLength(1);
  });
});
