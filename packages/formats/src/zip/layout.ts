/**
 * Rules across the members of one directory: names that collide, bytes that two members claim.
 * Knows the directory only: where payloads really end, the local headers say (`locate`).
 */
import type { Limits } from '@assay/core';
import type { ZipEntry } from './entry.ts';
import type { ZipEnd } from './end.ts';
import type { FindingList } from './finding-list.ts';
import { sizes } from './records.ts';

/** Adds what is wrong with the members together. */
export function judgeLayout(
  entries: readonly ZipEntry[],
  end: ZipEnd,
  sourceByteLength: number,
  limits: Limits,
  findings: FindingList,
): void {
  judgeNames(entries, findings);
  judgePlaces(entries, end, findings);
  judgeTotal(entries, end, sourceByteLength, limits, findings);
}

function judgeNames(entries: readonly ZipEntry[], findings: FindingList): void {
  const exact = new Set<string>();
  const folded = new Map<string, ZipEntry>();
  for (const entry of entries) {
    const { name, directoryOffset } = entry;
    const lower = name.toLowerCase();
    const first = folded.get(lower);
    if (first === undefined) {
      folded.set(lower, entry);
    } else {
      const code = exact.has(name) ? 'ZIP_NAME_DUPLICATE' : 'ZIP_NAME_COLLISION';
      const where = { member: name, start: directoryOffset, end: directoryOffset + sizes.centralHeader };
      findings.add(code, 'error', where, { first: first.name, firstIndex: first.index, index: entry.index });
    }
    exact.add(name);
  }
}

/** Members in the order of their headers. */
export function byHeader(entries: readonly ZipEntry[]): ZipEntry[] {
  return entries.toSorted((a, b) => a.headerOffset - b.headerOffset || a.index - b.index);
}

/** The least a member takes: its name may be longer in the local header, never shorter than nothing. */
function leastEnd(entry: ZipEntry): number {
  return entry.headerOffset + sizes.localHeader + entry.compressedByteLength;
}

function judgePlaces(entries: readonly ZipEntry[], end: ZipEnd, findings: FindingList): void {
  const sorted = byHeader(entries);
  const firstHeader = sorted[0]?.headerOffset ?? end.directoryStart;
  if (firstHeader > end.prefixByteLength) {
    findings.add('ZIP_PREFIX_BYTES', 'error', { start: end.prefixByteLength, end: firstHeader }, { found: firstHeader, expected: 0 });
  }
  // The furthest end so far, not the last one's: a member may hide inside a longer one.
  let furthest: ZipEntry | undefined;
  for (const entry of sorted) {
    const { name, headerOffset } = entry;
    if (leastEnd(entry) > end.directoryStart) {
      const where = { member: name, start: headerOffset, end: leastEnd(entry) };
      findings.add('ZIP_ENTRY_OUT_OF_RANGE', 'error', where, { found: leastEnd(entry), expected: end.directoryStart });
    }
    if (furthest !== undefined && headerOffset < leastEnd(furthest)) {
      const where = { member: name, start: headerOffset, end: Math.min(leastEnd(entry), leastEnd(furthest)) };
      findings.add('ZIP_ENTRY_OVERLAP', 'error', where, { other: furthest.name, found: headerOffset, expected: leastEnd(furthest) });
    }
    if (furthest === undefined || leastEnd(entry) > leastEnd(furthest)) furthest = entry;
  }
}

/** One budget for all members: many that are each allowed may still be a bomb. */
function judgeTotal(
  entries: readonly ZipEntry[],
  end: ZipEnd,
  sourceByteLength: number,
  limits: Limits,
  findings: FindingList,
): void {
  const found = entries.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const allowed = Math.max(limits.freeExpansionBytes, sourceByteLength * limits.maxInflateRatio);
  if (found > allowed) {
    const where = { start: end.directoryStart, end: end.directoryEnd };
    findings.add('LIMIT_EXCEEDED', 'error', where, { limit: 'maxInflateRatio', found, allowed });
  }
}
