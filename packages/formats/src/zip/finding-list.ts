/**
 * Findings as they are collected: a hostile directory must not make a million of them.
 */
import { finding, type Code, type Facts, type Finding, type Severity, type Subject } from '@assay/core';

/** More than this many say nothing new. */
const MOST = 1000;

/** Collects findings about one file, and keeps the first thousand. */
export class FindingList {
  #path: string;
  #findings: Finding[] = [];
  #cut = 0;
  #cutErrors = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Takes note of something at bytes [start, end) of the file. */
  add(code: Code, severity: Severity, where: Omit<Subject, 'path'>, args: Facts = {}): void {
    if (this.#findings.length < MOST) {
      this.#findings.push(finding(code, severity, { path: this.#path, ...where }, args));
      return;
    }
    this.#cut += 1;
    if (severity === 'error') this.#cutErrors += 1;
  }

  /** Takes over findings of the same file. */
  addAll(findings: readonly Finding[]): void {
    for (const { code, severity, subject, args } of findings) this.add(code, severity, subject, args);
  }

  /** In file order; what was cut is one finding at the end. */
  inFileOrder(): Finding[] {
    const sorted = this.#findings.toSorted((a, b) => (a.subject.start ?? 0) - (b.subject.start ?? 0));
    if (this.#cut === 0) return sorted;
    const severity = this.#cutErrors > 0 ? 'error' : 'warning';
    return [...sorted, finding('ZIP_FINDINGS_CUT', severity, { path: this.#path }, { count: this.#cut, listed: MOST })];
  }
}
