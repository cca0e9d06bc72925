/**
 * The one error of Assay for what goes wrong in the world; a caller's mistake is a `TypeError`.
 * Recognised by brand, so that it survives structured clone, several copies of this package and worker threads.
 */
import { isCode, type Code } from './codes.ts';
import type { Facts, Finding } from './findings.ts';

const BRAND = 'AssayError';

/** What an `AssayError` carries beside its code. */
export interface AssayErrorOptions {
  /** What was found and what was expected, in one sentence. */
  readonly message: string;
  /** What to do about it: an action. */
  readonly hint?: string;
  /** The numbers behind the message: offsets in bytes, found and expected values. */
  readonly context?: Facts;
  readonly cause?: unknown;
  /** Every problem, in file order, where there may be several. */
  readonly findings?: readonly Finding[];
}

/** An error of the world or of the input: a code, what was found, what was expected, what to do. */
export class AssayError extends Error {
  readonly code: Code;
  readonly hint: string | undefined;
  readonly context: Facts;
  readonly findings: readonly Finding[];

  constructor(code: Code, options: AssayErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = BRAND;
    this.code = code;
    this.hint = options.hint;
    this.context = options.context ?? {};
    this.findings = options.findings ?? [];
  }
}

/** The plain data of an `AssayError`, as it travels between threads and processes. */
export interface AssayErrorData {
  readonly name: 'AssayError';
  readonly code: Code;
  readonly message: string;
  readonly hint: string | undefined;
  readonly context: Facts;
  readonly findings: readonly Finding[];
}

/** True for an `AssayError`, also one from another copy of this package or revived from another thread. */
export function isAssayError(value: unknown): value is AssayError {
  if (typeof value !== 'object' || value === null) return false;
  const { name, code } = value as { name?: unknown; code?: unknown };
  return name === BRAND && typeof code === 'string' && isCode(code);
}

/** The error as plain data: structured clone of an `Error` drops every field but its message. */
export function errorToData(error: AssayError): AssayErrorData {
  const { code, message, hint, context, findings } = error;
  return { name: BRAND, code, message, hint, context, findings };
}

/** The error again, on the other side of a thread or process. */
export function errorFromData(data: AssayErrorData): AssayError {
  const { code, message, hint, context, findings } = data;
  return new AssayError(code, { message, context, findings, ...(hint === undefined ? {} : { hint }) });
}
