/**
 * How much a file would become: expanded strides and overlapping views make terabytes of kilobytes.
 */
import { limitExceeded, resolveLimits, type Limits, type Piece, type TensorInfo } from '@assay/core';

/** What is to be written of which source. */
export interface Expansion {
  /** Names the file. */
  readonly where: string;
  /** Of the source, in bytes. */
  readonly sourceByteLength: number;
  readonly tensors: Iterable<TensorInfo>;
  /** Of a tensor by name: lazy bits tell equal views apart. */
  readonly piecesOf: (name: string) => readonly Piece[];
  /** Whether equal views of one storage are written once, or each under its name. */
  readonly aliases: 'once' | 'each';
}

/**
 * Refuses what would write more than `limits.maxExpansionRatio` bytes for each byte of the source, beyond `limits.freeExpansionBytes`.
 * Pure; returns the bytes that would be written.
 * @throws {AssayError} `LIMIT_EXCEEDED`
 */
export function checkExpansion(expansion: Expansion, limits?: Partial<Limits>): number {
  const { maxExpansionRatio, freeExpansionBytes } = resolveLimits(limits);
  const { where, sourceByteLength, tensors, piecesOf, aliases } = expansion;
  const allowed = Math.max(freeExpansionBytes, maxExpansionRatio * sourceByteLength);
  const seen = new Set<string>();
  let written = 0;
  for (const tensor of tensors) {
    if (aliases === 'once' && tensor.view !== undefined) {
      // A name takes more than 16 bytes of pickle, so small tensors stay below the ratio without a key.
      const key = tensor.byteLength > 1024 ? viewKey(tensor, piecesOf) : undefined;
      if (key !== undefined && seen.has(key)) continue;
      if (key !== undefined) seen.add(key);
    }
    written += tensor.byteLength;
    if (written > allowed) {
      throw limitExceeded('maxExpansionRatio', { where: `${where}: ${JSON.stringify(tensor.name)}`, found: written, allowed });
    }
  }
  return written;
}

function viewKey({ name, dtype, shape, view }: TensorInfo, piecesOf: (name: string) => readonly Piece[]): string {
  const transforms = piecesOf(name).map((piece) => (piece.kind === 'inline' ? null : (piece.transform ?? null)));
  return JSON.stringify([dtype, shape.map(String), view?.byteOffset, view?.stride, transforms, view?.storage]);
}
