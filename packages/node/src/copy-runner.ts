/**
 * Runs copy steps on several threads, steps over memory maps in child processes, and hashes the output alongside.
 * Where a source or the sink cannot be opened again by a thread, everything stays on the calling thread.
 */
import { availableParallelism } from 'node:os';
import {
  createOneThreadCopyRunner,
  outputSegments,
  type CopyRunner,
  type CopyStep,
  type Digests,
  type OutputSegment,
  type RunOptions,
  type RunResult,
  type StepResult,
} from '@assay/core';
import { placeOf, type FilePlace } from './blocking-files.ts';
import { ChunkRing } from './chunk-ring.ts';
import { CopyControl } from './copy-control.ts';
import type { CopyTask, CopyTaskResult, HashTask } from './copy-worker.ts';
import { nodeHashers } from './hashers.ts';
import { nodeKernels } from './kernels.ts';
import { chooseMapped, runMapped, type Reader } from './mapped-steps.ts';
import { errorOf, type Outcome } from './outcome.ts';
import { responsive } from './responsive-source.ts';
import { CHUNK_BYTES } from './step-context.ts';
import { WorkerPool } from './worker-pool.ts';

/** How a copy runner works. */
export interface CopyRunnerOptions {
  /** Threads; by default one for each core, at most 4: more would wait for memory. */
  readonly threads?: number;
  /** `auto` (default): memory maps for large strided views of local files where possible, else positional reads. */
  readonly reader?: Reader;
}

/** Slots of the ring between the copying and the hashing thread: 16 MiB in all, room enough that a nap never starves either. */
const RING_SLOTS = 64;

/**
 * A copy runner on threads that start at once and end when it is disposed of.
 * Its `run` throws as the port says, and `IO_NO_MEMORY_MAP` where `reader` is `mmap` and nothing can be mapped.
 * @throws {TypeError} for a number of threads that is not a positive integer
 */
