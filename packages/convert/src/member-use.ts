/**
 * Which members of the container the written tensors use, and how each member's CRC-32 comes together:
 * from ranges that are copied anyway, and from the gaps between them, so that each byte counts once.
 */
import type { InflatedPiece, RangePiece, StoredMember } from '@assay/core';

/** A range copied to output byte `at`. */
export interface RangeWork {
  readonly piece: RangePiece;
  readonly at: number;
}

type ProvableMember = StoredMember & { readonly crc32: number };

/** A member that has to be proven. */
export interface UsedMember {
  readonly member: ProvableMember;
  readonly holds: 'tensors' | 'record';
  /** The first output byte that depends on it. */
  first: number;
  /** What is copied out of it as plain ranges. */
  readonly ranges: RangeWork[];
}

/** The records that say how PyTorch's storages are read; small, and proven with every conversion. */
const decidingRecords: readonly string[] = ['data.pkl', 'byteorder', 'version', '.format_version', '.storage_alignment'];

/** Finds members by the bytes that a piece reads, and keeps what was found. */
export class MemberUse {
  #sorted: readonly ProvableMember[];
  #used: Map<StoredMember, UsedMember> = new Map();

  constructor(members: readonly StoredMember[]) {
    const provable = members.filter((member) => member.crc32 !== undefined && member.end > member.start);
    this.#sorted = (provable as ProvableMember[]).toSorted((a, b) => a.source - b.source || a.start - b.start);
  }

  /** In the order of their bytes. */
  get used(): readonly UsedMember[] {
    return this.#sorted.flatMap((member) => this.#used.get(member) ?? []);
  }

  /** Marks the member in which a piece lies, written first at output byte `at`. */
  use(piece: RangePiece | InflatedPiece, at: number): UsedMember | undefined {
    const member = this.#find(piece);
    if (member === undefined) return undefined;
    const known = this.#used.get(member);
    if (known !== undefined) {
      known.first = Math.min(known.first, at);
      return known;
    }
    const used: UsedMember = { member, holds: 'tensors', first: at, ranges: [] };
    this.#used.set(member, used);
    return used;
  }

  /** Marks the records whose content decided how everything else was read. */
  useRecords(): void {
    const names = new Set(decidingRecords);
    for (const member of this.#sorted) {
      const name = member.name.slice(member.name.indexOf('/') + 1);
      if (names.has(name) && !this.#used.has(member)) this.#used.set(member, { member, holds: 'record', first: 0, ranges: [] });
    }
  }

  #find({ source, start, end, kind }: RangePiece | InflatedPiece): ProvableMember | undefined {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const member = this.#sorted[middle];
      if (member !== undefined && (member.source < source || (member.source === source && member.start <= start))) low = middle + 1;
      else high = middle;
    }
    const member = this.#sorted[low - 1];
    const deflated = member?.inflatedLength !== undefined;
    const holds = member?.source === source && end <= member.end && deflated === (kind === 'inflated');
    return holds ? member : undefined;
  }
}

/** A run of a stored member: checked while it is copied (`range`), or read for its check only. */
export interface CoveredRun {
  readonly start: number;
  readonly end: number;
  readonly range?: RangeWork;
}

/** Runs that cover all bytes of a stored member once, in order. */
export function coverMember({ member, ranges }: UsedMember): CoveredRun[] {
  const sorted = ranges.toSorted(({ piece: a }, { piece: b }) => a.start - b.start || b.end - a.end);
  const runs: CoveredRun[] = [];
  let covered = member.start;
  for (const range of sorted) {
    const { start, end } = range.piece;
    // What is copied a second time is not checked again.
    if (start < covered) continue;
    if (start > covered) runs.push({ start: covered, end: start });
    runs.push({ start, end, range });
    covered = end;
  }
  if (covered < member.end) runs.push({ start: covered, end: member.end });
  return runs;
}
