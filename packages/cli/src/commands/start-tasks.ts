/**
 * Threads for a command that digests files, started before the rest of the command is loaded.
 */
import type { TaskRunner } from '@assay/core';

/** A runner of `threads` threads, this one among them; by default one a core. */
export async function startTasks(threads: number | undefined): Promise<TaskRunner & AsyncDisposable> {
  const { createTaskRunner } = await import('@assay/node');
  return createTaskRunner({ callerHelps: true, ...(threads === undefined ? {} : { threads }) });
}
