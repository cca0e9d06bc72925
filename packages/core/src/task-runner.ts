/**
 * The port for work that only reads: plain data in and out, so that it may run in workers.
 */
import { digestSource, type DigestAlgorithm, type Digests } from './digest.ts';
import type { HasherProvider } from './hasher.ts';
import type { ByteSource } from './source.ts';

/** Digests of bytes [start, end) of a source, in one read. */
export interface DigestTask {
  readonly kind: 'digest';
  /** Index into the sources. */
  readonly source: number;
  readonly start: number;
  readonly end: number;
  readonly algorithms: readonly DigestAlgorithm[];
}

/** A task. */
export type Task = DigestTask;

/** The result of `tasks[task]`, or why there is none. */
export type TaskResult =
  | { readonly task: number; readonly ok: true; readonly digests: Digests }
  | { readonly task: number; readonly ok: false; readonly error: unknown };

/** Options of a run. */
export interface TaskOptions {
  readonly signal?: AbortSignal;
  /** Called with a task's index and the bytes it read since the last call. */
  readonly onBytes?: (task: number, count: number) => void;
}

/** Runs tasks, several at a time where the platform can. */
export interface TaskRunner {
  /** Yields results as they come; a task that fails does not stop the others; an abort throws. */
  run(tasks: readonly Task[], sources: readonly ByteSource[], options?: TaskOptions): AsyncIterable<TaskResult>;
}

/** Runs tasks one after another on the calling thread: the reference implementation of the port. */
export function createOneThreadTaskRunner(hashers: HasherProvider): TaskRunner {
  return {
    async *run(tasks, sources, { signal, onBytes } = {}) {
      for (const [task, { source, start, end, algorithms }] of tasks.entries()) {
        signal?.throwIfAborted();
        const from = sources[source];
        if (from === undefined) throw new RangeError(`a task names source ${source} of ${sources.length}`);
        try {
          const digests = await digestSource(from, algorithms, {
            hashers,
            start,
            end,
            ...(signal === undefined ? {} : { signal }),
            onBytes: (count) => onBytes?.(task, count),
          });
          yield { task, ok: true, digests };
        } catch (error) {
          signal?.throwIfAborted();
          yield { task, ok: false, error };
        }
      }
    },
  };
}
