/**
 * The budget for output: expanded strides and overlapping views make a small file write a large one.
 * A view of one element expanded to 10^12 is a file of 1.6 KB that asks for 4 TB.
 */
import { finding, type Finding, type Limits } from '@assay/core';

/**
 * Checks the bytes to write against those of the sources.
 * @returns an error `LIMIT_EXCEEDED` that names the largest tensor, or nothing
 */
export function checkExpansion(
  tensors: Iterable<{ readonly name: string; readonly byteLength: number }>,
  { path, sourceBytes, limits }: { readonly path: string; readonly sourceBytes: number; readonly limits: Limits },
): Finding | undefined {
  const allowed = Math.max(limits.freeExpansionBytes, limits.maxExpansionRatio * sourceBytes);
  let found = 0n;
  let largest: { readonly name: string; readonly byteLength: number } | undefined;
  for (const tensor of tensors) {
    found += BigInt(tensor.byteLength);
    if (largest === undefined || tensor.byteLength > largest.byteLength) largest = tensor;
  }
  if (largest === undefined || found <= BigInt(Math.floor(allowed))) return undefined;
  const args = { limit: 'maxExpansionRatio', found, allowed, sourceBytes, tensorBytes: largest.byteLength };
  return finding('LIMIT_EXCEEDED', 'error', { path, tensor: largest.name }, args);
}
