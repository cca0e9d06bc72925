/**
 * Findings and reports: what a job has to say, as data.
 * No words here: the renderer has them.
 */
import type { Code } from './codes.ts';

/** Plain facts behind a code: survives structured clone and, but for bigint, JSON. */
export type Fact = string | number | bigint | boolean | null | readonly Fact[] | { readonly [name: string]: Fact };

/** Named facts. Names are ours, never a file's. */
export type Facts = Readonly<Record<string, Fact>>;

/** `error` fails a run, `warning` is shown, `info` is listed. */
export type Severity = 'info' | 'warning' | 'error';

/** What a finding is about. Offsets are bytes in `path`, or in `member` where there is one. */
export interface Subject {
  readonly path?: string;
  readonly member?: string;
  readonly tensor?: string;
  /** Bytes [start, end). */
  readonly start?: number;
  readonly end?: number;
}

/** One thing found, in file order among others. */
export interface Finding {
  readonly code: Code;
  readonly severity: Severity;
  readonly subject: Subject;
  readonly args: Facts;
}

/** What every job returns at least. `complete` is false when something could not be looked at. */
export interface Report {
  readonly ok: boolean;
  readonly complete: boolean;
  readonly findings: readonly Finding[];
}

/** A finding, shortly written. */
export function finding(code: Code, severity: Severity, subject: Subject, args: Facts = {}): Finding {
  return { code, severity, subject, args };
}

/** True when nothing of severity `error` is among the findings. */
export function isOk(findings: readonly Finding[]): boolean {
  return findings.every(({ severity }) => severity !== 'error');
}
