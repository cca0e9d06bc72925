/**
 * A folder of its own for each test, removed afterwards.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes an empty folder that is removed when the running test ends; returns its path. */
export async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Bytes that differ from their neighbours and from each other's places. */
export function patterned(byteLength: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(byteLength);
  for (let index = 0, state = seed; index < byteLength; index += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[index] = state >>> 16;
  }
  return bytes;
}
