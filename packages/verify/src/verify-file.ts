/**
 * Files against what they should be: size first, then all digests of a file in one read.
 * Knows no platform: sources come open, a `TaskRunner` hashes. One bad file never stops the others.
 */
import {
  finding,
  isAssayError,
  type ByteSource,
  type DigestAlgorithm,
  type DigestTask,
  type Digests,
  type Finding,
  type Limits,
  type OnProgress,
  type TaskResult,
  type TaskRunner,
} from '@assay/core';
import { compareSizes, differingDigests, digestFindings } from './compare.ts';
import { tryParseDigest } from './digest-text.ts';
import type { Expectation } from './expectation.ts';
import { explainMismatch } from './explain.ts';
import { failureFinding, reportOf, statusOfFailure, type VerifiedFile, type VerifyReport } from './verify-report.ts';

/** A file to verify: open, or why it could not be opened. `name` is what the report calls it, the source's own where absent. */
export type VerifyInput =
  | { readonly source: ByteSource; readonly name?: string; readonly expected: Expectation }
  | { readonly name: string; readonly failure: unknown; readonly expected: Expectation };

/** Options of `verifyFiles`. */
export interface VerifyOptions {
  readonly tasks: TaskRunner;
  readonly signal?: AbortSignal;
  readonly onProgress?: OnProgress;
  readonly limits?: Partial<Limits>;
}

/**
 * Compares files with their expectations; the report has them in the input's order.
 * Sources are borrowed. A wrong size fails without reading; a file that changes while it is read is `SOURCE_CHANGED`.
 * Nothing is thrown for a file: what cannot be read is a finding whose code says whose fault it is.
 * @example
 * const { ok } = await verifyFiles([{ source, expected: createExpectation({ sha256 }) }], { tasks });
 */
export async function verifyFiles(files: readonly VerifyInput[], options: VerifyOptions): Promise<VerifyReport> {
  return reportOf(await verifyEach(files, options));
}

/** The files of `verifyFiles`, without the report around them. */
export async function verifyEach(files: readonly VerifyInput[], options: VerifyOptions): Promise<VerifiedFile[]> {
  options.signal?.throwIfAborted();
  const verified: VerifiedFile[] = [];
  const pending: PendingFile[] = [];
  for (const [index, input] of files.entries()) {
    const begun = await begin(input, index, options);
    if ('status' in begun) verified[index] = begun;
    else pending.push(begun);
  }
  for await (const result of runTasks(pending, options)) {
    const file = pending[result.task];
    if (file === undefined) throw new RangeError(`a result names task ${result.task} of ${pending.length}`);
    verified[file.index] = await finish(file, result, options);
  }
  return verified;
}

/** An open file and what it should be. */
interface Opened {
  readonly source: ByteSource;
  readonly name: string;
  readonly expected: Expectation;
}

/** A file whose digests are still to be computed. */
interface PendingFile {
  readonly index: number;
  readonly opened: Opened;
  readonly digests: ReadonlyMap<DigestAlgorithm, string>;
  /** The source's identity before the first byte was read. */
  readonly identity: string;
}

/** Everything that can be said without reading the whole file. */
async function begin(input: VerifyInput, index: number, options: VerifyOptions): Promise<VerifiedFile | PendingFile> {
  const { expected } = input;
  if ('failure' in input) return failed({ name: input.name, expected }, input.failure);
  const { source, name = source.name } = input;
  const opened = { source, name, expected };
  const wanted = parseExpected(name, expected);
  if (wanted.findings.length > 0) return { ...described(opened), status: 'unverified', findings: wanted.findings };
  const sizes = compareSizes(expected.byteLength ?? source.size, source.size, { path: name, origin: expected.origin });
  if (sizes.length > 0) return mismatch(opened, new Map(), sizes, options);
  if (wanted.digests.size === 0) {
    const args = { byteLength: expected.byteLength ?? null, origin: expected.origin };
    return { ...described(opened), status: 'unverified', findings: [finding('VERIFY_NO_EXPECTATION', 'error', { path: name }, args)] };
  }
  try {
    // What it was when it was opened, where that is known: its size is of that moment.
    const identity = source.locator?.identity ?? (await source.identity());
    return { index, opened, digests: wanted.digests, identity };
  } catch (failure) {
    options.signal?.throwIfAborted();
    return failed(opened, failure);
  }
}

