/**
 * Errors in the documents of `--json`.
 */
import { isAssayError, type AssayError } from '@assay/core';
import { exitCodeOfError, exitCodes } from '../exit-code.ts';
import { errorFindings } from '../jobs/error-findings.ts';

/** The `error` of a file's entry. */
export function describeError({ code, message, hint, context }: AssayError): object {
  return { code, message, hint, context };
}

/** The `assay.error/1` document: what ended a run before there was anything to report. */
export function errorDocument(error: unknown): object {
  const known = isAssayError(error);
  const text = error instanceof Error ? error.message : String(error);
  return {
    schema: 'assay.error/1',
    ok: false,
    complete: exitCodeOfError(error) === exitCodes.wrongInput,
    findings: known ? errorFindings(error) : [],
    error: known ? describeError(error) : { code: 'IO_FAILED', message: text },
  };
}
