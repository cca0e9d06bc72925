/**
 * From planned tensors to copy steps: what is copied, what is checked on the way, and in which portions.
 * Pure: no I/O. What a member's CRC-32 is made of is in `member-use`.
 */
import type { CopyPart, CopyStep, InflatedPiece, InflatePart, InlinePiece, StepPart, StoredMember, StridedPiece } from '@assay/core';
import { pieceByteLength } from '@assay/core';
import type { CheckResult, MemberCheck, PlannedTensor } from './conversion-plan.ts';
import { coverMember, MemberUse, type CoveredRun, type RangeWork, type UsedMember } from './member-use.ts';
import { StepBuilder } from './step-builder.ts';
import { splitRange, splitRangePiece, splitStridedPiece } from './split-parts.ts';

/** Steps, and how their results prove the members that they read. */
export interface PlannedSteps {
  readonly steps: readonly CopyStep[];
  readonly checks: readonly MemberCheck[];
}

/** Smaller gathers and inflations join their neighbours in a step; larger ones have steps of their own. */
const ALONE_BYTES = 1 << 20;

/** Portions of at least `stepBytes`, in output order, that write `header` and every tensor. */
export function planSteps(options: {
  readonly header: Uint8Array;
  readonly tensors: readonly PlannedTensor[];
  readonly members: readonly StoredMember[];
  readonly stepBytes: number;
}): PlannedSteps {
  const { header, tensors, members, stepBytes } = options;
  const work = collectWork(tensors, new MemberUse(members));
  work.inline.unshift({ piece: { kind: 'inline', bytes: header }, at: 0 });
  const proofs: Proofs = new Map();
  const builder = new StepBuilder(stepBytes);
  for (const emission of inOutputOrder(work, proofs)) emission.emit(builder);
  const steps = builder.finish();
  return { steps, checks: memberChecks(steps, proofs, work.members.used) };
}

interface Work {
  readonly members: MemberUse;
  readonly ranges: RangeWork[];
  readonly strided: { readonly piece: StridedPiece; readonly at: number }[];
  readonly inline: { readonly piece: InlinePiece; readonly at: number }[];
  /** By source and start: each deflated member is inflated once for all that is contiguous in it. */
  readonly inflations: Map<string, { part: InflatePart; readonly targets: InflatePart['targets'][number][]; at: number }>;
}

function collectWork(tensors: readonly PlannedTensor[], members: MemberUse): Work {
  const work: Work = { members, ranges: [], strided: [], inline: [], inflations: new Map() };
  for (const tensor of tensors) {
    let at = tensor.start;
    for (const piece of tensor.source) {
      const length = pieceByteLength(piece);
      if (length > 0) addWork(work, piece, at);
      at += length;
    }
  }
  members.useRecords();
  // A deflated member that is only gathered from, or is a record, is inflated once more for its CRC-32.
  for (const { member, first } of members.used) {
    if (member.inflatedLength === undefined) continue;
    inflationOf(work, { ...member, inflatedLength: member.inflatedLength }, first);
  }
  return work;
}

function addWork(work: Work, piece: PlannedTensor['source'][number], at: number): void {
  switch (piece.kind) {
    case 'range': {
      const range = { piece, at };
      work.ranges.push(range);
      work.members.use(piece, at)?.ranges.push(range);
      break;
    }
    case 'strided':
      work.strided.push({ piece, at });
      work.members.use(piece.storage, at);
      break;
    case 'inflated': {
      const { from, to, transform } = piece;
      inflationOf(work, piece, at).targets.push({ from, to, at, ...(transform === undefined ? {} : { transform }) });
      work.members.use(piece, at);
      break;
    }
    case 'inline':
      work.inline.push({ piece, at });
  }
}

function inflationOf(
  work: Work,
  { source, start, end, inflatedLength }: Pick<InflatedPiece, 'source' | 'start' | 'end' | 'inflatedLength'>,
  at: number,
): { readonly targets: InflatePart['targets'][number][] } {
  const key = `${source} ${start}`;
  const known = work.inflations.get(key);
  if (known !== undefined) return known;
  const targets: InflatePart['targets'][number][] = [];
  const inflation = { part: { kind: 'inflate', source, start, end, inflatedLength, targets } satisfies InflatePart, targets, at };
  work.inflations.set(key, inflation);
  return inflation;
}