export function createCopyRunner(options: CopyRunnerOptions = {}): CopyRunner & AsyncDisposable {
  const { threads = Math.min(4, availableParallelism()), reader = 'auto' } = options;
  if (!Number.isSafeInteger(threads) || threads < 1) throw new TypeError(`threads must be a positive integer, not ${threads}`);
  const pool = new WorkerPool('copy-worker', threads);
  const oneThread = createOneThreadCopyRunner({ kernels: nodeKernels, hashers: nodeHashers });
  return {
    async run(steps, sources, sink, runOptions) {
      runOptions.signal?.throwIfAborted();
      const places = sources.map(placeOf);
      const sinkPlace = placeOf(sink);
      if (sinkPlace === undefined || !places.every((place) => place !== undefined)) {
        return oneThread.run(steps, sources.map(responsive), sink, runOptions);
      }
      const mapped = await chooseMapped(steps, places, reader);
      return new Run(pool, steps, places, sinkPlace, mapped, runOptions).result();
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

/** One run: hands out the work, watches over it, puts the results together. */
class Run {
  #pool: WorkerPool;
  #steps: readonly CopyStep[];
  #sources: readonly FilePlace[];
  #sink: FilePlace;
  #options: RunOptions;
  #mapped: readonly number[];
  /** Steps of the threads. */
  #order: readonly number[];
  #control: CopyControl;
  #results: StepResult[];
  #digests: Digests = new Map();
  #halt = new AbortController();
  #failure: { readonly error: unknown } | undefined;
  #reported = 0;

  constructor(
    pool: WorkerPool,
    steps: readonly CopyStep[],
    sources: readonly FilePlace[],
    sink: FilePlace,
    mapped: readonly number[],
    options: RunOptions,
  ) {
    const elsewhere = new Set(mapped);
    this.#pool = pool;
    this.#steps = steps;
    this.#sources = sources;
    this.#sink = sink;
    this.#options = options;
    this.#mapped = mapped;
    this.#order = [...steps.keys()].filter((index) => !elsewhere.has(index));
    this.#control = CopyControl.create(steps.length);
    this.#results = steps.map(() => ({ crc32s: [] }));
  }

  async result(): Promise<RunResult> {
    const { signal } = this.#options;
    const stop = (): void => this.#stop();
    signal?.addEventListener('abort', stop);
    const progress = setInterval(() => this.#report(), 100);
    try {
      // None of them rejects: all have ended when this resolves.
      await Promise.all(this.#start());
    } finally {
      clearInterval(progress);
      signal?.removeEventListener('abort', stop);
    }
    signal?.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#report();
    return { steps: this.#results, digests: this.#digests };
  }

  #start(): Promise<void>[] {
    const { digests = [] } = this.#options;
    const hashing = digests.length > 0;
    const fused = hashing && this.#pool.threads === 1 && this.#mapped.length === 0;
    const segments = hashing && !fused ? outputSegments(this.#steps) : [];
    const inOrder = hashing && this.#pool.threads > 1 && this.#comesInOrder(segments);
    const ring = inOrder ? ChunkRing.create(RING_SLOTS, CHUNK_BYTES) : undefined;
    const copiers = ring !== undefined ? 1 : Math.max(1, this.#pool.threads - (hashing ? 1 : 0));
    // The copying comes first: in a pool that takes work in order, hashing then never waits for copying that waits for it.
    return [
      ...this.#startMapped(copiers),
      ...this.#startCopying(copiers, ring, fused),
      ...(hashing && !fused ? [this.#startHashing(segments, ring)] : []),
    ];
  }

  #startMapped(processes: number): Promise<void>[] {
    if (this.#mapped.length === 0) return [];
    const run = runMapped({
      steps: this.#steps,
      order: this.#mapped,
      sources: this.#sources,
      sink: this.#sink,
      processes,
      signal: this.#halt.signal,
      onWritten: (byteLength) => this.#control.addWritten(byteLength),
      onStep: (index, result) => {
        this.#results[index] = result;
        this.#control.stepDone(index);
      },
    });
    return [run.catch((error: unknown) => this.#fail(error))];
  }

  #task(ring: ChunkRing | undefined): CopyTask {
    return {
      steps: this.#steps,
      order: this.#order,
      sources: this.#sources,
      sink: this.#sink,
      control: this.#control.memory,
      byteLength: this.#options.byteLength,
      ...(ring === undefined ? {} : { ring: ring.memory }),
    };
  }

  #startCopying(copiers: number, ring: ChunkRing | undefined, fused: boolean): Promise<void>[] {
    const { digests = [] } = this.#options;
    const task: CopyTask = { ...this.#task(ring), ...(fused ? { digests } : {}) };
    // A ring must be closed by its filler, and a digest come from its maker, even where there is nothing to do.
    const count = ring !== undefined || fused ? 1 : Math.min(copiers, this.#order.length);
    return Array.from({ length: count }, () => this.#await(this.#pool.run('copy', task)));
  }

  #startHashing(segments: readonly OutputSegment[], ring: ChunkRing | undefined): Promise<void> {
    const { digests = [] } = this.#options;
    const task: HashTask = { ...this.#task(ring), segments, digests };
    return this.#await(this.#pool.run('hash', task));
  }

  async #await(answer: Promise<unknown>): Promise<void> {
    try {
      // What our own worker module answers.
      const outcome = (await answer) as Outcome<CopyTaskResult>;
      if (outcome.kind === 'failed') this.#fail(errorOf(outcome));
      if (outcome.kind !== 'done') return;
      for (const [index, result] of outcome.value.steps) if (result !== undefined) this.#results[index] = result;
      if (outcome.value.digests !== undefined) this.#digests = outcome.value.digests;
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    // Once stopped, a child dies because it was told to.
    if (!this.#halt.signal.aborted) this.#failure ??= { error };
    this.#stop();
  }

  #stop(): void {
    this.#control.stop();
    this.#halt.abort();
  }

  /** True when one thread that does all steps one by one writes forwards only, and keeps pace with the hashing. */
  #comesInOrder(segments: readonly OutputSegment[]): boolean {
    const elsewhere = new Set(this.#mapped);
    let [lastStep, lastPart] = [-1, -1];
    for (const { step, part } of segments) {
      if (elsewhere.has(step)) continue;
      if (step < lastStep || (step === lastStep && part <= lastPart)) return false;
      [lastStep, lastPart] = [step, part];
    }
    return this.#order.length > 0 && this.#order.every((index) => this.#steps[index]?.parts.every(isPlain));
  }

  #report(): void {
    const { onBytes, digests = [] } = this.#options;
    const { written, hashed } = this.#control;
    // With a digest a byte counts when it is written and hashed.
    const done = digests.length > 0 && this.#pool.threads > 1 ? Math.min(written, hashed) : written;
    if (done > this.#reported) onBytes?.(done - this.#reported);
    this.#reported = Math.max(this.#reported, done);
  }
}

/** A part that costs no more than to read and write it: one thread keeps pace with the hashing. */
function isPlain(part: CopyStep['parts'][number]): boolean {
  return part.kind === 'check' || (part.kind === 'copy' && part.piece.kind !== 'strided');
}
