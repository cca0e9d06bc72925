/**
 * Finds the end of a zip file: which end record counts, what zip64 says, where the directory lies.
 * Readers differ in which of several ends they take, so more than one is an error.
 */
import { AssayError, readBytes, type ByteSource, type Facts, type TransferOptions } from '@assay/core';
import type { FindingList } from './finding-list.ts';
import { hasSignature, MARKER_16, MARKER_32, readEnd, readEnd64, readLocator64, signatures, sizes, viewOf, type EndRecord } from './records.ts';

/** The longest comment and all end records, rounded up: one read finds every sound end. */
export const TAIL_BYTES: number = 68 * 1024;
/** What is searched when nothing was found: bytes appended to an archive hide its end from other readers. */
const WIDE_TAIL_BYTES = 1 << 20;

/** Where the directory lies. Offsets are bytes of the file, whatever stands before the archive. */
export interface ZipEnd {
  readonly directoryStart: number;
  readonly directoryEnd: number;
  readonly count: number;
  readonly zip64: boolean;
  readonly comment: Uint8Array;
  /** Bytes before the archive: what its own offsets do not count. */
  readonly prefixByteLength: number;
  /** The end of the file that was read, for a directory that lies in it. */
  readonly tail: Uint8Array;
  readonly tailStart: number;
}

interface Tail {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Offset of its first byte in the file. */
  readonly start: number;
}

interface Directory {
  readonly start: number | undefined;
  readonly byteLength: number | undefined;
  readonly count: number | undefined;
  /** Where the end records begin: the directory ends there. */
  readonly recordsStart: number;
  readonly zip64: boolean;
}

/**
 * Reads the end of the file, once, and finds the directory.
 * @throws {AssayError} `ZIP_DIRECTORY_MISSING`, `ZIP_DIRECTORY_OUT_OF_RANGE`; as `ByteSource.readInto`
 */
export async function readZipEnd(source: ByteSource, findings: FindingList, options: TransferOptions): Promise<ZipEnd> {
  let tail = await readTail(source, TAIL_BYTES, options);
  let position = chooseEnd(tail);
  if (position === undefined && tail.start > 0) {
    tail = await readTail(source, WIDE_TAIL_BYTES, options);
    position = chooseEnd(tail);
  }
  if (position === undefined) throw directoryMissing(source, tail);
  const end = readEnd(tail.view, position);
  judgeEnd(tail, position, end, findings);
  const directory = await readZip64(source, tail, position, end, findings, options);
  const placed = placeDirectory(source, tail, directory, findings);
  return {
    ...placed,
    count: directory.count ?? 0,
    zip64: directory.zip64,
    comment: tail.bytes.subarray(position + sizes.end, position + sizes.end + end.commentByteLength),
    tail: tail.bytes,
    tailStart: tail.start,
  };
}

async function readTail(source: ByteSource, byteLength: number, options: TransferOptions): Promise<Tail> {
  const start = Math.max(0, source.size - byteLength);
  const bytes = await readBytes(source, start, source.size, options);
  return { bytes, view: viewOf(bytes), start };
}

/** The last end record whose comment ends with the file; else the last that a directory precedes. */
function chooseEnd({ bytes, view }: Tail): number | undefined {
  const candidates = endCandidates(bytes, view);
  const exact = candidates.find((position) => commentEnd(view, position) === bytes.length);
  // A zip stored inside a truncated one has an end too, but not where its offsets say.
  return exact ?? candidates.find((position) => commentEnd(view, position) > bytes.length || hasDirectoryBefore(view, position));
}

/** Positions of end signatures with a whole record after them, last first. */
function endCandidates(bytes: Uint8Array, view: DataView): number[] {
  const candidates: number[] = [];
  for (let position = bytes.lastIndexOf(0x50); position >= 0; position = position === 0 ? -1 : bytes.lastIndexOf(0x50, position - 1)) {
    if (position + sizes.end <= bytes.length && hasSignature(view, position, signatures.end)) candidates.push(position);
  }
  return candidates;
}

function commentEnd(view: DataView, position: number): number {
  return position + sizes.end + readEnd(view, position).commentByteLength;
}

function hasDirectoryBefore(view: DataView, position: number): boolean {
  if (hasSignature(view, position - sizes.locator64, signatures.locator64)) return true;
  const { directoryByteLength, count } = readEnd(view, position);
  const start = position - directoryByteLength;
  return start < 0 || count === 0 || hasSignature(view, start, signatures.centralHeader);
}

