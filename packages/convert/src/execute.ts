/**
 * Executes a planned conversion and proves it: nothing is published unless every check holds.
 * How bytes are moved is the runner's; what a plan says is not judged again here.
 */
import {
  outputSegments,
  isAssayError,
  isOk,
  type ByteSink,
  type ByteSource,
  type CopyRunner,
  type DigestAlgorithm,
  type Digests,
  type Finding,
  type OnProgress,
  type Report,
  type RunResult,
  type TensorArchive,
} from '@assay/core';
import type { Alias, ConversionPlan } from './conversion-plan.ts';
import { judgeCrcs } from './crc-verdict.ts';
import { crcMismatch, crcNeverComputed, dataNeverWritten, outputWrong, planRefused, sourceChanged } from './refusals.ts';

/** Options of `executeConversion`. */
export interface ExecuteOptions {
  readonly runner: CopyRunner;
  /** Created for `plan.output.byteLength` bytes; committed or aborted here, disposed of by its owner. */
  readonly sink: ByteSink;
  /** Of the whole output, computed while it is written. Default SHA-256; `[]` computes none. */
  readonly digests?: readonly DigestAlgorithm[];
  readonly signal?: AbortSignal;
  readonly onProgress?: OnProgress;
}

/** What was done. */
export interface ConversionReport extends Report {
  /** Of the output. */
  readonly byteLength: number;
  readonly digests: Digests;
  /** `matched`: every byte of every member that was used is proven by its CRC-32; the others: there was nothing to prove it by. */
  readonly crc: 'matched' | 'absent' | 'never-computed';
  /** The number of tensors written. */
  readonly tensors: number;
  readonly aliases: readonly Alias[];
  readonly leftOut: readonly Finding[];
}

/**
 * Writes the output, checks the CRC-32 of every member on the way, and commits `sink` only when everything holds.
 * Whatever goes wrong, the sink is aborted first.
 * @throws {AssayError} the plan's first error when it is not `ok`; `CONVERT_CRC_MISMATCH` (some members are damaged),
 *   `CONVERT_DATA_NEVER_WRITTEN`, `SOURCE_CHANGED`, `CONVERT_OUTPUT_WRONG`; as `CopyRunner.run` and `ByteSink.commit`
 * @throws {TypeError} when the plan was made for another archive, or does not write each output byte once
 * @throws the signal's reason, untouched
 * @example
 * await using sink = await folder.create('model.safetensors', { size: plan.output.byteLength, overwrite: false });
 * const report = await executeConversion(plan, archive, { runner, sink });
 */
export async function executeConversion(
  plan: ConversionPlan,
  archive: TensorArchive,
  options: ExecuteOptions,
): Promise<ConversionReport> {
  const { sink } = options;
  try {
    const report = await convertInto(plan, archive, options);
    await sink.commit();
    return report;
  } catch (failure) {
    // The first failure is the one to tell.
    await sink.abort().catch(() => undefined);
    throw failure;
  }
}

async function convertInto(plan: ConversionPlan, archive: TensorArchive, options: ExecuteOptions): Promise<ConversionReport> {
  const { sink, signal } = options;
  signal?.throwIfAborted();
  if (!plan.ok) throw planRefused(plan);
  provePlan(plan, archive);
  const before = await identities(archive.sources);
  refuseReplaced(archive.sources, before);
  const result = await runSteps(plan, archive, options).catch(async (failure: unknown) => {
    // Damage that a changing source explains is not the file's.
    if (!isAssayError(failure)) throw failure;
    throw (await changedSince(archive.sources, before, failure)) ?? failure;
  });
  signal?.throwIfAborted();
  const changed = await changedSince(archive.sources, before);
  if (changed !== undefined) throw changed;
  const verdict = judgeCrcs(plan.checks, result.steps);
  if (verdict.kind === 'mismatch') throw crcMismatch(plan, verdict.wrong);
  if (verdict.kind === 'data-never-written') throw dataNeverWritten(plan, verdict.wrong);
  await proveHeader(plan, sink);
  signal?.throwIfAborted();
  const findings = [...plan.findings, ...(verdict.kind === 'never-computed' ? [crcNeverComputed(plan, verdict.wrong)] : [])];
  return {
    ok: isOk(findings),
    complete: true,
    findings,
    byteLength: plan.output.byteLength,
    digests: result.digests,
    crc: verdict.kind,
    tensors: plan.output.tensors.length,
    aliases: plan.aliases,
    leftOut: plan.leftOut,
  };
}

/** A plan may have been stored or sent: it must fit the archive and write each output byte once. */
function provePlan({ input, output, steps }: ConversionPlan, { sources, format }: TensorArchive): void {
  const byteLength = sources.reduce((sum, { size }) => sum + size, 0);
  if (input.byteLength !== byteLength || input.format !== format) {
    throw new TypeError(`the plan is for ${input.byteLength} bytes of ${input.format}, the archive has ${byteLength} of ${format}`);
  }
  let written = 0;
  for (const { start, end } of outputSegments(steps)) {
    if (start !== written) throw new TypeError(`the plan writes output byte ${Math.min(start, written)} twice or never`);
    written = end;
  }
  if (written !== output.byteLength) throw new TypeError(`the plan writes ${written} of ${output.byteLength} output bytes`);
}

async function runSteps(plan: ConversionPlan, { sources }: TensorArchive, options: ExecuteOptions): Promise<RunResult> {
  const { runner, sink, digests = ['sha256'], signal, onProgress } = options;
  const { byteLength } = plan.output;
  let bytesDone = 0;
  return runner.run(plan.steps, sources, sink, {
    byteLength,
    digests,
    ...(signal === undefined ? {} : { signal }),
    onBytes(count) {
      bytesDone += count;
      onProgress?.({ phase: 'converting', subject: plan.input.name, bytesDone, bytesTotal: byteLength });
    },
  });
}

async function identities(sources: readonly ByteSource[]): Promise<string[]> {
  return Promise.all(sources.map((source) => source.identity()));
}

/** What was opened, and read to make the plan, must still be what is there. */
function refuseReplaced(sources: readonly ByteSource[], found: readonly string[]): void {
  for (const [index, source] of sources.entries()) {
    if (source.locator !== undefined && source.locator.identity !== found[index]) throw sourceChanged(source);
  }
}

async function changedSince(sources: readonly ByteSource[], before: readonly string[], cause?: unknown): Promise<Error | undefined> {
  const after = await identities(sources).catch((failure: unknown) => failure as Error);
  if (!Array.isArray(after)) return cause === undefined ? after : undefined;
  const changed = sources.find((_, index) => after[index] !== before[index]);
  return changed === undefined ? undefined : sourceChanged(changed, cause);
}

/** Reads the header back: the cheapest proof that the output holds what was sent to it. */
async function proveHeader({ output: { header } }: ConversionPlan, sink: ByteSink): Promise<void> {
  const found = new Uint8Array(header.length);
  await sink.readInto(found, 0);
  const start = found.findIndex((byte, index) => byte !== header[index]);
  if (start !== -1) throw outputWrong(sink.name, { start, end: header.length });
}
