/**
 * Files that hold nothing but zeros: a download that was preallocated and never filled.
 * Small files are read whole; of large ones a sample, and the facts say so.
 */
import { readBytes, type ByteSource } from '@assay/core';
import type { DetectOptions, Sign } from './kinds.ts';

/** Up to this size everything is read. */
const WHOLE_BYTES = 4 << 20;
const SAMPLES = 64;
const SAMPLE_BYTES = 4096;

/** The reading as zeros; `unknown`, with facts, where zeros come first and something else later. */
export async function sampleZeros(source: ByteSource, head: Uint8Array, { signal }: DetectOptions): Promise<Sign | undefined> {
  const transfer = signal === undefined ? {} : { signal };
  if (!isZero(head)) return undefined;
  const { size } = source;
  const whole = size <= WHOLE_BYTES;
  const starts = whole ? [head.length] : Array.from({ length: SAMPLES }, (_, index) => Math.floor(((size - SAMPLE_BYTES) * index) / (SAMPLES - 1)));
  let bytesLookedAt = head.length;
  for (const start of starts) {
    const bytes = await readBytes(source, start, whole ? size : start + SAMPLE_BYTES, transfer);
    bytesLookedAt += bytes.length;
    if (isZero(bytes)) continue;
    const firstOther = start + bytes.findIndex((byte) => byte !== 0);
    return { kind: 'unknown', facts: { zerosAtStart: head.length, somethingAt: firstOther, byteLength: size } };
  }
  return { kind: 'zeros', facts: { byteLength: size, wholeFileRead: whole, bytesLookedAt: Math.min(bytesLookedAt, size) } };
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}