/** True for bytes that end with an end record whose directory, as far as it is among them, stands where it says. */
export function endsWithDirectory(bytes: Uint8Array): boolean {
  const view = viewOf(bytes);
  return endCandidates(bytes, view).some((position) => commentEnd(view, position) === bytes.length && hasDirectoryBefore(view, position));
}

function judgeEnd(tail: Tail, position: number, end: EndRecord, findings: FindingList): void {
  const { bytes, view, start } = tail;
  const own = { start: start + position, end: start + position + sizes.end };
  for (const other of endCandidates(bytes, view)) {
    // Before the chosen one, payloads may hold whole archives; only an end that claims the rest of the file competes.
    if (other > position || (other < position && commentEnd(view, other) === bytes.length)) {
      findings.add('ZIP_SEVERAL_ENDS', 'error', { start: start + other, end: start + other + sizes.end }, { chosen: own.start });
    }
  }
  const claimed = commentEnd(view, position);
  if (claimed < bytes.length) {
    const trailing = { start: start + claimed, end: start + bytes.length };
    findings.add('ZIP_TRAILING_BYTES', 'error', trailing, { found: bytes.length - claimed, expected: 0 });
  } else if (claimed > bytes.length) {
    const found = bytes.length - position - sizes.end;
    findings.add('ZIP_END_DISAGREES', 'error', own, { field: 'comment length', found, expected: end.commentByteLength });
  }
  if (end.commentByteLength > 0) {
    findings.add('ZIP_COMMENT', 'warning', { start: own.end, end: start + Math.min(claimed, bytes.length) }, { byteLength: end.commentByteLength });
  }
  judgeDisks([end.disk, end.directoryDisk], MARKER_16, own, findings);
  if (end.countOnDisk !== end.count) {
    findings.add('ZIP_MULTI_DISK', 'error', own, { field: 'count on this disk', found: end.countOnDisk, expected: end.count });
  }
}

function judgeDisks(disks: readonly number[], marker: number, where: { start: number; end: number }, findings: FindingList): void {
  const other = disks.find((disk) => disk !== 0 && disk !== marker);
  if (other !== undefined) findings.add('ZIP_MULTI_DISK', 'error', where, { field: 'disk', found: other, expected: 0 });
}

/** What the zip64 record says where there is one; PyTorch always writes it, and leaves the plain fields real. */
async function readZip64(
  source: ByteSource,
  tail: Tail,
  position: number,
  end: EndRecord,
  findings: FindingList,
  options: TransferOptions,
): Promise<Directory> {
  const locatorAt = position - sizes.locator64;
  const plain = {
    start: end.directoryStart,
    byteLength: end.directoryByteLength,
    count: end.count,
    recordsStart: tail.start + position,
    zip64: false,
  };
  if (!hasSignature(tail.view, locatorAt, signatures.locator64)) return plain;
  const where = { start: tail.start + locatorAt, end: tail.start + position };
  const locator = readLocator64(tail.view, locatorAt);
  judgeDisks([locator.disk], MARKER_32, where, findings);
  if (locator.disks > 1) findings.add('ZIP_MULTI_DISK', 'error', where, { field: 'disks', found: locator.disks, expected: 1 });
  const found = await findEnd64(source, tail, locator.end64Start, where.start, options);
  if (found === undefined) {
    findings.add('ZIP_END_DISAGREES', 'error', where, { field: 'zip64 record', found: 'nothing', expected: locator.end64Start ?? -1 });
    return plain;
  }
  const record = readEnd64(found.view, 0);
  const own = { start: found.start, end: found.start + sizes.end64 };
  judgeDisks([record.disk, record.directoryDisk], MARKER_32, own, findings);
  const disagree = (field: string, args: Facts): void => findings.add('ZIP_END_DISAGREES', 'error', own, { field, ...args });
  if (record.byteLength !== where.start - found.start) {
    disagree('zip64 record length', { found: record.byteLength ?? -1, expected: where.start - found.start });
  }
  const pairs = [
    ['count', end.count, MARKER_16, record.count],
    ['count on this disk', record.countOnDisk ?? -1, -1, record.count],
    ['directory size', end.directoryByteLength, MARKER_32, record.directoryByteLength],
    ['directory offset', end.directoryStart, MARKER_32, record.directoryStart],
  ] as const;
  for (const [field, short, marker, long] of pairs) {
    if (short !== marker && short !== long) disagree(field, { found: short, expected: long ?? -1 });
  }
  return {
    start: record.directoryStart,
    byteLength: record.directoryByteLength,
    count: record.count,
    recordsStart: found.start,
    zip64: true,
  };
}

