/**
 * Runs digest tasks on threads, several at a time.
 * Tasks over sources that no thread can open again are done on the calling thread.
 */
import { availableParallelism } from 'node:os';
import { createOneThreadTaskRunner, type ByteSource, type Digests, type Task, type TaskOptions, type TaskResult, type TaskRunner } from '@assay/core';
import { placeOf } from './blocking-files.ts';
import { nodeHashers } from './hashers.ts';
import { errorOf, type Outcome } from './outcome.ts';
import { responsive } from './responsive-source.ts';
import type { SharedDigestTask } from './task-worker.ts';
import { WorkerPool } from './worker-pool.ts';

/** How a task runner works. */
export interface TaskRunnerOptions {
  /** Threads; by default one for each core, at most 8. */
  readonly threads?: number;
}

/**
 * A task runner on threads that start at once and end when it is disposed of.
 * @throws {TypeError} for a number of threads that is not a positive integer
 */
export function createTaskRunner(options: TaskRunnerOptions = {}): TaskRunner & AsyncDisposable {
  const { threads = Math.min(8, availableParallelism()) } = options;
  if (!Number.isSafeInteger(threads) || threads < 1) throw new TypeError(`threads must be a positive integer, not ${threads}`);
  const pool = new WorkerPool('task-worker', threads);
  return {
    run: (tasks, sources, taskOptions = {}) => runTasks(pool, tasks, sources, taskOptions),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

async function* runTasks(
  pool: WorkerPool,
  tasks: readonly Task[],
  sources: readonly ByteSource[],
  { signal, onBytes }: TaskOptions,
): AsyncIterable<TaskResult> {
  signal?.throwIfAborted();
  const shared = new SharedTasks(pool, tasks, sources, signal);
  const progress = setInterval(() => shared.report(onBytes), 100);
  const stop = (): void => shared.stop();
  signal?.addEventListener('abort', stop);
  try {
    const queue = tasks.keys();
    const running = new Map<number, Promise<TaskResult>>();
    for (;;) {
      // Two for each thread: the next is there when one is done, and a long list is not posted at once.
      while (running.size < pool.threads * 2) {
        const { done, value } = queue.next();
        if (done === true) break;
        running.set(value, shared.start(value));
      }
      if (running.size === 0) break;
      const result = await Promise.race(running.values());
      running.delete(result.task);
      signal?.throwIfAborted();
      shared.report(onBytes);
      yield result;
    }
  } finally {
    clearInterval(progress);
    signal?.removeEventListener('abort', stop);
    shared.stop();
    await shared.ended();
  }
}

class SharedTasks {
  #pool: WorkerPool;
  #tasks: readonly Task[];
  #sources: readonly ByteSource[];
  #signal: AbortSignal | undefined;
  #here = createOneThreadTaskRunner(nodeHashers);
  #progress: BigInt64Array<SharedArrayBuffer>;
  #reported: number[];
  #stop = new Int32Array(new SharedArrayBuffer(4));
  #unfinished = new Set<Promise<TaskResult>>();

  constructor(pool: WorkerPool, tasks: readonly Task[], sources: readonly ByteSource[], signal: AbortSignal | undefined) {
    this.#pool = pool;
    this.#tasks = tasks;
    this.#sources = sources;
    this.#signal = signal;
    this.#progress = new BigInt64Array(new SharedArrayBuffer(Math.max(1, tasks.length) * 8));
    this.#reported = tasks.map(() => 0);
  }

  /** Never rejects. */
  start(index: number): Promise<TaskResult> {
    const result = this.#result(index).catch((error: unknown): TaskResult => ({ task: index, ok: false, error }));
    this.#unfinished.add(result);
    void result.then(() => this.#unfinished.delete(result));
    return result;
  }

  stop(): void {
    Atomics.store(this.#stop, 0, 1);
  }

  /** No thread reads any more. */
  async ended(): Promise<void> {
    await Promise.all(this.#unfinished);
  }

  report(onBytes: TaskOptions['onBytes']): void {
    for (const [index, before] of this.#reported.entries()) {
      const now = Number(Atomics.load(this.#progress, index));
      if (now === before) continue;
      this.#reported[index] = now;
      onBytes?.(index, now - before);
    }
  }

  async #result(index: number): Promise<TaskResult> {
    const task = this.#tasks[index];
    const source = task === undefined ? undefined : this.#sources[task.source];
    if (task === undefined || source === undefined) throw new RangeError(`a task names source ${task?.source} of ${this.#sources.length}`);
    const place = placeOf(source);
    if (place === undefined) return this.#resultHere(index, task, source);
    const shared: SharedDigestTask = {
      task,
      place,
      index,
      progress: this.#progress.buffer,
      stop: this.#stop.buffer,
      readAhead: this.#tasks.length < this.#pool.threads,
    };
    // What our own worker module answers.
    const outcome = (await this.#pool.run('digest', shared)) as Outcome<Digests>;
    if (outcome.kind === 'done') return { task: index, ok: true, digests: outcome.value };
    return { task: index, ok: false, error: outcome.kind === 'failed' ? errorOf(outcome) : this.#signal?.reason };
  }

  async #resultHere(index: number, task: Task, source: ByteSource): Promise<TaskResult> {
    const onBytes = (_: number, count: number): void => void Atomics.add(this.#progress, index, BigInt(count));
    const options = { onBytes, ...(this.#signal === undefined ? {} : { signal: this.#signal }) };
    for await (const result of this.#here.run([{ ...task, source: 0 }], [responsive(source)], options)) return { ...result, task: index };
    throw new RangeError('a task runner gave no result');
  }
}
