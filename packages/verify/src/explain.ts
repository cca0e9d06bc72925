/**
 * What a file that is not the expected one really is, as facts.
 * Looks at little of it: head, tail, and the header or directory of a container. Judges nothing: its findings are `info`.
 */
import { blameOf, finding, isAssayError, type AssayError, type ByteSource, type Fact, type Facts, type Finding, type Limits } from '@assay/core';
import type { DetectedKind, Detection } from '@assay/formats';
import { compareSizes } from './compare.ts';
import type { Expectation } from './expectation.ts';

/** Options of `explainMismatch`. */
export interface ExplainOptions {
  readonly expected?: Expectation;
  /** What findings call the file; the source's own name where absent. */
  readonly name?: string;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<Limits>;
}

/** Problems of one container that are listed: more would not explain more. */
const LISTED_PROBLEMS = 5;

/**
 * Says what a file really is: empty, zeros (or zeros first: a hole), a Git LFS pointer (`args.oidIsExpected`: to the very file that was expected),
 * a web page, an error in JSON or plain text, something compressed, a container that is cut; shorter or longer than expected.
 * A kind that the file's name promises is no explanation. Nothing odd: no findings.
 * @throws {AssayError} as `ByteSource.readInto`
 */
export async function explainMismatch(source: ByteSource, options: ExplainOptions = {}): Promise<Finding[]> {
  const { expected, name: path = source.name } = options;
  const readOptions = {
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  };
  // Loaded when there is something to explain: the readers take longer to load than all the rest.
  const { detect, refusalOf } = await import('@assay/formats');
  const detection = await detect(source, readOptions);
  const refusal = refusalOf(detection, source);
  const sizes = expected?.byteLength === undefined ? [] : compareSizes(expected.byteLength, source.size, { path, origin: expected.origin });
  const found = [...sizes, ...kindFindings(detection, refusal, path, expected), ...(await containerFindings(detection, source, readOptions))];
  return found.map(({ code, subject, args }) => finding(code, 'info', { ...subject, path }, args));
}

function kindFindings({ kind, facts }: Detection, refusal: AssayError | undefined, path: string, expected: Expectation | undefined): Finding[] {
  const hole = kind === 'unknown' && facts['zerosAtStart'] !== undefined;
  if (!(telling.has(kind) || hole) || promisedBy(path).has(kind)) return [];
  if (refusal === undefined) return [];
  const args = { ...facts, found: kind, ...(kind === 'git-lfs-pointer' ? pointerFacts(facts, expected) : {}) };
  return [finding(refusal.code, 'info', { path }, args)];
}

/** A pointer to the expected file says that Git LFS did not fetch it; a pointer to another says that it is the wrong one, too. */
function pointerFacts({ oid, size }: Facts, expected: Expectation | undefined): Record<string, Fact> {
  const sha256 = expected?.digests.get('sha256');
  return {
    ...(sha256 === undefined || typeof oid !== 'string' ? {} : { oidIsExpected: oid.toLowerCase() === sha256.toLowerCase() }),
    ...(expected?.byteLength === undefined ? {} : { sizeIsExpected: Number(size) === expected.byteLength }),
  };
}

/** Kinds that nobody publishes as weights; others may well be what was meant. */
const telling: ReadonlySet<DetectedKind> = new Set([
  'empty',
  'zeros',
  'git-lfs-pointer',
  'html',
  'xml',
  'json',
  'text',
  'pdf',
  'gzip',
  'zlib',
  'zstd',
  'xz',
  'bzip2',
  'lz4',
  '7z',
  'rar',
  'tar',
]);

/** The kinds that a name's extension promises. */
function promisedBy(path: string): ReadonlySet<DetectedKind> {
  const extension = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return new Set(promises.get(extension) ?? []);
}

const promises: ReadonlyMap<string, readonly DetectedKind[]> = new Map<string, readonly DetectedKind[]>([
  ['json', ['json', 'text']],
  ['jsonl', ['json', 'text']],
  ['ipynb', ['json']],
  ['html', ['html', 'xml']],
  ['htm', ['html', 'xml']],
  ['xml', ['xml', 'html']],
  ['svg', ['xml', 'html']],
  ['pdf', ['pdf']],
  ['gz', ['gzip']],
  ['tgz', ['gzip']],
  ['zst', ['zstd']],
  ['xz', ['xz']],
  ['bz2', ['bzip2']],
  ['lz4', ['lz4']],
  ['7z', ['7z']],
  ['rar', ['rar']],
  ['tar', ['tar']],
  ...['txt', 'md', 'py', 'yaml', 'yml', 'csv', 'tsv', 'jinja', 'toml', 'cfg', 'ini', 'merges', 'vocab'].map((text): [string, DetectedKind[]] => [
    text,
    ['text', 'html', 'xml', 'json'],
  ]),
]);

/** What is wrong with the container itself: where it was cut, what lies behind it. */
async function containerFindings(
  { kind }: Detection,
  source: ByteSource,
  options: { readonly signal?: AbortSignal; readonly limits?: Partial<Limits> },
): Promise<Finding[]> {
  try {
    if (kind === 'safetensors') {
      const { checkSafetensors } = await import('safetensors-js');
      return problems((await checkSafetensors(source, options)).findings);
    }
    if (!zips.has(kind)) return [];
    const { surveyZipDirectory } = await import('@assay/formats');
    return problems((await surveyZipDirectory(source, options)).findings);
  } catch (error) {
    if (!isAssayError(error) || blameOf(error.code) === 'world') throw error;
    return error.findings.length > 0 ? problems(error.findings) : [finding(error.code, 'info', {}, error.context)];
  }
}

const zips: ReadonlySet<DetectedKind> = new Set(['torch-zip', 'torchscript', 'torch-package', 'torch-export', 'zip', 'npz']);

function problems(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ severity }) => severity === 'error').slice(0, LISTED_PROBLEMS);
}
