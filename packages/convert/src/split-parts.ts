/**
 * Cuts large work into parts that several threads can share.
 * Ranges are cut at whole pages, views along their outermost axes, so each part is again a range or a view.
 */
import { pieceByteLength, type RangePiece, type StridedPiece } from '@assay/core';

/** No part copies more, so that several threads can share one large tensor. */
export const MAX_PART_BYTES: number = 64 << 20;

// A page, and a multiple of every transform unit (at most 16 bytes).
const GRAIN = 4096;

/** Bytes [start, end) as even runs of at most `MAX_PART_BYTES`, cut at multiples of a page from `start`. */
export function splitRange(start: number, end: number): { start: number; end: number }[] {
  const length = end - start;
  const size = Math.ceil(length / Math.ceil(length / MAX_PART_BYTES) / GRAIN) * GRAIN;
  const runs: { start: number; end: number }[] = [];
  for (let from = start; from < end; from += size) runs.push({ start: from, end: Math.min(end, from + size) });
  return runs;
}

/** A range as parts; `at` is where its first byte is written. */
export function splitRangePiece(piece: RangePiece, at: number): { piece: RangePiece; at: number }[] {
  if (piece.end - piece.start <= MAX_PART_BYTES) return [{ piece, at }];
  return splitRange(piece.start, piece.end).map((run) => ({ piece: { ...piece, ...run }, at: at + run.start - piece.start }));
}

/** A view as views of at most `MAX_PART_BYTES` that follow each other in C order. */
export function splitStridedPiece(piece: StridedPiece, at: number): { piece: StridedPiece; at: number }[] {
  const { shape, stride, itemSize, offset } = piece.view;
  if (pieceByteLength(piece) <= MAX_PART_BYTES) return [{ piece, at }];
  // The outermost axis whose single steps are small enough is cut into runs; those outside it are walked one by one.
  let axis = shape.length;
  let rowBytes = itemSize;
  while (axis > 0 && rowBytes * (shape[axis - 1] ?? 1) <= MAX_PART_BYTES) {
    axis -= 1;
    rowBytes *= shape[axis] ?? 1;
  }
  const cut = axis - 1;
  const size = shape[cut] ?? 1;
  const runs = Math.ceil(size / Math.max(1, Math.floor(MAX_PART_BYTES / rowBytes)));
  const rows = Math.ceil(size / runs);
  const parts: { piece: StridedPiece; at: number }[] = [];
  let position = at;
  for (const base of outerOffsets(shape.slice(0, cut), stride, offset)) {
    for (let row = 0; row < size; row += rows) {
      const count = Math.min(rows, size - row);
      const view = {
        shape: [count, ...shape.slice(axis)],
        stride: stride.slice(cut),
        offset: base + row * (stride[cut] ?? 0),
        itemSize,
      };
      parts.push({ piece: { ...piece, view }, at: position });
      position += count * rowBytes;
    }
  }
  return parts;
}

/** The offsets, in elements, of every index of the outer axes, in C order. */
function* outerOffsets(shape: readonly number[], stride: readonly number[], offset: number): Iterable<number> {
  const count = shape.reduce((product, size) => product * size, 1);
  for (let index = 0; index < count; index += 1) {
    let [rest, at] = [index, offset];
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      const size = shape[axis] ?? 1;
      at += (rest % size) * (stride[axis] ?? 0);
      rest = Math.floor(rest / size);
    }
    yield at;
  }
}
