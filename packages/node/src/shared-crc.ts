/**
 * The CRC-32 of a step, shared chunk by chunk between the copying and the hashing thread: whoever has time computes it.
 * Only for steps of one range that is copied as it is: the ring then carries exactly the bytes to check.
 */
import { crc32 } from 'node:zlib';
import { combineCrc32, type CopyStep, type StepResult } from '@assay/core';

/** A chunk's part in the CRC-32 of a step. */
export interface ChunkCheck {
  readonly step: number;
  /** Of the chunk, where the copying thread has computed it. */
  readonly crc: number | undefined;
}

/** The step without its check, where the threads can share it; else `undefined`. */
export function withoutCheck(step: CopyStep): CopyStep | undefined {
  const [part, ...others] = step.parts;
  if (part?.kind !== 'copy' || part.check !== true || part.piece.kind !== 'range') return undefined;
  if (others.length > 0 || part.piece.transform !== undefined || part.piece.start === part.piece.end) return undefined;
  return { parts: [{ ...part, check: false }] };
}

/** The running CRC-32s of steps, whose chunks come in order. */
export class SharedCrcs {
  #crcs: Map<number, number> = new Map();

  /** Takes the next chunk of a step, and computes what the other thread has not. */
  update({ step, crc }: ChunkCheck, bytes: Uint8Array): void {
    const before = this.#crcs.get(step) ?? 0;
    this.#crcs.set(step, crc === undefined ? crc32(bytes, before) : combineCrc32(before, crc, bytes.length));
  }

  /** What the steps' results lack, by step. */
  results(): [step: number, result: StepResult][] {
    return [...this.#crcs].map(([step, crc]) => [step, { crc32s: [crc] }]);
  }
}
