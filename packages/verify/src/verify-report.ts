/**
 * What verification returns: one entry a file, and the sum of them.
 */
import { blameOf, finding, isAssayError, isOk, type Digests, type Finding, type Report } from '@assay/core';
import type { Expectation } from './expectation.ts';

/**
 * `ok`: every expected digest was found. `mismatch`: digest or size is wrong. `missing`: there is no such file.
 * `unreadable`: there is no answer, the finding says why. `unverified`: there was no digest to compare with.
 */
export type FileStatus = 'ok' | 'mismatch' | 'unreadable' | 'missing' | 'unverified';

/** What was found of one file. */
export interface VerifiedFile {
  readonly name: string;
  readonly status: FileStatus;
  /** Absent where the file could not be opened. */
  readonly byteLength: number | undefined;
  /** As computed; empty where the file was not read. */
  readonly digests: Digests;
  readonly expected: Expectation;
  readonly findings: readonly Finding[];
}

/** How many files have which status, and the bytes of those that were hashed. */
export interface VerifyTotals extends Readonly<Record<FileStatus, number>> {
  readonly files: number;
  readonly byteLength: number;
}

/** The report of a verification. `complete` is false when a file could not be read. */
export interface VerifyReport extends Report {
  /** In the input's order. */
  readonly files: readonly VerifiedFile[];
  readonly totals: VerifyTotals;
}

/** The report of files; `before` are findings that come first, as those of a checksum file. */
export function reportOf(files: readonly VerifiedFile[], before: readonly Finding[] = []): VerifyReport {
  const findings = [...before, ...files.flatMap((file) => file.findings)];
  const totals = totalsOf(files);
  // A file that could not be read has its own error; only a silent nothing needs a word.
  if (totals.ok === 0 && isOk(findings)) findings.push(finding('VERIFY_NOTHING_VERIFIED', 'error', {}, { files: files.length }));
  return { ok: isOk(findings), complete: !findings.some(leavesUnanswered), findings, files, totals };
}

function leavesUnanswered({ severity, code }: Finding): boolean {
  return severity === 'error' && blameOf(code) === 'world';
}

function totalsOf(files: readonly VerifiedFile[]): VerifyTotals {
  const totals = { files: files.length, byteLength: 0, ok: 0, mismatch: 0, unreadable: 0, missing: 0, unverified: 0 };
  for (const { status, digests, byteLength } of files) {
    totals[status] += 1;
    if (digests.size > 0) totals.byteLength += byteLength ?? 0;
  }
  return totals;
}

/** The finding of a file that could not be opened or read. */
export function failureFinding(path: string, failure: unknown): Finding {
  if (isAssayError(failure)) return finding(failure.code, 'error', { path }, failure.context);
  return finding('IO_FAILED', 'error', { path }, { cause: failure instanceof Error ? failure.message : String(failure) });
}

/** The status of a file that could not be opened or read. */
export function statusOfFailure(failure: unknown): 'missing' | 'unreadable' {
  return isAssayError(failure) && failure.code === 'SOURCE_NOT_FOUND' ? 'missing' : 'unreadable';
}
