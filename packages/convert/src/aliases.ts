/**
 * Which names are one and the same tensor, and which of them is kept.
 * An alias has the same storage, dtype, byte range, shape and stride; anything else that overlaps is in `overlaps`.
 */
import type { Piece, TensorInfo } from '@assay/core';
import { compareCodePoints } from 'safetensors-js';
import { isOutputHead } from './names.ts';

/** Names of one tensor. */
export interface AliasGroup {
  readonly kept: string;
  /** Sorted by code point. */
  readonly others: readonly string[];
}

/**
 * Groups of two or more names of one tensor, in the order in which the file first names them.
 * Empty tensors are never shared (torch binding of safetensors, `_find_shared_tensors`); linear in names, but for sorting each group.
 */
export function findAliases(
  tensors: Iterable<TensorInfo>,
  piecesOf: (name: string) => readonly Piece[],
): AliasGroup[] {
  const groups = new Map<string, string[]>();
  for (const tensor of tensors) {
    const key = identityOf(tensor, piecesOf);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [tensor.name]);
    else group.push(tensor.name);
  }
  return [...groups.values()].filter((names) => names.length > 1).map(chooseKept);
}

/** Equal for names that are one tensor; lazy conj and neg bits count, as they change the bytes written. */
function identityOf({ name, dtype, shape, byteLength, view }: TensorInfo, piecesOf: (name: string) => readonly Piece[]): string | undefined {
  if (view === undefined || byteLength === 0) return undefined;
  const transforms = piecesOf(name).map((piece) => (piece.kind === 'inline' ? null : (piece.transform ?? null)));
  return JSON.stringify([dtype, view.byteOffset, shape.map(String), view.stride, transforms, view.storage]);
}

/**
 * The smallest name by code point, an output head's only where there is no other.
 * Whether a name covers its storage decides nothing here: names of one group all do, or none does.
 */
function chooseKept(names: string[]): AliasGroup {
  const sorted = names.toSorted(compareCodePoints);
  const kept = sorted.find((name) => !isOutputHead(name)) ?? sorted[0] ?? '';
  return { kept, others: sorted.filter((name) => name !== kept) };
}
