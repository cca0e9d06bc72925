/**
 * What the directory may say of one member: name, method, flags, sizes, kind.
 * Pure, one entry at a time; rules across entries are in `layout`.
 */
import type { Limits } from '@assay/core';
import type { ZipEntry } from './entry.ts';
import type { ExtraFields } from './extra.ts';
import type { FindingList } from './finding-list.ts';
import { flags } from './records.ts';

/** Longer names are no names: Linux ends at 4096 bytes for a whole path. */
const LONGEST_NAME_BYTES = 4096;

/** The names of compression methods (APPNOTE 4.4.5), for people. */
const methods: ReadonlyMap<number, string> = new Map([
  [0, 'stored'],
  [8, 'deflate'],
  [9, 'deflate64'],
  [12, 'bzip2'],
  [14, 'lzma'],
  [93, 'zstd'],
  [95, 'xz'],
  [98, 'ppmd'],
  [99, 'aes'],
]);

/** The file types in the high half of the external attributes, as Unix writes them. */
const specialKinds: ReadonlyMap<number, string> = new Map([
  [0x1000, 'fifo'],
  [0x2000, 'character device'],
  [0x6000, 'block device'],
  [0xa000, 'symbolic link'],
  [0xc000, 'socket'],
]);

/** A compression method as people call it. */
export function methodName(method: number): string {
  return methods.get(method) ?? `method ${method}`;
}

/** Adds what is wrong with one member. */
export function judgeEntry(entry: ZipEntry, where: { start: number; end: number }, limits: Limits, findings: FindingList): void {
  const { name, method, compressedByteLength, byteLength } = entry;
  const subject = { member: name, ...where };
  if ((entry.flags & (flags.encrypted | flags.strongEncryption | flags.maskedHeader)) !== 0) {
    findings.add('ZIP_ENTRY_ENCRYPTED', 'error', subject, { flags: entry.flags });
  }
  if ((entry.flags & flags.patched) !== 0) findings.add('ZIP_ENTRY_PATCHED', 'error', subject, { flags: entry.flags });
  const kind = specialKinds.get((entry.externalAttributes >>> 16) & 0xf000);
  if (kind !== undefined) findings.add('ZIP_ENTRY_SPECIAL', 'error', subject, { kind });
  if (method === 0 && compressedByteLength !== byteLength) {
    findings.add('ZIP_ENTRY_SIZE_MISMATCH', 'error', subject, { found: compressedByteLength, expected: byteLength });
  } else if (method === 8) {
    judgeRatio(entry, subject, limits, findings);
  } else if (method !== 0) {
    findings.add('ZIP_ENTRY_METHOD', 'error', subject, { found: methodName(method), method, expected: 'stored or deflate' });
  }
}

/** A small member may inflate from anything: a tensor of zeros reaches the ratio that deflate ends at. */
function judgeRatio(entry: ZipEntry, subject: object, limits: Limits, findings: FindingList): void {
  const { compressedByteLength, byteLength } = entry;
  const allowed = Math.max(limits.freeExpansionBytes, compressedByteLength * limits.maxInflateRatio);
  if (byteLength > allowed) {
    findings.add('LIMIT_EXCEEDED', 'error', subject, { limit: 'maxInflateRatio', found: byteLength, allowed, compressed: compressedByteLength });
  }
}

/** Adds what is wrong with extra fields. */
export function judgeExtraFields(extra: ExtraFields, nameBytes: Uint8Array, subject: object, findings: FindingList): void {
  if (extra.doubled) findings.add('ZIP_ENTRY_EXTRA_MALFORMED', 'error', subject, { problem: 'doubled' });
  if (extra.cut) findings.add('ZIP_ENTRY_EXTRA_MALFORMED', 'warning', subject, { problem: 'cut' });
  if (extra.unicodePath !== undefined && !sameBytes(extra.unicodePath, nameBytes)) {
    findings.add('ZIP_ENTRY_EXTRA_MALFORMED', 'error', subject, { problem: 'another name' });
  }
}

/** True when both hold the same bytes. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** Adds what is wrong with a name. It is never used as a path here; others would. */
export function judgeName(name: string, byteLength: number, subject: object, findings: FindingList): void {
  const problem = nameProblem(name, byteLength);
  if (problem !== undefined) findings.add('ZIP_NAME_UNSAFE', 'error', subject, { problem });
}

function nameProblem(name: string, byteLength: number): string | undefined {
  if (name === '') return 'empty';
  if (byteLength > LONGEST_NAME_BYTES) return 'too long';
  if (/[\x00-\x1f\x7f]/.test(name)) return 'control character';
  if (name.includes('\\')) return 'backslash';
  if (name.startsWith('/')) return 'absolute';
  if (/^[A-Za-z]:/.test(name)) return 'drive';
  if (name.includes('//') || /(?:^|\/)\.{1,2}(?:\/|$)/.test(name)) return 'path step';
  if (/[. ]$/.test(name)) return 'trailing dot or space';
  return undefined;
}
