/**
 * An error as a person sees it: what is wrong, then what to do. Never a stack trace.
 */
import { isAssayError, type AssayError, type Finding } from '@assay/core';
import { escapeName } from './escape.ts';
import { findingWords, placesOf, renderFindings, summaryOf } from './finding.ts';
import { formatCount } from './numbers.ts';
import { actionFor, remedyFor } from './remedies.ts';

const INDENT = '       ';
const SHOWN = 10;

/** The lines for stderr: the problem, its details where there are several, and an action. */
export function renderError(error: unknown): readonly string[] {
  if (!isAssayError(error)) return unexpected(error);
  const action = actionFor(error);
  return [...problemLines(error), ...(action === undefined ? [] : [`${INDENT}${escapeName(action)}`])];
}

/** A finding about one file of several, as an error is shown. */
export function renderComplaint(one: Finding): readonly string[] {
  const remedy = remedyFor(one);
  const path = one.subject.path === undefined ? '' : `${escapeName(one.subject.path)}: `;
  return [`assay: ${path}${findingWords(one)}`, ...(remedy === undefined ? [] : [`${INDENT}${remedy}`])];
}

/** One problem is one line; several of one kind are a sentence and their places; else they are listed. */
function problemLines(error: AssayError): readonly string[] {
  const problems = error.findings.filter(({ severity }) => severity === 'error');
  const [first] = problems;
  if (first === undefined) return [`assay: ${escapeName(groupNumbers(error))}`];
  const start = `assay: ${first.subject.path === undefined ? '' : `${escapeName(first.subject.path)}: `}`;
  if (problems.length === 1) return [start + findingWords(first)];
  if (problems.every(({ code }) => code === first.code)) return [start + summaryOf(first.code), ...cutPlaces(problems)];
  return [
    `${start}${formatCount(problems.length)} problems`,
    ...renderFindings(problems, { shown: SHOWN, indent: INDENT, remedies: false }),
  ];
}

function cutPlaces(problems: readonly Finding[]): readonly string[] {
  const rest = problems.length - SHOWN;
  return [...placesOf(problems.slice(0, SHOWN), INDENT), ...(rest > 0 ? [`${INDENT}… ${formatCount(rest)} more   (--json has them all)`] : [])];
}

/** The message with the numbers of its context grouped: only these are known to be numbers, and no parts of names. */
function groupNumbers({ message, context }: AssayError): string {
  const path = context['path'];
  const skipped = typeof path === 'string' && message.startsWith(path) ? path.length : Math.max(0, message.indexOf(': '));
  let rest = message.slice(skipped);
  for (const fact of Object.values(context)) {
    const isNumber = (typeof fact === 'number' && Number.isSafeInteger(fact)) || typeof fact === 'bigint';
    if (isNumber && fact >= 1000) rest = rest.replace(new RegExp(`(?<![\\w.-])${fact}(?![\\w-])`, 'g'), formatCount(fact));
  }
  return message.slice(0, skipped) + rest;
}

function unexpected(error: unknown): readonly string[] {
  const { code, message } = error as NodeJS.ErrnoException;
  const text = message ?? String(error);
  const hint = code === undefined ? 'This is a fault of assay itself: please report it with the command that you ran.' : `The system said ${code}.`;
  return [`assay: ${escapeName(text)}`, `${INDENT}${hint}`];
}
