/**
 * Opens bytes as the archive that they really are, whatever their name says.
 */
import { AssayError, finding, type ByteSource, type Finding, type Format, type Kernels, type Limits, type TensorArchive } from '@assay/core';
import { openSafetensors } from 'safetensors-js';
import type { Detection } from './detect/kinds.ts';
import { detect, polyglotFinding } from './detect.ts';
import { refusalOf } from './refusal.ts';
import { openTorchZip } from './torch/zip-checkpoint.ts';

/** Options of `openArchive`. */
export interface OpenOptions {
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  /** The path of the part of a checkpoint to take as the weights, such as `a.b`. */
  readonly select?: string;
  readonly kernels?: Kernels;
  /** What `detect` has said of the source already. */
  readonly detection?: Detection;
}

/**
 * Opens a file of weights as one archive of named tensors. Borrows the source.
 * @throws {AssayError} `FORMAT_*` for what is not weights or not read here, with what to do; else as the reader of the format
 */
export async function openArchive(source: ByteSource, options: OpenOptions = {}): Promise<TensorArchive> {
  const { limits, signal, select, kernels } = options;
  const reading = { ...(limits === undefined ? {} : { limits }), ...(signal === undefined ? {} : { signal }) };
  const detection = options.detection ?? (await detect(source, reading));
  if (detection.kind === 'safetensors') {
    if (select !== undefined) throw nothingToSelect(source, select);
    return withRemarks(await openSafetensors(source, reading), source, detection);
  }
  if (detection.kind === 'torch-zip') {
    const more = { ...(select === undefined ? {} : { select }), ...(kernels === undefined ? {} : { kernels }) };
    return withRemarks(await openTorchZip(source, { ...reading, ...more }), source, detection);
  }
  throw refusalOf(detection, source) ?? new TypeError(`${detection.kind} is detected, but neither opened nor refused`);
}

function nothingToSelect(source: ByteSource, select: string): AssayError {
  return new AssayError('TORCH_SELECT_NOT_FOUND', {
    message: `${source.name}: is a safetensors file, whose tensors lie side by side: there is no ${JSON.stringify(select)} to select`,
    hint: 'Leave the selection out.',
    context: { select, available: [] },
  });
}

const promises: ReadonlyMap<string, Format> = new Map([
  ['safetensors', 'safetensors'],
  ['bin', 'torch-zip'],
  ['pt', 'torch-zip'],
  ['pth', 'torch-zip'],
  ['ckpt', 'torch-zip'],
]);

/** What the name promises otherwise, and what other programs may read, comes before what is inside. */
function withRemarks(archive: TensorArchive, source: ByteSource, detection: Detection): TensorArchive {
  const extension = /\.([^./\\]+)$/.exec(source.name)?.[1]?.toLowerCase();
  const promised = extension === undefined ? undefined : promises.get(extension);
  const polyglot = polyglotFinding(detection, source);
  const remarks: Finding[] = polyglot === undefined ? [] : [polyglot];
  if (promised !== undefined && promised !== archive.format) {
    remarks.unshift(finding('FORMAT_NAME_MISLEADS', 'warning', { path: source.name }, { found: archive.format, expected: promised }));
  }
  return remarks.length === 0 ? archive : { ...archive, findings: [...remarks, ...archive.findings] };
}
