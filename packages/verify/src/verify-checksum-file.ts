/**
 * All files of a checksum file, with the verdicts of `sha256sum -c`.
 * Opens a bounded number of them at a time, through the caller's `open`: the caller resolves names.
 */
import { AssayError, Disposer, finding, type ByteSource, type DigestAlgorithm, type Finding } from '@assay/core';
import type { Expectation } from './expectation.ts';
import type { ChecksumFile } from './expectations/checksum-file.ts';
import { verifyEach, type VerifyInput, type VerifyOptions } from './verify-file.ts';
import { reportOf, type VerifiedFile, type VerifyReport } from './verify-report.ts';

/** Options of `verifyChecksumFile`. */
export interface VerifyChecksumOptions extends VerifyOptions {
  /** Opens a listed file; the source is disposed of when it has been verified. */
  readonly open: (name: string) => Promise<ByteSource>;
  /** A listed file that is missing is no error; that no file was verified still is. */
  readonly ignoreMissing?: boolean;
  /** A malformed line is an error. */
  readonly strict?: boolean;
}

/** Open at a time: below every system's limit of open files, enough to keep all threads busy. */
const BATCH = 64;

/**
 * Verifies every file that a checksum file lists, each read once however many lines name it, in the order of their first lines.
 * @example
 * const list = parseChecksumFile(bytes, { name: 'SHA256SUMS', trusted: true });
 * const { ok } = await verifyChecksumFile(list, { open: (name) => folder.open(name), tasks });
 */
export async function verifyChecksumFile(list: ChecksumFile, options: VerifyChecksumOptions): Promise<VerifyReport> {
  const { strict = false, ignoreMissing = false } = options;
  const expectations = [...expectationsByName(list)];
  const files: VerifiedFile[] = [];
  for (let at = 0; at < expectations.length; at += BATCH) {
    files.push(...(await verifyBatch(expectations.slice(at, at + BATCH), options)));
  }
  const before = strict ? list.findings.map(malformedIsError) : list.findings;
  return reportOf(ignoreMissing ? files.map(missingIsNoError) : files, before);
}

function expectationsByName(list: ChecksumFile): Map<string, Expectation> {
  const byName = new Map<string, { digests: Map<DigestAlgorithm, string>; origin: string }>();
  for (const { name, algorithm, digest, line } of list.lines) {
    const known = byName.get(name);
    if (known === undefined) byName.set(name, { digests: new Map([[algorithm, digest]]), origin: `${list.name} line ${line}` });
    else known.digests.set(algorithm, digest);
  }
  return byName;
}

async function verifyBatch(batch: readonly [string, Expectation][], options: VerifyChecksumOptions): Promise<VerifiedFile[]> {
  await using opened = new Disposer();
  const inputs: VerifyInput[] = [];
  for (const [name, expected] of batch) {
    options.signal?.throwIfAborted();
    try {
      inputs.push({ source: opened.use(await openListed(name, options)), name, expected });
    } catch (failure) {
      options.signal?.throwIfAborted();
      inputs.push({ name, failure, expected });
    }
  }
  // Awaited here: the sources are disposed of when this block is left.
  return await verifyEach(inputs, options);
}

async function openListed(name: string, { open }: VerifyChecksumOptions): Promise<ByteSource> {
  if (name !== '') return open(name);
  throw new AssayError('SOURCE_NOT_FOUND', {
    message: 'a line of the checksum file names no file',
    hint: 'Write the list again.',
    context: { path: '' },
  });
}

function malformedIsError(given: Finding): Finding {
  return given.code === 'CHECKSUM_LINES_MALFORMED' ? { ...given, severity: 'error' } : given;
}

function missingIsNoError(file: VerifiedFile): VerifiedFile {
  if (file.status !== 'missing') return file;
  return { ...file, findings: file.findings.map(({ subject, args }) => finding('SOURCE_NOT_FOUND', 'info', subject, args)) };
}
