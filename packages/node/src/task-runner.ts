/**
 * Runs digest tasks on threads, several at a time.
 * Tasks over sources that no thread can open again are done on the calling thread.
 */
import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { createOneThreadTaskRunner, type ByteSource, type Digests, type Task, type TaskOptions, type TaskResult, type TaskRunner } from '@assay/core';
import { placeOf } from './blocking-files.ts';
import { nodeHashers } from './hashers.ts';
import { errorOf, type Outcome } from './outcome.ts';
import { responsive } from './responsive-source.ts';
import { digest, type SharedDigestTask } from './task-worker.ts';
import { WorkerPool } from './worker-pool.ts';

/** How a task runner works. */
export interface TaskRunnerOptions {
  /** Threads; by default one for each core, at most 8. */
  readonly threads?: number;
  /**
   * The calling thread is one of them: a short program is quicker, because it begins at once and starts one thread
   * less, or none where `threads` is 1. It is busy then, with pauses every 5 ms; a server wants it free. Default: false.
   */
  readonly callerHelps?: boolean;
}

/**
 * A task runner on threads that start at once and end when it is disposed of.
 * @throws {TypeError} for a number of threads that is not a positive integer
 */
export function createTaskRunner(options: TaskRunnerOptions = {}): TaskRunner & AsyncDisposable {
  const { threads = Math.min(8, availableParallelism()), callerHelps = false } = options;
  if (!Number.isSafeInteger(threads) || threads < 1) throw new TypeError(`threads must be a positive integer, not ${threads}`);
  const pooled = threads - (callerHelps ? 1 : 0);
  const pool = pooled > 0 ? new WorkerPool('task-worker', pooled) : undefined;
  return {
    run: (tasks, sources, taskOptions = {}) => runTasks({ pool, threads, callerHelps, tasks, sources, options: taskOptions }),
    async [Symbol.asyncDispose]() {
      await pool?.[Symbol.asyncDispose]();
    },
  };
}

interface TaskRun {
  /** Absent where the caller does all. */
  readonly pool: WorkerPool | undefined;
  readonly threads: number;
  readonly callerHelps: boolean;
  readonly tasks: readonly Task[];
  readonly sources: readonly ByteSource[];
  readonly options: TaskOptions;
}

async function* runTasks(run: TaskRun): AsyncIterable<TaskResult> {
  const { signal, onBytes } = run.options;
  signal?.throwIfAborted();
  // A caller at work would hold up their start.
  await run.pool?.started();
  const shared = new SharedTasks(run);
  const progress = setInterval(() => shared.report(onBytes), 100);
  const stop = (): void => shared.stop();
  signal?.addEventListener('abort', stop);
  try {
    for await (const result of inLanes(run, shared)) {
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

/** For each thread. */
const MANY_TASKS = 16;

/**
 * Starts tasks as others end, one on each thread. Of many, each thread has the next at hand too; of few, one that
 * waits behind another would be done sooner by whoever is free first.
 */
async function* inLanes({ pool, tasks, callerHelps }: TaskRun, shared: SharedTasks): AsyncIterable<TaskResult> {
  const queue = tasks.keys();
  const running = new Map<number, Promise<TaskResult>>();
  const threads = pool?.threads ?? 0;
  const many = tasks.length >= MANY_TASKS * (threads + 1);
  const lanes = { pool: threads * (many ? 2 : 1), caller: callerHelps ? 1 : 0 };
  const laneOf = new Map<number, keyof typeof lanes>();
  for (;;) {
    for (const lane of ['caller', 'pool'] as const) {
      for (let next = lanes[lane] > 0 ? queue.next() : undefined; next?.done === false; next = lanes[lane] > 0 ? queue.next() : undefined) {
        lanes[lane] -= 1;
        laneOf.set(next.value, lane);
        running.set(next.value, shared.start(next.value, lane));
      }
    }
    if (running.size === 0) return;
    const result = await Promise.race(running.values());
    running.delete(result.task);
    lanes[laneOf.get(result.task) ?? 'pool'] += 1;
    laneOf.delete(result.task);
    yield result;
  }
}

class SharedTasks {
  #run: TaskRun;
  #here = createOneThreadTaskRunner(nodeHashers);
  #progress: BigInt64Array<SharedArrayBuffer>;
  #reported: number[];
  #stop = new Int32Array(new SharedArrayBuffer(4));
  #unfinished = new Set<Promise<TaskResult>>();

  constructor(run: TaskRun) {
    this.#run = run;
    this.#progress = new BigInt64Array(new SharedArrayBuffer(Math.max(1, run.tasks.length) * 8));
    this.#reported = run.tasks.map(() => 0);
  }

  /** Never rejects. */
  start(index: number, lane: 'pool' | 'caller'): Promise<TaskResult> {
    const result = this.#result(index, lane).catch((error: unknown): TaskResult => ({ task: index, ok: false, error }));
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

  async #result(index: number, lane: 'pool' | 'caller'): Promise<TaskResult> {
    const { tasks, sources, pool, options } = this.#run;
    const task = tasks[index];
    const source = task === undefined ? undefined : sources[task.source];
    if (task === undefined || source === undefined) throw new RangeError(`a task names source ${task?.source} of ${sources.length}`);
    const place = placeOf(source);
    if (place === undefined) return this.#resultHere(index, task, source);
    const shared: SharedDigestTask = {
      task,
      place,
      index,
      progress: this.#progress.buffer,
      stop: this.#stop.buffer,
      readAhead: tasks.length < availableParallelism(),
    };
    // What our own worker module answers.
    const outcome = lane === 'caller' ? await digestHere(shared) : ((await pool?.run('digest', shared)) as Outcome<Digests>);
    if (outcome.kind === 'done') return { task: index, ok: true, digests: outcome.value };
    return { task: index, ok: false, error: outcome.kind === 'failed' ? errorOf(outcome) : options.signal?.reason };
  }

  async #resultHere(index: number, task: Task, source: ByteSource): Promise<TaskResult> {
    const { signal } = this.#run.options;
    const onBytes = (_: number, count: number): void => void Atomics.add(this.#progress, index, BigInt(count));
    const options = { onBytes, ...(signal === undefined ? {} : { signal }) };
    for await (const result of this.#here.run([{ ...task, source: 0 }], [responsive(source)], options)) return { ...result, task: index };
    throw new RangeError('a task runner gave no result');
  }
}

/** On the calling thread, with pauses: between tasks too, which may be many small ones. */
async function digestHere(shared: SharedDigestTask): Promise<Outcome<Digests>> {
  await setImmediate();
  return digest(shared, responsive);
}
