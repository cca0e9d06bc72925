/**
 * The steps of a conversion, as structured-cloneable data, and the port that runs them.
 * Every output position is known, so steps may run in any order and on any thread.
 */
import type { DigestAlgorithm, Digests } from './digest.ts';
import { pieceByteLength, type InlinePiece, type RangePiece, type StridedPiece, type Transform } from './pieces.ts';
import type { ByteSink } from './sink.ts';
import type { ByteSource } from './source.ts';

/** A piece written at output byte `at`. */
export interface CopyPart {
  readonly kind: 'copy';
  readonly piece: RangePiece | StridedPiece | InlinePiece;
  readonly at: number;
  /** Compute the CRC-32 of the source bytes; ranges only. */
  readonly check?: boolean;
}

/** A deflated member, inflated once; its CRC-32 is always computed over all of it. */
export interface InflatePart {
  readonly kind: 'inflate';
  readonly source: number;
  readonly start: number;
  readonly end: number;
  readonly inflatedLength: number;
  /** Inflated bytes [from, to) written at output byte `at`; they may overlap. */
  readonly targets: readonly {
    readonly from: number;
    readonly to: number;
    readonly at: number;
    readonly transform?: Transform;
  }[];
}

/** Source bytes that are read for their CRC-32 only. */
export interface CheckPart {
  readonly kind: 'check';
  readonly source: number;
  readonly start: number;
  readonly end: number;
}

/** One part of a step. */
export type StepPart = CopyPart | InflatePart | CheckPart;

/** Parts that one thread does together: neighbouring small tensors are joined, large ones split. */
export interface CopyStep {
  readonly parts: readonly StepPart[];
}

/** For each part of a step: the CRC-32 of its source bytes, where it was asked for. */
export interface StepResult {
  readonly crc32s: readonly (number | undefined)[];
}

/** Options of a run. */
export interface RunOptions {
  readonly signal?: AbortSignal;
  /** Called with the number of output bytes written since the last call. */
  readonly onBytes?: (count: number) => void;
  /** Digests of the whole output, computed alongside. */
  readonly digests?: readonly DigestAlgorithm[];
  /** Size of the whole output in bytes. */
  readonly byteLength: number;
}

/** What a run returns: one result a step, and the digests asked for. */
export interface RunResult {
  readonly steps: readonly StepResult[];
  readonly digests: Digests;
}

/** Runs steps: on one thread, or in workers that open sources and sink again by their locators. */
export interface CopyRunner {
  /**
   * Writes every step's output to `sink`, which stays uncommitted.
   * @throws {AssayError} as `ByteSource.readInto` and `ByteSink.writeAt`; `ZIP_ENTRY_INFLATE_FAILED`; `WORKER_DIED`
   */
  run(steps: readonly CopyStep[], sources: readonly ByteSource[], sink: ByteSink, options: RunOptions): Promise<RunResult>;
}

/** A run of output bytes [start, end) that one part of a step writes. */
export interface OutputSegment {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly part: number;
}

/** Where each part writes, in output order. */
export function outputSegments(steps: readonly CopyStep[]): OutputSegment[] {
  const segments = steps.flatMap(({ parts }, step) =>
    parts.flatMap((piece, part) => partOutputs(piece).map(({ at, length }) => ({ start: at, end: at + length, step, part }))),
  );
  return segments.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start);
}

function partOutputs(part: StepPart): { at: number; length: number }[] {
  if (part.kind === 'copy') return [{ at: part.at, length: pieceByteLength(part.piece) }];
  if (part.kind === 'inflate') return part.targets.map(({ from, to, at }) => ({ at, length: to - from }));
  return [];
}

/** The output bytes of a step. */
export function stepOutputBytes(step: CopyStep): number {
  return step.parts.flatMap(partOutputs).reduce((sum, { length }) => sum + length, 0);
}
