/**
 * Files against what they should be, wired for Node: given digests, checksum files, a reference copy, or structure alone.
 */
import { Disposer, finding, isAssayError, isOk, type Finding, type Limits, type OnProgress, type Report, type TaskRunner } from '@assay/core';
import { createTaskRunner, nodeHashers, nodeKernels, openFile } from '@assay/node';
import {
  checkStructure,
  createExpectation,
  verifyChecksumFile,
  verifyFiles,
  type ChecksumFile,
  type Expectation,
  type GivenDigests,
  type StructureReport,
  type VerifiedFile,
} from '@assay/verify';
import { expectationsFor, readChecksumFile, referenceCopy } from './expectations.ts';
import { openListed } from './listed-file.ts';
import { verifyStandardInput } from './standard-input.ts';
import { UsageError } from '../usage-error.ts';

/** Options of `verify`. Without any expectation only the structure can be proven, and that alone is an error unless `structure`. */
export interface VerifyOptions {
  /** Hex digests of the one path given. */
  readonly digests?: GivenDigests;
  /** A checksum file: its lines are verified, all or those of the given paths. */
  readonly checksumFile?: string;
  /** A checksum file, or another copy of the file. */
  readonly against?: string;
  /** Prove the structure too; enough where there is no expectation. */
  readonly structure?: boolean;
  /** Lines of a checksum file whose file is missing are no error. */
  readonly ignoreMissing?: boolean;
  /** Malformed lines of a checksum file are errors. */
  readonly strict?: boolean;
  readonly threads?: number;
  /** A runner of yours, borrowed; without it one is started here, with `threads`. */
  readonly tasks?: TaskRunner;
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  readonly onProgress?: OnProgress;
}

/** What was found of one file; `structure` where it was looked at. */
export interface FileVerification extends VerifiedFile {
  readonly structure?: StructureReport;
}

/** What `verify` returns: files in the order asked for. */
export interface VerificationReport extends Report {
  readonly files: readonly FileVerification[];
}

/**
 * Verifies files. Nothing is thrown for a file's content: it is in the report.
 * @throws {AssayError} `DIGEST_MALFORMED`, `DIGEST_OTHER_ALGORITHM`; for the checksum file itself `SOURCE_NOT_FOUND`, `LIMIT_EXCEEDED`
 * @throws {TypeError} for options that contradict each other
 */
export async function verify(paths: readonly string[], options: VerifyOptions = {}): Promise<VerificationReport> {
  checkOptions(paths, options);
  const list = await expectedList(options);
  // A list of nothing but standard input is verified as if that was given as the path.
  const isOfInput = list !== undefined && list.lines.length > 0 && list.lines.every(({ name }) => name === '-');
  if (list !== undefined && paths.length === 0 && !isOfInput) return verifyList(list, options);
  const files: FileVerification[] = [];
  for (const wanted of await expectations(paths.length === 0 ? ['-'] : paths, list, options)) {
    options.signal?.throwIfAborted();
    files.push(...(await verifyOne(wanted, options)));
  }
  return reportOf(files, list?.findings ?? [], options);
}

function checkOptions(paths: readonly string[], { digests = {}, checksumFile, against, structure = false }: VerifyOptions): void {
  const given = Object.values(digests).some((digest) => digest !== undefined);
  const origins = [given, checksumFile !== undefined, against !== undefined].filter(Boolean).length;
  if (origins > 1) throw new UsageError('give digests, a checksum file or --against, one of them');
  if (given && paths.length !== 1) throw new UsageError('a digest is of one file: give one path');
  if (paths.length === 0 && checksumFile === undefined) throw new UsageError('give a path, or a checksum file with -c');
  const fromInput = [...paths, checksumFile, against].filter((path) => path === '-').length;
  if (fromInput > 1) throw new UsageError('standard input can be read only once');
  if (structure && paths.includes('-')) throw new UsageError('--structure needs a file: standard input can be read only once');
}

interface Wanted {
  readonly path: string;
  readonly expectation: Expectation | undefined;
  /** The checksum file that does not list it. */
  readonly unlistedIn?: string;
}

/** The checksum file among the options: `against` may be one, or another copy. */
async function expectedList({ checksumFile, against, limits }: VerifyOptions): Promise<ChecksumFile | undefined> {
  if (checksumFile !== undefined) return readChecksumFile(checksumFile, limits);
  return against === undefined || against === '-' ? undefined : readChecksumFile(against, limits, { orNothing: true });
}

