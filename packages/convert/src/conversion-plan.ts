/**
 * The plan of a conversion as a value: plain data that survives structured clone.
 * How it is made is in `plan`, how it is printed in `describe-plan`.
 */
import type { CopyStep, DType, Finding, Format, Piece, Shape } from '@assay/core';

/** What is done with several names of one tensor: kept once and recorded in the metadata, written for each name, or refused. */
export type OnAlias = 'record' | 'copy' | 'fail';

/** A tensor of the output. Offsets are bytes [start, end) of the output file. */
export interface PlannedTensor {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
  readonly start: number;
  readonly end: number;
  /** Where its bytes come from, in order. */
  readonly source: readonly Piece[];
}

/** A name that is not written, because it is the tensor `keptAs`. */
export interface Alias {
  readonly name: string;
  readonly keptAs: string;
}

/** The CRC-32 of a run of a member's bytes is the result of one part of one step. */
export interface CheckResult {
  readonly step: number;
  readonly part: number;
  readonly byteLength: number;
}

/** The proof of one member: the results, in order, cover all its bytes once and combine to `crc32`. */
export interface MemberCheck {
  readonly member: string;
  /** Index into the archive's sources. */
  readonly source: number;
  /** Bytes [start, end) of the source. */
  readonly start: number;
  readonly end: number;
  /** Of what the CRC-32 is taken: inflated, where the member is deflated. */
  readonly byteLength: number;
  /** As the container states it. */
  readonly crc32: number;
  /** `tensors`: written tensors lie in it; `record`: it says how they are read. */
  readonly holds: 'tensors' | 'record';
  readonly results: readonly CheckResult[];
}

/** A conversion, planned. When it is not `ok` there are no steps. */
export interface ConversionPlan {
  readonly input: { readonly name: string; readonly byteLength: number; readonly format: Format };
  readonly output: {
    readonly byteLength: number;
    /** The first bytes of the output: length, JSON, padding. Empty where the tensors can have no header. */
    readonly header: Uint8Array;
    /** Sorted by code point. */
    readonly metadata: ReadonlyMap<string, string>;
    /** In the order of their bytes. */
    readonly tensors: readonly PlannedTensor[];
  };
  /** Sorted by output position; together they write every output byte once. */
  readonly steps: readonly CopyStep[];
  readonly checks: readonly MemberCheck[];
  /** Sorted by code point. */
  readonly aliases: readonly Alias[];
  /** What the file holds beside these tensors; severity `error`: weights that cannot be had. */
  readonly leftOut: readonly Finding[];
  /** Those of the archive, then those of the plan. */
  readonly findings: readonly Finding[];
  /** False when anything of severity `error` was found: the plan cannot be executed. */
  readonly ok: boolean;
}
