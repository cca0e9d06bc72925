/**
 * Which threads of a pool have loaded their module.
 * A thread that is ended while it loads one can end the whole process (V8: "IsGraphAsync must be used on an instantiated module").
 */
import { setTimeout as pause } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';

/** Loading takes some 50 ms; a thread that has not loaded by then will not. */
const PATIENCE_MS = 10_000;

/** The count of loaded threads, shared with them. */
export class ThreadLoading {
  readonly memory: SharedArrayBuffer = new SharedArrayBuffer(4);
  #failed = false;

  /** Takes note that a thread could not load. */
  fail(): void {
    this.#failed = true;
  }

  /** Resolves when `threads` threads have loaded their module, or one cannot. */
  async settled(threads: number): Promise<void> {
    const loaded = new Int32Array(this.memory);
    for (const end = Date.now() + PATIENCE_MS; Atomics.load(loaded, 0) < threads && !this.#failed && Date.now() < end; ) await pause(2);
  }
}

/** Called by a thread's module at its end: all that it imports is there. */
export function threadLoaded(): void {
  if (workerData instanceof SharedArrayBuffer) Atomics.add(new Int32Array(workerData), 0, 1);
}