/** Which bytes of which member the result of a part stands for. */
type Proofs = Map<StepPart, { readonly used: UsedMember; readonly offset: number; readonly byteLength: number }>;

interface Emission {
  readonly at: number;
  readonly emit: (builder: StepBuilder) => void;
}

function inOutputOrder(work: Work, proofs: Proofs): Emission[] {
  const checked = new Map<RangeWork, UsedMember>();
  const emissions: Emission[] = [];
  for (const used of work.members.used) {
    if (used.member.inflatedLength !== undefined) continue;
    const runs = coverMember(used);
    for (const { range } of runs) if (range !== undefined) checked.set(range, used);
    const gaps = runs.filter(({ range }) => range === undefined);
    // Before the gathers that read the same bytes: reading in order fills the cache that they use.
    emissions.push({ at: used.first, emit: (builder) => emitChecks(builder, gaps, used, proofs) });
  }
  for (const { piece, at } of work.inline) {
    emissions.push({ at, emit: (builder) => builder.add({ kind: 'copy', piece, at }, piece.bytes.length) });
  }
  for (const range of work.ranges) {
    emissions.push({ at: range.at, emit: (builder) => emitRange(builder, range, checked.get(range), proofs) });
  }
  for (const { piece, at } of work.strided) emissions.push({ at, emit: (builder) => emitStrided(builder, piece, at) });
  const usedAt = new Map(work.members.used.map((used) => [`${used.member.source} ${used.member.start}`, used]));
  for (const [key, { part, targets, at }] of work.inflations) {
    targets.sort((a, b) => a.from - b.from);
    const used = usedAt.get(key);
    if (used !== undefined) proofs.set(part, { used, offset: 0, byteLength: part.inflatedLength });
    emissions.push({ at, emit: (builder) => builder.add(part, part.inflatedLength, ALONE_BYTES) });
  }
  return emissions.sort((a, b) => a.at - b.at);
}

function emitChecks(builder: StepBuilder, gaps: readonly CoveredRun[], used: UsedMember, proofs: Proofs): void {
  const { source } = used.member;
  for (const run of gaps.flatMap(({ start, end }) => splitRange(start, end))) {
    const part: StepPart = { kind: 'check', source, ...run };
    proofs.set(part, { used, offset: run.start, byteLength: run.end - run.start });
    builder.addCheck(part, run.end - run.start);
  }
}

function emitRange(builder: StepBuilder, range: RangeWork, used: UsedMember | undefined, proofs: Proofs): void {
  for (const { piece, at } of splitRangePiece(range.piece, range.at)) {
    const byteLength = piece.end - piece.start;
    const part: CopyPart = { kind: 'copy', piece, at, ...(used === undefined ? {} : { check: true }) };
    if (used !== undefined) proofs.set(part, { used, offset: piece.start, byteLength });
    builder.add(part, byteLength);
  }
}

function emitStrided(builder: StepBuilder, whole: StridedPiece, wholeAt: number): void {
  for (const { piece, at } of splitStridedPiece(whole, wholeAt)) {
    builder.add({ kind: 'copy', piece, at }, pieceByteLength(piece), ALONE_BYTES);
  }
}

function memberChecks(steps: readonly CopyStep[], proofs: Proofs, members: readonly UsedMember[]): MemberCheck[] {
  const results = new Map<UsedMember, (CheckResult & { readonly offset: number })[]>(members.map((used) => [used, []]));
  steps.forEach(({ parts }, step) => {
    parts.forEach((piece, part) => {
      const proof = proofs.get(piece);
      if (proof !== undefined) results.get(proof.used)?.push({ step, part, byteLength: proof.byteLength, offset: proof.offset });
    });
  });
  return members.map((used) => {
    const { name, source, start, end, crc32, inflatedLength } = used.member;
    const ordered = (results.get(used) ?? []).sort((a, b) => a.offset - b.offset);
    return {
      member: name,
      source,
      start,
      end,
      byteLength: inflatedLength ?? end - start,
      crc32,
      holds: used.holds,
      results: ordered.map(({ step, part, byteLength }) => ({ step, part, byteLength })),
    };
  });
}
