/**
 * The `assay.convert/1` document.
 */
import { isOk, type AssayError, type Finding } from '@assay/core';
import { describePlan } from '@assay/convert';
import type { FileConversion } from '../jobs/convert.ts';
import type { Target } from '../jobs/output-path.ts';

/** What came of one input: a conversion, or the error that ended it. */
export interface ConversionOutcome {
  readonly target: Target;
  readonly conversion?: FileConversion;
  readonly error?: AssayError;
}

/** The document of a run. With one input its plan is also at the top, as `plan`. */
export function conversionDocument(outcomes: readonly ConversionOutcome[]): object {
  const files = outcomes.map(describeOutcome);
  const findings = outcomes.flatMap(findingsOf);
  const [only] = outcomes;
  const plan = outcomes.length === 1 && only?.conversion !== undefined ? describePlan(only.conversion.plan) : undefined;
  return {
    schema: 'assay.convert/1',
    ok: isOk(findings) && outcomes.every(({ error }) => error === undefined),
    complete: outcomes.every(({ error }) => error === undefined),
    findings,
    files,
    ...(plan === undefined ? {} : { plan }),
  };
}

function findingsOf({ target, conversion, error }: ConversionOutcome): readonly Finding[] {
  if (conversion !== undefined) return conversion.report?.findings ?? [...conversion.plan.findings, ...refused(conversion)];
  if (error === undefined) return [];
  if (error.findings.length > 0) return error.findings;
  return [{ code: error.code, severity: 'error', subject: { path: target.input }, args: error.context }];
}

function refused({ plan }: FileConversion): readonly Finding[] {
  return plan.leftOut.filter(({ severity }) => severity === 'error');
}

function describeOutcome({ target, conversion, error }: ConversionOutcome): object {
  if (error !== undefined) {
    const { code, message, hint, context } = error;
    return { ...target, ok: false, error: { code, message, hint, context } };
  }
  const { facts, inputByteLength, plan, report } = conversion ?? {};
  return {
    ...target,
    ok: report?.ok ?? plan?.ok,
    facts,
    inputByteLength,
    written: report !== undefined,
    byteLength: plan?.output.byteLength,
    tensors: plan?.output.tensors.length,
    digests: report?.digests,
    crc: report?.crc,
    aliases: plan?.aliases,
    leftOut: plan?.leftOut,
  };
}
