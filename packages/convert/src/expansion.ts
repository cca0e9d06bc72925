/**
 * The budget for output, as a finding: expanded strides and overlapping views make a small file write a large one.
 * The rule itself is that of the reader, which knows no `onAlias`.
 */
import { finding, isAssayError, type Finding, type Limits, type TensorInfo } from '@assay/core';
import { checkExpansion } from '@assay/formats';

/** An error `LIMIT_EXCEEDED` that names the largest tensor, where more would be written than the limits allow of so many source bytes. */
export function expansionFindings(
  written: readonly TensorInfo[],
  { path, sourceByteLength, limits }: { readonly path: string; readonly sourceByteLength: number; readonly limits?: Partial<Limits> | undefined },
): Finding[] {
  try {
    checkExpansion({ where: path, sourceByteLength, tensors: written, piecesOf: () => [], aliases: 'each' }, limits);
    return [];
  } catch (failure) {
    if (!isAssayError(failure)) throw failure;
    const largest = written.reduce((a, b) => (b.byteLength > a.byteLength ? b : a));
    return [finding(failure.code, 'error', { path, tensor: largest.name }, { ...failure.context, tensorByteLength: largest.byteLength, sourceByteLength })];
  }
}
