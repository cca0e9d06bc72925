/**
 * What is wrong with a tensor, before it is known where it stands in the checkpoint.
 */
import type { Code, Facts } from '@assay/core';

/** Why a tensor cannot be had: `refused` is a sound tensor of a kind that is not read here, `malformed` is none at all. */
export interface TensorProblem {
  readonly kind: 'refused' | 'malformed';
  readonly code: Code;
  readonly args: Facts;
}

/** A tensor of a kind that is not read here. */
export function refused(code: Code, args: Facts): TensorProblem {
  return { kind: 'refused', code, args };
}

/** Something that only looks like a tensor. */
export function malformed(code: Code, args: Facts): TensorProblem {
  return { kind: 'malformed', code, args };
}

/** True for a problem among other results. */
export function isProblem(value: { readonly kind?: unknown }): value is TensorProblem {
  return value.kind === 'refused' || value.kind === 'malformed';
}
