/**
 * Where the bytes of zip members really are: behind their local headers.
 * PyTorch pads there only, so the directory alone does not say it. Neighbouring headers are read together.
 */
import { readBytes, type ByteSource, type Finding, type StoredMember, type TransferOptions } from '@assay/core';
import { storedName, type ZipDirectory, type ZipOptions } from './directory.ts';
import type { ZipEntry } from './entry.ts';
import { FindingList } from './finding-list.ts';
import { byHeader } from './layout.ts';
import { judgeGap, judgeLocalHeader, LONGEST_DESCRIPTOR } from './local-rules.ts';
import { hasSignature, readLocalHeader, signatures, sizes, viewOf } from './records.ts';

/** Read past the name: a zip64 field has 20 bytes, and PyTorch's padding needs no look. */
const EXTRA_BYTES = 32;
/** Headers this near are read together rather than apart. */
const NEAR_BYTES = 64 * 1024;
/** The most that one read takes. */
const WINDOW_BYTES = 256 * 1024;
/** Reads in flight: payloads lie between the headers of a checkpoint, so windows rarely join. */
const READS_IN_FLIGHT = 64;

/** The members of a zip file, and what their local headers make of the directory. */
export interface LocatedMembers {
  /** In the directory's order, one for each entry; `start` and `end` of a member whose header cannot be found are its offset. */
  readonly members: readonly StoredMember[];
  /** In file order; errors among them mean that the container is not sound. */
  readonly findings: readonly Finding[];
}

interface Window {
  readonly entries: ZipEntry[];
  readonly start: number;
  end: number;
}

/** A member behind its local header. */
interface Located {
  readonly entry: ZipEntry;
  readonly payloadStart: number;
  readonly payloadEnd: number;
  readonly localFlags: number;
}

/**
 * Reads every local header and says where each payload lies.
 * Content is no reason to throw: local and central headers that disagree are findings.
 * @throws {AssayError} as `ByteSource.readInto`
 */
export async function locateZipMembers(source: ByteSource, directory: ZipDirectory, options: ZipOptions = {}): Promise<LocatedMembers> {
  const transfer = options.signal === undefined ? {} : { signal: options.signal };
  const findings = new FindingList(source.name);
  const members = new Array<StoredMember>(directory.entries.length);
  const windows = headerWindows(directory);
  const gaps = new GapWalk(directory, findings);
  for (let next = 0; next < windows.length; next += READS_IN_FLIGHT) {
    options.signal?.throwIfAborted();
    const batch = windows.slice(next, next + READS_IN_FLIGHT);
    const bytes = await Promise.all(batch.map(({ start, end }) => readBytes(source, start, end, transfer)));
    for (const [index, window] of batch.entries()) {
      for (const entry of window.entries) {
        const located = locateEntry(directory, entry, bytes[index] ?? new Uint8Array(0), window.start, findings);
        members[entry.index] = asMember(entry, located);
        gaps.take(located, bytes[index] ?? new Uint8Array(0), window.start, entry);
      }
    }
  }
  await gaps.finish(source, transfer);
  return { members, findings: findings.inFileOrder() };
}

/** Ranges to read, in file order: neighbours join. */
function headerWindows(directory: ZipDirectory): Window[] {
  const windows: Window[] = [];
  let last: Window | undefined;
  for (const entry of byHeader(directory.entries)) {
    const { headerOffset, nameByteLength } = entry;
    const start = Math.min(Math.max(0, headerOffset - LONGEST_DESCRIPTOR), directory.start);
    const end = Math.max(start, Math.min(headerOffset + sizes.localHeader + nameByteLength + EXTRA_BYTES, directory.start));
    if (last !== undefined && start - last.end <= NEAR_BYTES && end - last.start <= WINDOW_BYTES) {
      last.entries.push(entry);
      last.end = Math.max(last.end, end);
    } else {
      last = { entries: [entry], start, end };
      windows.push(last);
    }
  }
  return windows;
}

