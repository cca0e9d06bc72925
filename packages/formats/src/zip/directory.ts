/**
 * The central directory of a zip file: the only list of members that counts.
 * One read, then parsed at once; local headers are in `locate`.
 */
import {
  AssayError,
  codes,
  limitExceeded,
  readBytes,
  resolveLimits,
  type ByteSource,
  type Code,
  type Facts,
  type Finding,
  type Limits,
} from '@assay/core';
import { judgePrefix, readZipEnd, type ZipEnd } from './end.ts';
import { judgeEntry, judgeExtraFields, judgeName } from './entry-rules.ts';
import { readExtraFields, Zip64Values } from './extra.ts';
import { FindingList } from './finding-list.ts';
import { judgeLayout } from './layout.ts';
import { flags, hasSignature, MARKER_16, MARKER_32, signatures, sizes, viewOf } from './records.ts';
import type { ZipEntry } from './entry.ts';

/** The directory of a zip file. */
export interface ZipDirectory {
  /** In the directory's order. */
  readonly entries: readonly ZipEntry[];
  /** Where the directory lies. */
  readonly start: number;
  readonly end: number;
  /** Its bytes, for names as they are stored. */
  readonly bytes: Uint8Array;
  readonly zip64: boolean;
  readonly comment: Uint8Array;
  /** Bytes before the archive. */
  readonly prefixByteLength: number;
  /** In file order. */
  readonly findings: readonly Finding[];
}

/** Options of reading a zip file. */
export interface ZipOptions {
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
}

/**
 * Reads the directory of a zip file, strictly: whatever readers could disagree about is refused.
 * @throws {AssayError} the first error finding's code, with all findings: `ZIP_*`, `LIMIT_EXCEEDED`; as `ByteSource.readInto`
 */
export async function readZipDirectory(source: ByteSource, options: ZipOptions = {}): Promise<ZipDirectory> {
  const directory = await surveyZipDirectory(source, options);
  throwFirstError(source, directory.findings);
  return directory;
}

/**
 * Reads the directory of a zip file as far as it can be read: errors are among its findings.
 * @throws {AssayError} `ZIP_DIRECTORY_MISSING`, `ZIP_DIRECTORY_OUT_OF_RANGE`, `LIMIT_EXCEEDED` when there is no directory to look at
 */
export async function surveyZipDirectory(source: ByteSource, options: ZipOptions = {}): Promise<ZipDirectory> {
  const limits = resolveLimits(options.limits);
  const transfer = options.signal === undefined ? {} : { signal: options.signal };
  const findings = new FindingList(source.name);
  const end = await readZipEnd(source, findings, transfer);
  refuseTooMuch(source, end, limits);
  const { directoryStart, directoryEnd, tail, tailStart } = end;
  const bytes =
    directoryStart >= tailStart
      ? tail.slice(directoryStart - tailStart, directoryEnd - tailStart)
      : await readBytes(source, directoryStart, directoryEnd, transfer);
  const entries = parseEntries(bytes, end, limits, findings);
  judgeLayout(entries, end, source.size, limits, findings);
  const first = entries.reduce((least, { headerOffset }) => Math.min(least, headerOffset), directoryStart);
  if (first > 0) await judgePrefix(source, first, findings, transfer);
  return {
    entries,
    start: directoryStart,
    end: directoryEnd,
    bytes,
    zip64: end.zip64,
    comment: end.comment.slice(),
    prefixByteLength: end.prefixByteLength,
    findings: findings.inFileOrder(),
  };
}

function refuseTooMuch(source: ByteSource, end: ZipEnd, limits: Limits): void {
  const where = `${source.name}: the zip directory`;
  const offset = end.directoryStart;
  const byteLength = end.directoryEnd - end.directoryStart;
  if (end.count > limits.maxZipEntries) {
    throw limitExceeded('maxZipEntries', { where, found: end.count, allowed: limits.maxZipEntries, offset });
  }
  if (byteLength > limits.maxZipDirectoryBytes) {
    throw limitExceeded('maxZipDirectoryBytes', { where, found: byteLength, allowed: limits.maxZipDirectoryBytes, offset });
  }
}

function parseEntries(bytes: Uint8Array, end: ZipEnd, limits: Limits, findings: FindingList): ZipEntry[] {
  const parser = new EntryParser(bytes, end, limits, findings);
  const entries: ZipEntry[] = [];
  for (let entry = parser.next(); entry !== undefined; entry = parser.next()) entries.push(entry);
  const where = { start: end.directoryStart, end: end.directoryEnd };
  if (entries.length !== end.count) {
    findings.add('ZIP_COUNT_MISMATCH', 'error', where, { found: entries.length, expected: end.count });
  }
  return entries;
}

