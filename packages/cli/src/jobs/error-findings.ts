/**
 * An error that ended the work on one file, as the findings that a report has.
 */
import { finding, type AssayError, type Finding } from '@assay/core';

/** The error's own findings, or one made of its code. */
export function errorFindings({ code, context, findings }: AssayError, path?: string): readonly Finding[] {
  if (findings.length > 0) return findings;
  const { offset } = context;
  return [finding(code, 'error', { ...(path === undefined ? {} : { path }), ...(typeof offset === 'number' ? { start: offset } : {}) }, context)];
}
