/**
 * What a file really is, wired for Node: detection, then the archive without reading a single tensor.
 */
import { AssayError, isOk, type Finding, type Limits, type Report, type TensorInfo } from '@assay/core';
import { detect, openArchive, refusalOf, type Detection } from '@assay/formats';
import { openFile } from '@assay/node';
import { errorFindings } from './error-findings.ts';

/** Options of `inspect`. */
export interface InspectOptions {
  /** Which value of a checkpoint holds the weights, as a dotted path. */
  readonly select?: string;
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
}

/** What `inspect` says of one file. Sizes are bytes. */
export interface InspectReport extends Report {
  readonly path: string;
  readonly byteLength: number;
  readonly kind: Detection['kind'];
  readonly alsoReadableAs: Detection['alsoReadableAs'];
  readonly facts: ReadonlyMap<string, string>;
  readonly metadata: ReadonlyMap<string, string>;
  readonly tensors: readonly TensorInfo[];
  /** What the file holds beside these tensors. */
  readonly leftOut: readonly Finding[];
  /** Why it could not be opened, where it could not. */
  readonly error?: AssayError;
}

/**
 * Says what a file is: format, tensors, dtypes, shapes, metadata. Reads headers only.
 * Content never throws: what is wrong with it is in `error` and `findings`.
 * @throws {AssayError} `SOURCE_NOT_FOUND`, `SOURCE_NOT_A_FILE`, `IO_PERMISSION`, `IO_FAILED`
 */
export async function inspect(path: string, options: InspectOptions = {}): Promise<InspectReport> {
  await using source = await openFile(path);
  const detection = await detect(source, options);
  const base = { path, byteLength: source.size, kind: detection.kind, alsoReadableAs: detection.alsoReadableAs, complete: true };
  try {
    const refusal = refusalOf(detection, source);
    if (refusal !== undefined) throw refusal;
    await using archive = await openArchive(source, { ...options, detection });
    const { facts, metadata, leftOut, findings } = archive;
    return { ...base, ok: isOk(findings), facts, metadata, leftOut, findings, tensors: [...archive.tensors.values()] };
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    const findings = errorFindings(error, path);
    return { ...base, ok: false, facts: new Map(), metadata: new Map(), leftOut: [], findings, tensors: [], error };
  }
}
