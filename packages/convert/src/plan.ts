/**
 * Plans a conversion: which tensors are written, where in the output, and from which bytes of the source.
 * Pure and synchronous: reads nothing, allocates nothing of the size of the data.
 */
import {
  finding,
  isAssayError,
  isOk,
  type Finding,
  type Limits,
  type Piece,
  type TensorArchive,
  type TensorInfo,
  pieceByteLength,
} from '@assay/core';
import { compareCodePoints, layoutSafetensors, type SafetensorsLayout } from 'safetensors-js';
import { findAliases } from './aliases.ts';
import type { Alias, ConversionPlan, OnAlias, PlannedTensor } from './conversion-plan.ts';
import { expansionFindings } from './expansion.ts';
import { canBeRecorded } from './names.ts';
import { findOverlaps } from './overlaps.ts';
import { planSteps } from './steps.ts';

/** Options of `planConversion`. */
export interface PlanOptions {
  /** What is done with several names of one tensor. Default `record`. */
  readonly onAlias?: OnAlias;
  /** Metadata of the output, over `format: "pt"`. */
  readonly metadata?: ReadonlyMap<string, string>;
  readonly limits?: Partial<Limits>;
  /** Neighbouring small tensors join into steps of at least this many bytes. Default 8 MiB. */
  readonly stepBytes?: number;
}

const STEP_BYTES = 8 << 20;

/**
 * A conversion to safetensors as a value that can be printed, compared and executed.
 * What forbids it is among the findings, and the plan is then not `ok`: `CONVERT_NOTHING_TO_DO`, `CONVERT_NO_TENSORS`,
 * `CONVERT_ALIAS_REFUSED`, `LIMIT_EXCEEDED`, the layout's `SAFETENSORS_...`, and the archive's own errors in `leftOut`.
 * @throws {RangeError} when the archive locates more or fewer bytes than a tensor has
 * @throws {TypeError} for a limit that is not a number, or `stepBytes` below 1
 * @example
 * const plan = planConversion(archive, { onAlias: 'copy' });
 * if (!plan.ok) console.log(plan.findings, plan.leftOut);
 */
export function planConversion(archive: TensorArchive, options: PlanOptions = {}): ConversionPlan {
  const { onAlias = 'record', limits, stepBytes = STEP_BYTES } = options;
  if (!(stepBytes >= 1)) throw new TypeError('stepBytes must be at least 1');
  const path = archive.sources[0]?.name ?? '';
  const byteLength = archive.sources.reduce((sum, { size }) => sum + size, 0);
  const pieces = new Map([...archive.tensors.keys()].map((name) => [name, archive.locate(name)]));
  const piecesOf = (name: string): readonly Piece[] => pieces.get(name) ?? [];
  const metadata = new Map([['format', 'pt'], ...(options.metadata ?? [])]);
  const choice = chooseTensors(archive, { path, onAlias, metadata, piecesOf });
  const written = choice.written.map((tensor) => ({ ...tensor, source: piecesOf(tensor.name) }));
  for (const { name, keptAs } of choice.aliases) metadata.set(name, keptAs);
  const layout = layOut(choice.written, metadata, path);
  const findings = [
    ...archive.findings,
    ...whatForbids(archive, path),
    ...choice.findings,
    ...overlapFindings(written.filter(({ name }) => !choice.copies.has(name)), path),
    ...expansionFindings(choice.written, { path, sourceByteLength: byteLength, limits }),
    ...layout.findings,
  ];
  const ok = isOk(findings) && isOk(archive.leftOut);
  const tensors = layout.tensors.map((placed): PlannedTensor => place(placed, piecesOf(placed.name)));
  const { header } = layout;
  const none = { steps: [], checks: [] };
  const { steps, checks } = ok ? planSteps({ header, tensors, members: archive.members, stepBytes }) : none;
  return {
    input: { name: path, byteLength, format: archive.format },
    output: { byteLength: layout.byteLength, header, metadata: sortedByName(metadata), tensors },
    steps,
    checks,
    aliases: choice.aliases,
    leftOut: archive.leftOut,
    findings,
    ok,
  };
}

