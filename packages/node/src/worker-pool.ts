/**
 * Threads that run the functions of one module, kept by piscina.
 * They start when the pool is made, so that they are ready when the first work comes.
 */
import { fileURLToPath } from 'node:url';
import { AssayError } from '@assay/core';
import type { Piscina } from 'piscina';
import { ThreadLoading } from './thread-loading.ts';

/** A module of this package that runs in threads or processes, as built; also when this file runs from source. */
export function builtModule(name: 'copy-worker' | 'task-worker' | 'map-child'): string {
  return fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url));
}

/** Small, because what these threads allocate is garbage at once: 3 MiB of semi-spaces instead of 48. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 4 };

/** Threads over one module. */
export class WorkerPool implements AsyncDisposable {
  readonly threads: number;
  #pool: Promise<Piscina>;
  #loading = new ThreadLoading();

  constructor(module: 'copy-worker' | 'task-worker', threads: number) {
    this.threads = threads;
    this.#pool = startPool(module, threads, this.#loading);
    // Rejections are met by whoever runs something.
    this.#pool.catch(() => undefined);
  }

  /** Resolves when the threads have been started, or cannot be. */
  async started(): Promise<void> {
    await this.#pool.catch(() => undefined);
  }

  /**
   * Runs the module's function `name`; work starts in the order in which it is given.
   * @throws {AssayError} `WORKER_DIED` when the thread ends before it answers
   */
  async run(name: string, task: unknown): Promise<unknown> {
    const pool = await this.#pool;
    try {
      return await pool.run(task, { name });
    } catch (cause) {
      throw workerDied(cause);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pool = await this.#pool.catch(() => undefined);
    if (pool === undefined) return;
    await this.#loading.settled(this.threads);
    await pool.destroy();
  }
}

async function startPool(module: 'copy-worker' | 'task-worker', threads: number, loading: ThreadLoading): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  const pool = new Piscina({
    filename: builtModule(module),
    minThreads: threads,
    maxThreads: threads,
    idleTimeout: Number.POSITIVE_INFINITY,
    stricterFIFO: true,
    recordTiming: false,
    execArgv: [],
    resourceLimits: RESOURCE_LIMITS,
    workerData: loading.memory,
  });
  // A thread that dies with nothing to do is replaced; the next run says what is wrong, if anything is.
  pool.on('error', () => loading.fail());
  return pool;
}

/** The error of a thread or process that ended before its work was done. */
export function workerDied(cause: unknown): AssayError {
  return new AssayError('WORKER_DIED', {
    message: `a worker ended before its work was done: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: 'Try again with fewer threads; memory may have run out.',
    cause,
  });
}