/** Walks the directory; stops at the first thing that is no entry. */
class EntryParser {
  #bytes: Uint8Array;
  #view: DataView;
  #end: ZipEnd;
  #limits: Limits;
  #findings: FindingList;
  #offset = 0;
  #index = 0;
  #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(bytes: Uint8Array, end: ZipEnd, limits: Limits, findings: FindingList) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#end = end;
    this.#limits = limits;
    this.#findings = findings;
  }

  next(): ZipEntry | undefined {
    const offset = this.#offset;
    const [view, bytes] = [this.#view, this.#bytes];
    if (offset === bytes.length) return undefined;
    const signed = hasSignature(view, offset, signatures.centralHeader);
    const fixed = signed && offset + sizes.centralHeader <= bytes.length;
    const nameByteLength = fixed ? view.getUint16(offset + 28, true) : 0;
    const nameEnd = offset + sizes.centralHeader + nameByteLength;
    const extraEnd = fixed ? nameEnd + view.getUint16(offset + 30, true) : 0;
    const entryEnd = fixed ? extraEnd + view.getUint16(offset + 32, true) : Number.POSITIVE_INFINITY;
    const start = this.#end.directoryStart + offset;
    if (entryEnd > bytes.length) {
      const expected = signed ? 'a whole entry' : 'an entry';
      this.#findings.add('ZIP_DIRECTORY_MALFORMED', 'error', { start, end: this.#end.directoryEnd }, { index: this.#index, expected });
      this.#offset = bytes.length;
      return undefined;
    }
    if (this.#index >= this.#limits.maxZipEntries) {
      throw limitExceeded('maxZipEntries', {
        where: 'the zip directory',
        found: this.#index + 1,
        allowed: this.#limits.maxZipEntries,
        offset: start,
      });
    }
    const where = { start, end: this.#end.directoryStart + entryEnd };
    const entry = this.#entry(offset, where, bytes.subarray(offset + sizes.centralHeader, nameEnd), bytes.subarray(nameEnd, extraEnd));
    this.#offset = entryEnd;
    this.#index += 1;
    return entry;
  }

  #entry(offset: number, where: { start: number; end: number }, nameBytes: Uint8Array, extraBytes: Uint8Array): ZipEntry {
    const view = this.#view;
    // 0 - signature, 4 - version made by, 6 - version needed
    const flagBits = view.getUint16(offset + 8, true);
    const name = this.#name(nameBytes, flagBits, where);
    const subject = { member: name, ...where };
    const extra = readExtraFields(extraBytes);
    judgeExtraFields(extra, nameBytes, subject, this.#findings);
    // Zip64 fields replace only those that hold the all-ones marker, in this order (APPNOTE 4.5.3).
    const zip64 = new Zip64Values(extra.zip64);
    const long = (short: number): number => {
      if (short !== MARKER_32) return short;
      const value = zip64.next();
      if (value === undefined && extra.zip64 !== undefined) this.#badZip64(subject);
      // Without a zip64 field the marker is the size itself: exactly 4 GiB - 1, as old writers have it.
      return value ?? short;
    };
    const byteLength = long(view.getUint32(offset + 24, true));
    const compressedByteLength = long(view.getUint32(offset + 20, true));
    const headerOffset = long(view.getUint32(offset + 42, true)) + this.#end.prefixByteLength;
    const disk = view.getUint16(offset + 34, true);
    if (disk !== 0 && disk !== MARKER_16) {
      this.#findings.add('ZIP_MULTI_DISK', 'error', subject, { field: 'disk', found: disk, expected: 0 });
    }
    const entry: ZipEntry = {
      name,
      nameByteLength: nameBytes.length,
      index: this.#index,
      flags: flagBits,
      method: view.getUint16(offset + 10, true),
      // 12 - time, 14 - date: PyTorch writes month 0 and day 0.
      crc32: view.getUint32(offset + 16, true),
      compressedByteLength,
      byteLength,
      headerOffset,
      directoryOffset: where.start,
      externalAttributes: view.getUint32(offset + 38, true),
    };
    judgeEntry(entry, where, this.#limits, this.#findings);
    return entry;
  }

  #badZip64(subject: object): void {
    this.#findings.add('ZIP_ENTRY_EXTRA_MALFORMED', 'error', subject, { problem: 'zip64 values missing or too large' });
  }

  #name(nameBytes: Uint8Array, flagBits: number, where: { start: number; end: number }): string {
    let name: string;
    try {
      name = this.#decoder.decode(nameBytes);
    } catch {
      name = new TextDecoder().decode(nameBytes);
      this.#findings.add('ZIP_NAME_ENCODING', 'error', { member: name, ...where }, { problem: 'not UTF-8' });
    }
    if ((flagBits & flags.utf8) === 0 && name.length > 0 && nameBytes.some((byte) => byte >= 0x80)) {
      this.#findings.add('ZIP_NAME_ENCODING', 'warning', { member: name, ...where }, { problem: 'not marked as UTF-8' });
    }
    judgeName(name, nameBytes.length, { member: name, ...where }, this.#findings);
    return name;
  }
}

/** The bytes of a name as the directory stores it. */
export function storedName(directory: ZipDirectory, entry: ZipEntry): Uint8Array {
  const start = entry.directoryOffset - directory.start + sizes.centralHeader;
  return directory.bytes.subarray(start, start + entry.nameByteLength);
}

/**
 * Throws for the first error among findings.
 * @throws {AssayError} with its code and all findings
 */
export function throwFirstError(source: ByteSource, findings: readonly Finding[]): void {
  const first = findings.find(({ severity }) => severity === 'error');
  if (first === undefined) return;
  const { member, start } = first.subject;
  const context: Facts = {
    ...first.args,
    ...(start === undefined ? {} : { offset: start }),
    ...(member === undefined ? {} : { member }),
  };
  const facts = Object.entries(context).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  throw new AssayError(first.code, {
    message: `${source.name}: ${codes.get(first.code)?.summary ?? first.code} (${facts.join(', ')})`,
    hint: hints.get(first.code) ?? 'The file is damaged, or made so that readers disagree about it. Download it again, or save it again with torch.save.',
    context,
    findings,
  });
}

const REZIP = 'Unpack it, and zip its folder again without compression (zip -0 -r), or save it again with torch.save.';

/** What to do, where it is not to download the file again. */
const hints: ReadonlyMap<Code, string> = new Map<Code, string>([
  ['LIMIT_EXCEEDED', 'Weights do not need this much. For a file you trust, raise the limit.'],
  ['ZIP_ENTRY_ENCRYPTED', `Its password is needed. ${REZIP}`],
  ['ZIP_ENTRY_METHOD', REZIP],
  ['ZIP_MULTI_DISK', 'Get all parts, and join them: zip -s 0 first.zip --out whole.zip'],
]);
