/**
 * Which tensors read the same bytes without being aliases: transposed, partial or sliding views of one storage.
 * Works on where the bytes are, not on storages; O(n log n).
 */
import { pieceByteLength, type Piece, type StridedView } from '@assay/core';

/** A tensor, and another whose bytes it shares. */
export interface Overlap {
  readonly name: string;
  readonly with: string;
}

/** The bytes that a piece spans, in its source or in what its member inflates to. */
interface Span {
  readonly name: string;
  readonly space: string;
  readonly start: number;
  readonly end: number;
  readonly columns: Columns | undefined;
}

/** The view as columns of a matrix: `width` bytes in each of `rows` rows that begin `pitch` bytes apart. */
interface Columns {
  readonly pitch: number;
  readonly rows: number;
  readonly width: number;
}

/**
 * Each tensor that shares bytes with another, once, in byte order.
 * Views are compared by the range that they span, but for columns cut from one matrix side by side, which share nothing;
 * other interlaced views may be named although no element is in both.
 */
export function findOverlaps(tensors: Iterable<{ readonly name: string; readonly source: readonly Piece[] }>): Overlap[] {
  const spans: Span[] = [];
  for (const { name, source } of tensors) {
    for (const piece of source) {
      if (piece.kind !== 'inline' && pieceByteLength(piece) > 0) spans.push(spanOf(name, piece));
    }
  }
  spans.sort((a, b) => (a.space === b.space ? a.start - b.start || a.end - b.end : a.space < b.space ? -1 : 1));
  const found = new Map<string, string>();
  for (const cluster of clusters(spans)) markOverlaps(narrowed(cluster), found);
  return [...found].map(([name, other]) => ({ name, with: other }));
}

function spanOf(name: string, piece: Exclude<Piece, { kind: 'inline' }>): Span {
  const storage = piece.kind === 'strided' ? piece.storage : piece;
  const inflated = storage.kind === 'inflated';
  const space = inflated ? `inflated ${storage.source} ${storage.start}` : `source ${storage.source}`;
  const base = inflated ? storage.from : storage.start;
  if (piece.kind !== 'strided') return { name, space, start: base, end: base + pieceByteLength(piece), columns: undefined };
  const { view } = piece;
  const last = view.shape.reduce((sum, size, axis) => sum + (size - 1) * (view.stride[axis] ?? 0), view.offset);
  const start = base + view.offset * view.itemSize;
  return { name, space, start, end: base + (last + 1) * view.itemSize, columns: columnsOf(view) };
}

function columnsOf({ shape, stride, itemSize }: StridedView): Columns | undefined {
  const axes = shape.map((size, axis) => ({ size, step: (stride[axis] ?? 0) * itemSize })).filter(({ size }) => size > 1);
  const outer = axes.reduce((a, b) => (b.step > a.step ? b : a), { size: 1, step: 0 });
  const width = axes.reduce((sum, axis) => (axis === outer ? sum : sum + (axis.size - 1) * axis.step), itemSize);
  return width <= outer.step ? { pitch: outer.step, rows: outer.size, width } : undefined;
}

/** Runs of spans that touch through each other. */
function* clusters(sorted: readonly Span[]): Iterable<Span[]> {
  let cluster: Span[] = [];
  let end = 0;
  for (const span of sorted) {
    if (cluster.length > 0 && (cluster[0]?.space !== span.space || span.start >= end)) {
      yield cluster;
      cluster = [];
    }
    end = cluster.length === 0 ? span.end : Math.max(end, span.end);
    cluster.push(span);
  }
  if (cluster.length > 0) yield cluster;
}

/** The cluster as ranges of columns, where all are columns of the same rows of one matrix. */
function narrowed(cluster: readonly Span[]): readonly { name: string; start: number; end: number }[] {
  const first = cluster[0];
  const narrow: { name: string; start: number; end: number }[] = [];
  for (const { name, start, columns } of cluster) {
    if (first?.columns === undefined || columns === undefined) return cluster;
    // The first view is the leftmost: whoever begins a row's width after it has other rows.
    const left = start - first.start;
    const right = left + columns.width;
    const { pitch, rows } = first.columns;
    if (columns.pitch !== pitch || columns.rows !== rows || right > pitch) return cluster;
    narrow.push({ name, start: left, end: right });
  }
  return narrow;
}

/** One sweep: whatever overlaps anything overlaps the span that reaches furthest when it begins, or is that span. */
function markOverlaps(sorted: readonly { name: string; start: number; end: number }[], found: Map<string, string>): void {
  let furthest: { name: string; end: number } | undefined;
  for (const { name, start, end } of sorted) {
    if (furthest !== undefined && start < furthest.end && furthest.name !== name) {
      if (!found.has(furthest.name)) found.set(furthest.name, name);
      if (!found.has(name)) found.set(name, furthest.name);
    }
    if (furthest === undefined || end > furthest.end) furthest = { name, end };
  }
}
