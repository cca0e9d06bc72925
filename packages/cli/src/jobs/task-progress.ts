/**
 * Progress of tasks over whole files: bytes counted by task become events by file.
 */
import type { ByteSource, OnProgress, ProgressPhase } from '@assay/core';

/** A task runner's `onBytes` that tells `onProgress` of each source; task n reads source n. */
export function progressOver(
  sources: readonly ByteSource[],
  phase: ProgressPhase,
  onProgress: OnProgress | undefined,
): (task: number, count: number) => void {
  const done = new Array<number>(sources.length).fill(0);
  return (task, count) => {
    const source = sources[task];
    if (source === undefined) return;
    const bytesDone = (done[task] ?? 0) + count;
    done[task] = bytesDone;
    onProgress?.({ phase, subject: source.name, bytesDone, bytesTotal: source.size });
  };
}
