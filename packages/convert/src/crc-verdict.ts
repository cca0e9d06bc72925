/**
 * What the CRC-32 of the members say: proven, damaged, never computed, or never written at all.
 * PyTorch never checks them on loading (§1.1 of its zip form), so wrong ones are found here first.
 */
import { combineCrc32, crc32OfZeros } from '@assay/core';
import type { StepResult } from '@assay/core';
import type { MemberCheck } from './conversion-plan.ts';

/** A member whose bytes have another CRC-32 than the container states. */
export interface WrongMember {
  readonly check: MemberCheck;
  readonly found: number;
}

/**
 * `matched`: every member is proven. `absent`: the container states none. `mismatch`: some are wrong while others match.
 * `never-computed`: all are wrong (`set_crc32_options(False)`). `data-never-written`: all storages are zeros under a
 * wrong CRC-32 (`skip_data()`).
 */
export interface CrcVerdict {
  readonly kind: 'matched' | 'absent' | 'mismatch' | 'never-computed' | 'data-never-written';
  /** In the order of their bytes. */
  readonly wrong: readonly WrongMember[];
}

/** Combines the results of a run and judges them. */
export function judgeCrcs(checks: readonly MemberCheck[], results: readonly StepResult[]): CrcVerdict {
  const wrong = checks.flatMap((check) => {
    const found = combined(check, results);
    return found === check.crc32 >>> 0 ? [] : [{ check, found }];
  });
  if (checks.length === 0) return { kind: 'absent', wrong };
  if (wrong.length === 0) return { kind: 'matched', wrong };
  if (storagesAreUnwritten(checks, wrong)) return { kind: 'data-never-written', wrong };
  return { kind: wrong.length === checks.length ? 'never-computed' : 'mismatch', wrong };
}

function combined({ results: parts, member }: MemberCheck, results: readonly StepResult[]): number {
  let crc: number | undefined;
  for (const { step, part, byteLength } of parts) {
    const next = results[step]?.crc32s[part];
    if (next === undefined) throw new RangeError(`the runner gave no CRC-32 for part ${part} of step ${step}, of ${member}`);
    crc = crc === undefined ? next : combineCrc32(crc, next, byteLength);
  }
  return (crc ?? 0) >>> 0;
}

/** Zeros are known by their CRC-32, so nothing is read again. */
function storagesAreUnwritten(checks: readonly MemberCheck[], wrong: readonly WrongMember[]): boolean {
  const storages = wrong.filter(({ check }) => check.holds === 'tensors');
  if (storages.length === 0 || storages.length < checks.filter(({ holds }) => holds === 'tensors').length) return false;
  return storages.every(({ check, found }) => found === crc32OfZeros(check.byteLength));
}
