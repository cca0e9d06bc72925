/**
 * Proof that a safetensors layout is sound: each range has the size of its shape and dtype, and all ranges together
 * cover the data once, from its first byte to the file's end.
 * Pure: no I/O. Collects every problem; the rules decide which are fatal. The only proof of a layout.
 */
import { dtypeFacts, tensorSize, toDimension, type Dimension, type DType, type Shape } from '@assay/core';
import type { HeaderEntry } from './header-entry.ts';
import type { OddityList } from './oddities.ts';

/** An entry whose range is understood. Offsets are bytes of the data. */
type Ranged = HeaderEntry & { begin: Dimension; end: Dimension };

/** The file around the data, in bytes. */
export interface DataBounds {
  /** Where the data begins in the file. */
  readonly start: number;
  /** The file's size. */
  readonly end: number;
}

/**
 * Notes every way in which the entries do not fit together (`Metadata::validate` in `tensor.rs`, and alignment).
 * @returns the entries that have a sound size, in the order of their data
 */
export function proveLayout(entries: Iterable<HeaderEntry>, bounds: DataBounds, oddities: OddityList): HeaderEntry[] {
  const ranged: Ranged[] = [];
  const unsound = new Set<HeaderEntry>();
  let areAllRanged = true;
  for (const entry of entries) {
    if (!checkSize(entry, oddities)) unsound.add(entry);
    if (isRanged(entry)) ranged.push(entry);
    else areAllRanged = false;
  }
  ranged.sort((a, b) => compare(a.begin, b.begin) || compare(a.end, b.end));
  checkCoverage(ranged, bounds, areAllRanged, oddities);
  checkAlignment(ranged, bounds, oddities);
  return unsound.size === 0 ? ranged : ranged.filter((entry) => !unsound.has(entry));
}

function isRanged(entry: HeaderEntry): entry is Ranged {
  return entry.begin !== undefined && entry.end !== undefined;
}

function compare(a: Dimension, b: Dimension): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

function minus(a: Dimension, b: Dimension): Dimension {
  return typeof a === 'number' && typeof b === 'number' ? a - b : toSigned(BigInt(a) - BigInt(b));
}

function toSigned(value: bigint): Dimension {
  return value < 0n ? value : toDimension(value);
}

/** Notes a size that cannot be, or is not the range's. True when the tensor's bytes are understood. */
function checkSize(entry: HeaderEntry, oddities: OddityList): boolean {
  const { dtype, shape, begin, end } = entry;
  if (dtype === undefined || shape === undefined) return false;
  const size = byteSize(dtype, shape);
  const where = { tensor: entry.name, start: entry.rangeStart, end: entry.rangeEnd };
  const facts = { dtype, shape: shape.slice(0, 64) };
  if (size === 'overflow') {
    oddities.add('SAFETENSORS_SHAPE_OVERFLOW', where, { ...facts, expected: 'at most 2^64-1 bits' });
    return false;
  }
  if (size === 'fraction') {
    oddities.add('SAFETENSORS_SIZE_FRACTION', where, { ...facts, expected: 'whole bytes' });
    return false;
  }
  if (begin === undefined || end === undefined) return false;
  const length = minus(end, begin);
  if (length === size) return typeof size === 'number';
  oddities.add('SAFETENSORS_SIZE_MISMATCH', where, { ...facts, found: length, expected: size });
  return false;
}

/** Products below this are exact as doubles, times 64 bits. */
const EXACT_ELEMENTS = 2 ** 46;

function byteSize(dtype: DType, shape: Shape): Dimension | 'overflow' | 'fraction' {
  let count = 1;
  for (const dimension of shape) {
    if (typeof dimension === 'bigint') return exactByteSize(dtype, shape);
    count *= dimension;
    if (count > EXACT_ELEMENTS) return exactByteSize(dtype, shape);
  }
  const bits = count * dtypeFacts(dtype).bits;
  return bits % 8 === 0 ? bits / 8 : 'fraction';
}

function exactByteSize(dtype: DType, shape: Shape): Dimension | 'overflow' | 'fraction' {
  const size = tensorSize(dtype, shape);
  if (size.ok) return size.byteLength;
  if (size.problem === 'overflow') return 'overflow';
  return size.problem === 'not-whole-bytes' ? 'fraction' : size.bits / 8n;
}

function checkCoverage(ranged: readonly Ranged[], bounds: DataBounds, areAllRanged: boolean, oddities: OddityList): void {
  const dataLength = bounds.end - bounds.start;
  let covered: Dimension = 0;
  let last: Ranged | undefined;
  for (const entry of ranged) {
    const { name, begin, end } = entry;
    if (begin > covered && areAllRanged) {
      oddities.add('SAFETENSORS_DATA_HOLE', fileRange(bounds, covered, begin, name), { found: begin, expected: covered });
    } else if (begin < covered) {
      const shared = end < covered ? end : covered;
      const facts = { other: last?.name ?? null, found: begin, expected: covered };
      oddities.add('SAFETENSORS_DATA_OVERLAP', fileRange(bounds, begin, shared, name), facts);
    }
    if (end >= covered) {
      covered = end;
      last = entry;
    }
  }
  if (covered > dataLength) noteShort(ranged, bounds, covered, oddities);
  if (covered < dataLength && areAllRanged) {
    const where = { start: bounds.start + Number(covered), end: bounds.end };
    oddities.add('SAFETENSORS_DATA_TRAILING', where, { found: dataLength, expected: covered, bytes: minus(dataLength, covered) });
  }
}

function noteShort(ranged: readonly Ranged[], bounds: DataBounds, covered: Dimension, oddities: OddityList): void {
  const dataLength = bounds.end - bounds.start;
  const cut = ranged.filter(({ end }) => end > dataLength);
  const tensor = cut[0]?.name;
  oddities.add(
    'SAFETENSORS_DATA_SHORT',
    { start: bounds.end, end: bounds.end, ...(tensor === undefined ? {} : { tensor }) },
    { found: dataLength, expected: covered, missing: minus(covered, dataLength), whole: ranged.length - cut.length, cut: cut.length },
  );
}

/** Bytes of the data as bytes of the file, cut at its end. */
function fileRange(bounds: DataBounds, begin: Dimension, end: Dimension, tensor: string): { tensor: string; start: number; end: number } {
  const inFile = (offset: Dimension): number => Math.min(bounds.end, bounds.start + Number(offset));
  return { tensor, start: inFile(begin), end: inFile(end) };
}

/** Legal, but a reader that maps the file cannot use the numbers in place. */
function checkAlignment(ranged: readonly Ranged[], bounds: DataBounds, oddities: OddityList): void {
  const filled = ranged.filter(({ begin, end }) => begin < end);
  if (filled.length > 0 && bounds.start % 8 !== 0) {
    oddities.add('SAFETENSORS_UNALIGNED', { start: 0, end: 8 }, { what: 'header', found: bounds.start - 8, expected: 8 });
  }
  const unaligned = filled.filter(({ dtype, begin }) => dtype !== undefined && Number(begin) % dtypeFacts(dtype).swapWidth !== 0);
  const first = unaligned[0];
  if (first?.dtype === undefined) return;
  const facts = { what: 'tensors', count: unaligned.length, found: first.begin, expected: dtypeFacts(first.dtype).swapWidth };
  oddities.add('SAFETENSORS_UNALIGNED', fileRange(bounds, first.begin, first.end, first.name), facts);
}