async function expectations(paths: readonly string[], list: ChecksumFile | undefined, options: VerifyOptions): Promise<readonly Wanted[]> {
  const { digests, against } = options;
  if (digests !== undefined && Object.values(digests).some((digest) => digest !== undefined)) {
    return paths.map((path) => ({ path, expectation: createExpectation(digests, { origin: 'the command line' }) }));
  }
  if (list !== undefined) return paths.map((path) => ({ path, expectation: expectationsFor(list, path), unlistedIn: list.name }));
  const reference = against === undefined ? undefined : await referenceCopy(against, options);
  return paths.map((path) => ({ path, expectation: reference }));
}

async function verifyList(list: ChecksumFile, options: VerifyOptions): Promise<VerificationReport> {
  const { tasks, ignoreMissing, strict } = options;
  if (tasks === undefined) {
    await using started = createTaskRunner(threadOptions(options));
    return await verifyList(list, { ...options, tasks: started });
  }
  return verifyChecksumFile(list, {
    ...common(options),
    tasks,
    open: (name) => openListed(name, list.name),
    ...(ignoreMissing === undefined ? {} : { ignoreMissing }),
    ...(strict === undefined ? {} : { strict }),
  });
}

async function verifyOne({ path, expectation, unlistedIn }: Wanted, options: VerifyOptions): Promise<FileVerification[]> {
  if (path === '-') return [await verifyStandardInput(expectation, options)];
  await using owned = new Disposer();
  const expected = expectation ?? createExpectation({}, { origin: 'nowhere' });
  try {
    const source = owned.use(await openFile(path));
    const needsStructure = options.structure === true || expectation === undefined;
    const structure = needsStructure ? await proveStructure(source, options) : undefined;
    if (expectation === undefined && structure !== undefined) return [unverified({ name: path, byteLength: source.size, expected }, structure, { ...options, unlistedIn })];
    const tasks = options.tasks ?? owned.use(createTaskRunner({ threads: 1 }));
    const { files } = await verifyFiles([{ source, name: path, expected }], { ...common(options), tasks });
    return files.map((file) => (structure === undefined ? file : withStructure(file, structure)));
  } catch (failure) {
    options.signal?.throwIfAborted();
    if (!isAssayError(failure)) throw failure;
    await using tasks = createTaskRunner({ threads: 1, callerHelps: true });
    const { files } = await verifyFiles([{ name: path, failure, expected }], { tasks });
    return [...files];
  }
}

function proveStructure(source: Awaited<ReturnType<typeof openFile>>, options: VerifyOptions): Promise<StructureReport> {
  const { onProgress } = options;
  let bytesDone = 0;
  const onBytes = (count: number): void => {
    bytesDone += count;
    onProgress?.({ phase: 'verifying', subject: source.name, bytesDone, bytesTotal: source.size });
  };
  return checkStructure(source, { ...common(options), kernels: nodeKernels, hashers: nodeHashers, onBytes });
}

function unverified(
  file: Pick<VerifiedFile, 'name' | 'byteLength' | 'expected'>,
  structure: StructureReport,
  { structure: enough = false, unlistedIn }: VerifyOptions & { readonly unlistedIn: string | undefined },
): FileVerification {
  // A file that is broken in itself needs no word about what it could not be compared with.
  const nothing = finding('VERIFY_NO_EXPECTATION', enough ? 'info' : 'error', { path: file.name }, unlistedIn === undefined ? {} : { unlistedIn });
  const findings = structure.ok ? [...structure.findings, nothing] : structure.findings;
  const status = structure.ok ? (enough ? 'ok' : 'unverified') : 'mismatch';
  return { ...file, status, digests: new Map(), findings, structure };
}

function withStructure(file: VerifiedFile, structure: StructureReport): FileVerification {
  const status = file.status === 'ok' && !structure.ok ? 'mismatch' : file.status;
  return { ...file, status, findings: [...file.findings, ...structure.findings], structure };
}

function reportOf(files: readonly FileVerification[], ofList: readonly Finding[], { strict = false }: VerifyOptions): VerificationReport {
  const before = ofList.map((one): Finding => (strict && one.code === 'CHECKSUM_LINES_MALFORMED' ? { ...one, severity: 'error' } : one));
  const findings = [...before, ...files.flatMap((file) => file.findings)];
  return { ok: isOk(findings), complete: files.every(({ status }) => status !== 'unreadable'), findings, files };
}

function threadOptions({ threads }: VerifyOptions): { threads?: number } {
  return threads === undefined ? {} : { threads };
}

function common({ signal, limits, onProgress }: VerifyOptions): { signal?: AbortSignal; limits?: Partial<Limits>; onProgress?: OnProgress } {
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(limits === undefined ? {} : { limits }),
    ...(onProgress === undefined ? {} : { onProgress }),
  };
}

