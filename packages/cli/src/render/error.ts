/**
 * An error as a person sees it: what is wrong, then what to do. Never a stack trace.
 */
import { isAssayError } from '@assay/core';
import { escapeName } from './escape.ts';
import { renderFindings } from './finding.ts';

const INDENT = '       ';
const SHOWN = 10;

/** The lines for stderr: the problem, its details where there are several, and an action. */
export function renderError(error: unknown): readonly string[] {
  if (!isAssayError(error)) return unexpected(error);
  const details = error.findings.length > 1 ? renderFindings(error.findings, { shown: SHOWN, indent: INDENT, remedies: error.hint === undefined }) : [];
  const hint = error.hint === undefined ? [] : [`${INDENT}${escapeName(error.hint)}`];
  return [`assay: ${escapeName(error.message)}`, ...details, ...hint];
}

function unexpected(error: unknown): readonly string[] {
  const { code, message } = error as NodeJS.ErrnoException;
  const text = message ?? String(error);
  const hint = code === undefined ? 'This is a fault of assay itself: please report it with the command that you ran.' : `The system said ${code}.`;
  return [`assay: ${escapeName(text)}`, `${INDENT}${hint}`];
}
