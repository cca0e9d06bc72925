/**
 * The `assay.convert/1` document.
 */
import { isOk, type AssayError, type Finding } from '@assay/core';
import { describePlan } from '@assay/convert';
import { exitCodeOfError, exitCodes } from '../exit-code.ts';
import type { FileConversion } from '../jobs/convert.ts';
import { errorFindings } from '../jobs/error-findings.ts';
import type { Target } from '../jobs/output-path.ts';
import { describeError } from './error-document.ts';

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
    complete: outcomes.every(({ error }) => error === undefined || exitCodeOfError(error) === exitCodes.wrongInput),
    findings,
    files,
    ...(plan === undefined ? {} : { plan }),
  };
}

function findingsOf({ target, conversion, error }: ConversionOutcome): readonly Finding[] {
  if (conversion !== undefined) return conversion.report?.findings ?? [...conversion.plan.findings, ...refused(conversion)];
  return error === undefined ? [] : errorFindings(error, target.input);
}

function refused({ plan }: FileConversion): readonly Finding[] {
  return plan.leftOut.filter(({ severity }) => severity === 'error');
}

function describeOutcome({ target, conversion, error }: ConversionOutcome): object {
  const { input, output } = target;
  if (error !== undefined) return { input, output, ok: false, error: describeError(error) };
  const { facts, inputByteLength, plan, report } = conversion ?? {};
  return {
    input,
    output,
    ok: report?.ok ?? plan?.ok,
    facts,
    inputByteLength,
    written: report !== undefined,
    outputExists: conversion?.outputExists,
    byteLength: plan?.output.byteLength,
    tensors: plan?.output.tensors.length,
    digests: report?.digests,
    crc: report?.crc,
    aliases: plan?.aliases,
    leftOut: plan?.leftOut,
  };
}