function locateEntry(
  directory: ZipDirectory,
  entry: ZipEntry,
  window: Uint8Array,
  windowStart: number,
  findings: FindingList,
): Located | undefined {
  const { name, headerOffset } = entry;
  const offset = headerOffset - windowStart;
  const view = viewOf(window);
  if (offset + sizes.localHeader > window.length || !hasSignature(view, offset, signatures.localHeader)) {
    findings.add('ZIP_ENTRY_LOCAL_MISSING', 'error', { member: name, start: headerOffset, end: headerOffset + sizes.localHeader });
    return undefined;
  }
  const local = readLocalHeader(view, offset);
  const nameEnd = offset + sizes.localHeader + local.nameByteLength;
  judgeLocalHeader(
    {
      entry,
      local,
      storedName: storedName(directory, entry),
      localName: window.subarray(offset + sizes.localHeader, nameEnd),
      localExtra: window.subarray(nameEnd, nameEnd + local.extraByteLength),
    },
    findings,
  );
  const payloadStart = windowStart + nameEnd + local.extraByteLength;
  const payloadEnd = payloadStart + entry.compressedByteLength;
  if (payloadEnd > directory.start) {
    const where = { member: name, start: payloadStart, end: payloadEnd };
    findings.add('ZIP_ENTRY_OUT_OF_RANGE', 'error', where, { found: payloadEnd, expected: directory.start });
  }
  return { entry, payloadStart, payloadEnd, localFlags: local.flags };
}

function asMember(entry: ZipEntry, located: Located | undefined): StoredMember {
  const { name, method, byteLength, crc32 } = entry;
  return {
    name,
    source: 0,
    start: located?.payloadStart ?? entry.headerOffset,
    end: located?.payloadEnd ?? entry.headerOffset,
    ...(method === 0 ? {} : { inflatedLength: byteLength }),
    crc32,
  };
}

/** What lies between one payload and the next header: a data descriptor, or what no member claims. */
class GapWalk {
  #directory: ZipDirectory;
  #findings: FindingList;
  #furthest: Located | undefined;
  /** Gaps whose bytes are in no window. */
  #unread: { readonly before: Located; readonly end: number }[] = [];

  constructor(directory: ZipDirectory, findings: FindingList) {
    this.#directory = directory;
    this.#findings = findings;
  }

  /** Members come in the order of their headers. */
  take(located: Located | undefined, window: Uint8Array, windowStart: number, entry: ZipEntry): void {
    const before = this.#furthest;
    const { headerOffset } = entry;
    if (before !== undefined && headerOffset < before.payloadEnd) {
      const where = { member: entry.name, start: headerOffset, end: before.payloadEnd };
      this.#findings.add('ZIP_ENTRY_OVERLAP', 'error', where, { other: before.entry.name, found: headerOffset, expected: before.payloadEnd });
    } else if (before !== undefined) {
      const [start, end] = [before.payloadEnd - windowStart, headerOffset - windowStart];
      if (start >= 0) judgeGap(before, window.subarray(start, end), headerOffset, this.#findings);
      else this.#unread.push({ before, end: headerOffset });
    }
    if (located !== undefined && located.payloadEnd > (before?.payloadEnd ?? -1)) this.#furthest = located;
  }

  /** Looks at the gaps that no window holds, and at the last one, before the directory. */
  async finish(source: ByteSource, transfer: TransferOptions): Promise<void> {
    const { start } = this.#directory;
    if (this.#furthest !== undefined && this.#furthest.payloadEnd <= start) this.#unread.push({ before: this.#furthest, end: start });
    for (let next = 0; next < this.#unread.length; next += READS_IN_FLIGHT) {
      const batch = this.#unread.slice(next, next + READS_IN_FLIGHT);
      const read = batch.map(({ before: { payloadEnd }, end }) =>
        readBytes(source, payloadEnd, Math.min(end, payloadEnd + LONGEST_DESCRIPTOR + 4), transfer),
      );
      for (const [index, bytes] of (await Promise.all(read)).entries()) {
        const gap = batch[index];
        if (gap !== undefined) judgeGap(gap.before, bytes, gap.end, this.#findings);
      }
    }
  }
}