function parseExpected(path: string, expected: Expectation): { digests: Map<DigestAlgorithm, string>; findings: Finding[] } {
  const digests = new Map<DigestAlgorithm, string>();
  const findings: Finding[] = [];
  for (const [algorithm, text] of expected.digests) {
    const parsed = tryParseDigest(algorithm, text);
    if (parsed.ok) digests.set(algorithm, parsed.digest);
    else findings.push(finding(parsed.error.code, 'error', { path }, { ...parsed.error.context, origin: expected.origin }));
  }
  return { digests, findings };
}

async function* runTasks(pending: readonly PendingFile[], options: VerifyOptions): AsyncIterable<TaskResult> {
  if (pending.length === 0) return;
  const { signal, onProgress } = options;
  const sources = pending.map(({ opened }) => opened.source);
  const tasks = pending.map(({ opened, digests }, index): DigestTask => {
    return { kind: 'digest', source: index, start: 0, end: opened.source.size, algorithms: [...digests.keys()] };
  });
  const done = pending.map(() => 0);
  const onBytes = (task: number, count: number): void => {
    const opened = pending[task]?.opened;
    if (opened === undefined) return;
    const bytesDone = (done[task] ?? 0) + count;
    done[task] = bytesDone;
    onProgress?.({ phase: 'verifying', subject: opened.name, bytesDone, bytesTotal: opened.source.size });
  };
  yield* options.tasks.run(tasks, sources, { onBytes, ...(signal === undefined ? {} : { signal }) });
}

async function finish(file: PendingFile, result: TaskResult, options: VerifyOptions): Promise<VerifiedFile> {
  const { opened } = file;
  const { name, expected } = opened;
  const changed = await changeOf(file);
  if (changed !== undefined) return { ...described(opened), status: 'unreadable', findings: [changed] };
  if (!result.ok) return failed(opened, result.error);
  const findings = digestFindings(differingDigests(file.digests, result.digests), { path: name, origin: expected.origin });
  if (findings.length > 0) return mismatch(opened, result.digests, findings, options);
  return { ...described(opened), status: 'ok', digests: result.digests, findings };
}

/** Digests of a file that changed meanwhile prove nothing, neither a match nor a mismatch. */
async function changeOf({ opened: { source, name }, identity }: PendingFile): Promise<Finding | undefined> {
  try {
    const now = await source.identity();
    return now === identity ? undefined : finding('SOURCE_CHANGED', 'error', { path: name }, { before: identity, after: now });
  } catch (failure) {
    return failureFinding(name, failure);
  }
}

async function mismatch(opened: Opened, digests: Digests, findings: readonly Finding[], options: VerifyOptions): Promise<VerifiedFile> {
  const { signal, limits } = options;
  const explained = await explainMismatch(opened.source, {
    expected: opened.expected,
    name: opened.name,
    ...(signal === undefined ? {} : { signal }),
    ...(limits === undefined ? {} : { limits }),
  }).catch((failure: unknown): Finding[] => {
    signal?.throwIfAborted();
    // The mismatch stands without its explanation.
    if (isAssayError(failure)) return [];
    throw failure;
  });
  // The wrong size is among the findings already.
  const added = explained.filter(({ code }) => code !== 'SIZE_MISMATCH');
  return { ...described(opened), status: 'mismatch', digests, findings: [...findings, ...added] };
}

function failed(file: { name: string; expected: Expectation; source?: ByteSource }, failure: unknown): VerifiedFile {
  const { name, expected, source } = file;
  const findings = [failureFinding(name, failure)];
  return { name, byteLength: source?.size, digests: new Map(), expected, status: statusOfFailure(failure), findings };
}

function described({ source, name, expected }: Opened): Omit<VerifiedFile, 'status' | 'findings'> {
  return { name, byteLength: source.size, digests: new Map(), expected };
}
