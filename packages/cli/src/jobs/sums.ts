/**
 * Digests of files and of whole folders, wired for Node.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Disposer,
  finding,
  isAssayError,
  isOk,
  type ByteSource,
  type DigestAlgorithm,
  type Finding,
  type OnProgress,
  type Report,
  type TaskRunner,
} from '@assay/core';
import { createTaskRunner, openFile, openFolder } from '@assay/node';
import { digestStandardInput } from './standard-input.ts';
import { progressOver } from './task-progress.ts';

/** Options of `sums`. */
export interface SumsOptions {
  readonly algorithm?: DigestAlgorithm;
  readonly threads?: number;
  /** A runner of yours, borrowed; without it one is started here, with `threads`. */
  readonly tasks?: TaskRunner;
  readonly signal?: AbortSignal;
  readonly onProgress?: OnProgress;
}

/** One file's digest; lower-case hex. */
export interface FileSum {
  readonly path: string;
  readonly byteLength: number;
  readonly digest: string;
}

/** The digests, in the order asked for; files of a folder sorted by path. */
export interface SumsReport extends Report {
  readonly algorithm: DigestAlgorithm;
  readonly files: readonly FileSum[];
}

/**
 * The digests of files, and of every file below folders; `-` is standard input.
 * A file that cannot be read is a finding and does not stop the others.
 */
export async function sums(paths: readonly string[], options: SumsOptions = {}): Promise<SumsReport> {
  const { algorithm = 'sha256', threads, tasks } = options;
  if (tasks === undefined) {
    await using started = createTaskRunner(threads === undefined ? {} : { threads });
    return await sums(paths, { ...options, tasks: started });
  }
  const findings: Finding[] = [];
  const files: FileSum[] = [];
  const wanted: string[] = [];
  for await (const path of expandFolders(paths, findings)) wanted.push(path);
  for (let at = 0; at < wanted.length; at += BATCH) {
    files.push(...(await digestBatch(wanted.slice(at, at + BATCH), algorithm, tasks, findings, options)));
  }
  return { ok: isOk(findings), complete: files.length === wanted.length, algorithm, files, findings };
}

/** Open at a time: below every system's limit of open files, enough to keep all threads busy. */
const BATCH = 64;

async function digestBatch(
  paths: readonly string[],
  algorithm: DigestAlgorithm,
  runner: TaskRunner,
  findings: Finding[],
  { signal, onProgress }: SumsOptions,
): Promise<FileSum[]> {
  await using owned = new Disposer();
  const done = new Map<string, FileSum>();
  const sources: ByteSource[] = [];
  for (const path of new Set(paths)) {
    try {
      if (path === '-') done.set(path, await sumStandardInput(algorithm, signal));
      else sources.push(owned.use(await openFile(path)));
    } catch (error) {
      findings.push(unreadable(path, error));
    }
  }
  const tasks = sources.map(({ size }, source) => ({ kind: 'digest', source, start: 0, end: size, algorithms: [algorithm] }) as const);
  const onBytes = progressOver(sources, 'reading', onProgress);
  for await (const result of runner.run(tasks, sources, { ...(signal === undefined ? {} : { signal }), onBytes })) {
    const source = sources[result.task];
    if (source === undefined) continue;
    const { name: path, size: byteLength } = source;
    if (!result.ok) findings.push(unreadable(path, result.error));
    else done.set(path, { path, byteLength, digest: result.digests.get(algorithm) ?? '' });
  }
  return paths.map((path) => done.get(path)).filter((file) => file !== undefined);
}

async function sumStandardInput(algorithm: DigestAlgorithm, signal: AbortSignal | undefined): Promise<FileSum> {
  const { byteLength, digests } = await digestStandardInput([algorithm], signal);
  return { path: '-', byteLength, digest: digests.get(algorithm) ?? '' };
}

function unreadable(path: string, error: unknown): Finding {
  if (!isAssayError(error)) throw error;
  return finding(error.code, 'error', { path }, error.context);
}

async function* expandFolders(paths: readonly string[], findings: Finding[]): AsyncIterable<string> {
  for (const path of paths) {
    if (path === '-' || !(await isFolder(path))) yield path;
    else yield* filesBelow(path, findings);
  }
}

async function* filesBelow(folder: string, findings: Finding[]): AsyncIterable<string> {
  let found = 0;
  try {
    for await (const { path, kind, dangling } of openFolder(folder).list()) {
      const file = join(folder, path);
      if (dangling !== true && kind !== 'file' && !(kind === 'link' && (await isRegular(file)))) continue;
      found += 1;
      yield file;
    }
  } catch (error) {
    if (!isAssayError(error)) throw error;
    const { path } = error.context;
    findings.push(unreadable(typeof path === 'string' ? path : folder, error));
    return;
  }
  if (found === 0) findings.push(finding('SUMS_NO_FILES', 'error', { path: folder }));
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** True also for what cannot be looked at: opening it says why. */
function isRegular(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => true,
  );
}
