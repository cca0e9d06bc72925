/**
 * A checkpoint of plain float16 tensors, as large as a test needs, written as torch.save lays it out.
 */
import { writeCheckpoint } from '../../benchmarks/checkpoint-writer.mjs';

/** Writes `tensors` tensors of `megabytes` MiB each; returns the file's size in bytes. */
export function writeLargeCheckpoint(path: string, { tensors, megabytes }: { tensors: number; megabytes: number }): number {
  const shapes = Array.from({ length: tensors }, (_, index) => [`layer.${index}.weight`, [megabytes * 512, 1024]] as const);
  return writeCheckpoint(path, new Map(shapes));
}