function whatForbids({ format, tensors, leftOut }: TensorArchive, path: string): Finding[] {
  if (format === 'safetensors') return [finding('CONVERT_NOTHING_TO_DO', 'error', { path }, { format })];
  // Where weights are there but cannot be had, those findings say why.
  if (tensors.size === 0 && isOk(leftOut)) return [finding('CONVERT_NO_TENSORS', 'error', { path }, { leftOut: leftOut.length })];
  return [];
}

interface Choice {
  /** In file order. */
  readonly written: readonly TensorInfo[];
  readonly aliases: readonly Alias[];
  /** Names of tensors that another name has written already. */
  readonly copies: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

interface ChoiceOptions {
  readonly path: string;
  readonly onAlias: OnAlias;
  readonly metadata: ReadonlyMap<string, string>;
  readonly piecesOf: (name: string) => readonly Piece[];
}

function chooseTensors(archive: TensorArchive, { path, onAlias, metadata, piecesOf }: ChoiceOptions): Choice {
  const aliases = new Map<string, string>();
  const copies = new Set<string>();
  const findings: Finding[] = [];
  for (const { kept, others } of findAliases(archive.tensors.values(), piecesOf)) {
    for (const name of others) {
      const recorded = onAlias === 'record' && canBeRecorded(name, metadata);
      if (recorded) aliases.set(name, kept);
      else copies.add(name);
      if (!recorded) findings.push(aliasFinding(onAlias, { path, tensor: name }, kept));
    }
  }
  const written = [...archive.tensors.values()].filter(({ name }) => !aliases.has(name));
  const sorted = [...sortedByName(aliases)].map(([name, keptAs]) => ({ name, keptAs }));
  return { written, aliases: sorted, copies, findings };
}

function aliasFinding(onAlias: OnAlias, subject: { readonly path: string; readonly tensor: string }, kept: string): Finding {
  switch (onAlias) {
    case 'record':
      return finding('CONVERT_ALIAS_UNRECORDED', 'warning', subject, { sameAs: kept });
    case 'copy':
      return finding('CONVERT_ALIAS_COPIED', 'info', subject, { sameAs: kept });
    case 'fail':
      return finding('CONVERT_ALIAS_REFUSED', 'error', subject, { sameAs: kept });
  }
}

function overlapFindings(tensors: Iterable<{ readonly name: string; readonly source: readonly Piece[] }>, path: string): Finding[] {
  return findOverlaps(tensors).map((overlap) =>
    finding('CONVERT_OVERLAP', 'warning', { path, tensor: overlap.name }, { with: overlap.with }),
  );
}

function layOut(
  tensors: readonly TensorInfo[],
  metadata: ReadonlyMap<string, string>,
  path: string,
): SafetensorsLayout & { readonly findings: readonly Finding[] } {
  try {
    return { ...layoutSafetensors(tensors, { metadata }), findings: [] };
  } catch (failure) {
    if (!isAssayError(failure)) throw failure;
    const findings = failure.findings.length > 0 ? failure.findings : [finding(failure.code, 'error', { path }, failure.context)];
    return { header: new Uint8Array(0), byteLength: 0, tensors: [], findings };
  }
}

function place({ name, dtype, shape, start, end }: Omit<PlannedTensor, 'source'>, source: readonly Piece[]): PlannedTensor {
  const located = source.reduce((sum, piece) => sum + pieceByteLength(piece), 0);
  if (located !== end - start) throw new RangeError(`${JSON.stringify(name)} has ${end - start} bytes, ${located} were located`);
  return { name, dtype, shape, start, end, source };
}

function sortedByName(map: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...map].sort(([a], [b]) => compareCodePoints(a, b)));
}
