/**
 * What a local header, and the bytes behind a payload, may say beside the directory.
 * The directory counts; whatever disagrees is noted, since other readers may believe the local header.
 */
import type { Facts } from '@assay/core';
import type { ZipEntry } from './entry.ts';
import { sameBytes } from './entry-rules.ts';
import { readExtraFields, Zip64Values } from './extra.ts';
import type { FindingList } from './finding-list.ts';
import { flags, hasSignature, MARKER_32, readU64, signatures, viewOf, type LocalHeader } from './records.ts';

/** A data descriptor with signature and 64-bit sizes (APPNOTE 4.3.9). */
export const LONGEST_DESCRIPTOR = 24;

/** Flags that change what a reader does; the others tell how hard the writer compressed. */
const MEANINGFUL_FLAGS =
  flags.encrypted | flags.descriptor | flags.patched | flags.strongEncryption | flags.utf8 | flags.maskedHeader;

/** A local header beside its entry. */
export interface LocalComparison {
  readonly entry: ZipEntry;
  readonly local: LocalHeader;
  /** The name as the directory stores it. */
  readonly storedName: Uint8Array;
  readonly localName: Uint8Array;
  /** As much as was read of it. */
  readonly localExtra: Uint8Array;
}

/** Adds where the local header disagrees. A wrong CRC-32 is an error, as it is when the bytes have another (Z03). */
export function judgeLocalHeader(comparison: LocalComparison, findings: FindingList): void {
  const { entry, local, storedName, localName } = comparison;
  const where = { member: entry.name, start: entry.headerOffset, end: entry.headerOffset + 30 + local.nameByteLength };
  const differs = (field: string, severity: 'warning' | 'error', args: Facts): void =>
    findings.add('ZIP_ENTRY_LOCAL_DIFFERS', severity, where, { field, ...args });
  if (!sameBytes(storedName, localName)) {
    differs('name', 'warning', { found: new TextDecoder().decode(localName.subarray(0, 256)), expected: entry.name });
  }
  const flagsDiffer = ((local.flags ^ entry.flags) & MEANINGFUL_FLAGS) !== 0;
  if (flagsDiffer) differs('flags', 'warning', { found: local.flags, expected: entry.flags });
  if (local.method !== entry.method) differs('method', 'warning', { found: local.method, expected: entry.method });
  // With a data descriptor, CRC and sizes come after the payload and are 0 here.
  const later = (local.flags & flags.descriptor) !== 0;
  if (local.crc32 !== entry.crc32 && !(later && local.crc32 === 0)) {
    differs('crc32', 'error', { found: local.crc32, expected: entry.crc32 });
  }
  judgeSizes(comparison, later, differs);
}

function judgeSizes(
  { entry, local, localExtra }: LocalComparison,
  later: boolean,
  differs: (field: string, severity: 'warning', args: Facts) => void,
): void {
  const marked = local.byteLength === MARKER_32 || local.compressedByteLength === MARKER_32;
  const zip64 = new Zip64Values(marked ? readExtraFields(localExtra).zip64 : undefined);
  const pairs = [
    ['byteLength', local.byteLength, entry.byteLength],
    ['compressedByteLength', local.compressedByteLength, entry.compressedByteLength],
  ] as const;
  for (const [field, short, expected] of pairs) {
    const found = short === MARKER_32 ? (zip64.next() ?? short) : short;
    if (found !== expected && !(later && (found === 0 || found === MARKER_32))) differs(field, 'warning', { found, expected });
  }
}

/**
 * Adds what is odd between the payload of `before` and `end`, where the next header or the directory begins.
 * `bytes` are the gap's, or its first `LONGEST_DESCRIPTOR` + 4.
 */
export function judgeGap(
  before: { readonly entry: ZipEntry; readonly payloadEnd: number; readonly localFlags: number },
  bytes: Uint8Array,
  end: number,
  findings: FindingList,
): void {
  const { entry, payloadEnd, localFlags } = before;
  const gap = end - payloadEnd;
  const expected = (localFlags & flags.descriptor) !== 0;
  const length = expected ? judgeDescriptor(entry, payloadEnd, bytes, gap, findings) : 0;
  if (length >= gap) return;
  const where = { start: payloadEnd + length, end };
  if (hasSignature(viewOf(bytes), length, signatures.localHeader)) {
    findings.add('ZIP_ENTRY_HIDDEN', 'error', where, { after: entry.name });
  } else {
    findings.add('ZIP_UNCLAIMED_BYTES', 'warning', where, { after: entry.name, found: gap - length, expected: 0 });
  }
}

/** The length of the data descriptor: with or without signature, with sizes of 32 or of 64 bits. */
function judgeDescriptor(entry: ZipEntry, start: number, bytes: Uint8Array, gap: number, findings: FindingList): number {
  const view = viewOf(bytes);
  const lead = hasSignature(view, 0, signatures.descriptor) ? 4 : 0;
  const forms = [
    { length: lead + 20, sizes: () => [readU64(view, lead + 4), readU64(view, lead + 12)] },
    { length: lead + 12, sizes: () => [view.getUint32(lead + 4, true), view.getUint32(lead + 8, true)] },
  ].filter(({ length }) => length <= Math.min(gap, bytes.length));
  const matching = forms.find(({ sizes }) => {
    const [compressed, byteLength] = sizes();
    return compressed === entry.compressedByteLength && byteLength === entry.byteLength;
  });
  const where = { member: entry.name, start, end: start + gap };
  if (matching === undefined) {
    const field = forms.length === 0 ? 'descriptor missing' : 'descriptor sizes';
    findings.add('ZIP_ENTRY_LOCAL_DIFFERS', 'warning', where, { field });
    return forms.find(({ length }) => length === gap)?.length ?? 0;
  }
  const crc32 = view.getUint32(lead, true);
  if (crc32 !== entry.crc32) {
    findings.add('ZIP_ENTRY_LOCAL_DIFFERS', 'error', where, { field: 'descriptor crc32', found: crc32, expected: entry.crc32 });
  }
  return matching.length;
}
