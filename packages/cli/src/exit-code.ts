/**
 * Exit codes, and how a report or an error becomes one.
 */
import { blameOf, isAssayError, type Report } from '@assay/core';

/** See the README: 0 answered, 1 the input is wrong, 2 not answered for a reason outside it, 64 usage, 130 interrupted. */
export const exitCodes = { ok: 0, wrongInput: 1, notAnswered: 2, usage: 64, interrupted: 130 } as const;

/** From which severity on a finding fails a run. */
export type FailOn = 'error' | 'warning';

/** The exit code of a report: findings beat incompleteness. */
export function exitCodeOf(report: Report, failOn: FailOn = 'error'): number {
  const failing = report.findings.filter(
    ({ severity }) => severity === 'error' || (failOn === 'warning' && severity === 'warning'),
  );
  if (failing.some(({ code }) => blameOf(code) !== 'world')) return exitCodes.wrongInput;
  if (failing.length > 0 || !report.complete) return exitCodes.notAnswered;
  return report.ok ? exitCodes.ok : exitCodes.wrongInput;
}

/** The exit code of an error that ended a run. */
export function exitCodeOfError(error: unknown): number {
  return isAssayError(error) && blameOf(error.code) !== 'world' ? exitCodes.wrongInput : exitCodes.notAnswered;
}

/** The exit code of several inputs: a finding beats a missing answer, and that beats success. */
export function worstExitCode(codes: readonly number[]): number {
  const order: readonly number[] = [exitCodes.wrongInput, exitCodes.notAnswered];
  return order.find((code) => codes.includes(code)) ?? exitCodes.ok;
}