/** The zip64 record where the locator says, or directly before it, where bytes stand before the archive. */
async function findEnd64(
  source: ByteSource,
  tail: Tail,
  claimed: number | undefined,
  locatorStart: number,
  options: TransferOptions,
): Promise<{ start: number; view: DataView } | undefined> {
  for (const start of [claimed, locatorStart - sizes.end64]) {
    if (start === undefined || start < 0 || start + sizes.end64 > locatorStart) continue;
    const bytes =
      start >= tail.start
        ? tail.bytes.subarray(start - tail.start, start - tail.start + sizes.end64)
        : await readBytes(source, start, start + sizes.end64, options);
    const view = viewOf(bytes);
    if (hasSignature(view, 0, signatures.end64)) return { start, view };
  }
  return undefined;
}

/** The directory ends where the end records begin; what is between, or before the archive, is an error. */
function placeDirectory(
  source: ByteSource,
  tail: Tail,
  { start, byteLength, recordsStart }: Directory,
  findings: FindingList,
): Pick<ZipEnd, 'directoryStart' | 'directoryEnd' | 'prefixByteLength'> {
  const outOfRange = start === undefined || byteLength === undefined || start + byteLength > recordsStart;
  if (outOfRange) {
    throw new AssayError('ZIP_DIRECTORY_OUT_OF_RANGE', {
      message: `${source.name}: the directory would take ${byteLength ?? 'too many'} bytes from ${start ?? 'too far'}, its end record is at ${recordsStart}`,
      hint: 'The file is damaged or was put together from parts. Download it again.',
      context: { offset: recordsStart, start: start ?? -1, byteLength: byteLength ?? -1, end: recordsStart },
    });
  }
  const gap = recordsStart - byteLength - start;
  if (gap === 0) return { directoryStart: start, directoryEnd: recordsStart, prefixByteLength: 0 };
  const before = recordsStart - byteLength - tail.start;
  if (byteLength === 0 || before < 0 || hasSignature(tail.view, before, signatures.centralHeader)) {
    findings.add('ZIP_PREFIX_BYTES', 'error', { start: 0, end: gap }, { found: gap, expected: 0 });
    return { directoryStart: start + gap, directoryEnd: recordsStart, prefixByteLength: gap };
  }
  const where = { start: start + byteLength, end: recordsStart };
  findings.add('ZIP_UNCLAIMED_BYTES', 'error', where, { found: gap, expected: 0 });
  return { directoryStart: start, directoryEnd: start + byteLength, prefixByteLength: 0 };
}

/** Adds the end of another archive, when the bytes before this one end with it. */
export async function judgePrefix(source: ByteSource, prefixEnd: number, findings: FindingList, options: TransferOptions): Promise<void> {
  const start = Math.max(0, prefixEnd - TAIL_BYTES);
  const bytes = await readBytes(source, start, prefixEnd, options);
  const view = viewOf(bytes);
  const other = endCandidates(bytes, view).find((position) => commentEnd(view, position) === bytes.length);
  if (other === undefined) return;
  findings.add('ZIP_SEVERAL_ENDS', 'error', { start: start + other, end: start + other + sizes.end }, { prefixEnd });
}

function directoryMissing(source: ByteSource, { bytes }: Tail): AssayError {
  let zeros = 0;
  while (zeros < bytes.length && bytes[bytes.length - 1 - zeros] === 0) zeros += 1;
  const tailOfZeros = zeros >= 64 ? `, its last ${zeros === bytes.length ? `${zeros} or more` : zeros} bytes are zeros` : '';
  return new AssayError('ZIP_DIRECTORY_MISSING', {
    message: `${source.name}: the file ends at byte ${source.size} without the directory that a zip file ends with${tailOfZeros}`,
    hint: 'The file is incomplete, most likely a broken download. Download it again and compare its size with the publisher’s.',
    context: { offset: source.size, found: source.size, expected: 'an end of central directory record', zerosAtEnd: zeros },
  });
}
