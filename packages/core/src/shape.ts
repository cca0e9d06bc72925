/**
 * Checked arithmetic over shapes.
 * A dimension is a number, or a bigint above 2^53-1 (legal where another dimension is 0).
 */
import { dtypeFacts, type DType } from './dtype.ts';

/** One dimension, in elements. */
export type Dimension = number | bigint;

/** The sizes of a tensor, outermost first; `[]` is a scalar. */
export type Shape = readonly Dimension[];

const U64_MAX = 0xffff_ffff_ffff_ffffn;

/** A bigint as one checked number, or `undefined` above 2^53-1 or below 0. */
export function toSafeNumber(value: bigint): number | undefined {
  return value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : undefined;
}

/** A dimension read from a file: a number where it is exact, else the bigint. */
export function toDimension(value: bigint): Dimension {
  return toSafeNumber(value) ?? value;
}

/** The number of elements, or `undefined` when a product passes 2^64-1 on the way (also before a later 0, as in the reference). */
export function elementCount(shape: Shape): bigint | undefined {
  let count = 1n;
  for (const dimension of shape) {
    count *= BigInt(dimension);
    if (count > U64_MAX) return undefined;
  }
  return count;
}

/** The size of a tensor in bytes, or what forbids it. */
export type TensorSize =
  | { readonly ok: true; readonly byteLength: number }
  | { readonly ok: false; readonly problem: 'overflow' | 'not-whole-bytes' | 'not-exact'; readonly bits: bigint };

/**
 * The bytes a tensor takes without gaps.
 * `overflow`: past 2^64-1 bits; `not-whole-bytes`: sub-byte elements that do not fill the last byte;
 * `not-exact`: more than 2^53-1 bytes.
 */
export function tensorSize(dtype: DType, shape: Shape): TensorSize {
  const count = elementCount(shape);
  const bits = (count ?? U64_MAX) * BigInt(dtypeFacts(dtype).bits);
  if (count === undefined || bits > U64_MAX) return { ok: false, problem: 'overflow', bits };
  if (bits % 8n !== 0n) return { ok: false, problem: 'not-whole-bytes', bits };
  const byteLength = toSafeNumber(bits / 8n);
  return byteLength === undefined ? { ok: false, problem: 'not-exact', bits } : { ok: true, byteLength };
}

/** The strides, in elements, of a C-order tensor. */
export function contiguousStride(shape: readonly number[]): number[] {
  const stride = new Array<number>(shape.length);
  let step = 1;
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    stride[axis] = step;
    step *= Math.max(1, shape[axis] ?? 1);
  }
  return stride;
}

/** True when the strides walk the elements one after another in C order; axes of size 1 may carry any stride, zero elements too. */
export function isContiguous(shape: readonly number[], stride: readonly number[]): boolean {
  if (shape.includes(0)) return true;
  let step = 1;
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    const size = shape[axis] ?? 1;
    if (size === 1) continue;
    if (stride[axis] !== step) return false;
    step *= size;
  }
  return true;
}
