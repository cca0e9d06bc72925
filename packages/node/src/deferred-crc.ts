/**
 * The CRC-32 of a step, left to the hashing thread when that thread has time.
 * Only for steps of one range that is copied as it is: the ring then carries exactly the bytes to check.
 */
import { crc32 } from 'node:zlib';
import type { CopyStep, StepResult } from '@assay/core';

/** The step without its check, where the hashing thread can make it; else `undefined`. */
export function withoutCheck(step: CopyStep): CopyStep | undefined {
  const [part, ...others] = step.parts;
  if (part?.kind !== 'copy' || part.check !== true || part.piece.kind !== 'range') return undefined;
  if (others.length > 0 || part.piece.transform !== undefined || part.piece.start === part.piece.end) return undefined;
  return { parts: [{ ...part, check: false }] };
}

/** The running CRC-32s of steps, whose chunks come in order. */
export class DeferredCrcs {
  #crcs: Map<number, number> = new Map();

  /** Takes the next chunk of a step. */
  update(step: number, bytes: Uint8Array): void {
    this.#crcs.set(step, crc32(bytes, this.#crcs.get(step) ?? 0));
  }

  /** What the steps' results lack, by step. */
  results(): [step: number, result: StepResult][] {
    return [...this.#crcs].map(([step, crc]) => [step, { crc32s: [crc] }]);
  }
}
