/**
 * Proof that a file is whole without anything to compare it with: the container's own rules and checksums.
 * A proof of structure is none of origin: another model's file passes.
 */
import {
  blameOf,
  finding,
  isAssayError,
  isOk,
  type AssayError,
  type ByteSource,
  type Finding,
  type HasherProvider,
  type Kernels,
  type Limits,
  type Report,
} from '@assay/core';
import type { DetectedKind, Detection } from '@assay/formats';

/** Options of `checkStructure`. */
export interface StructureOptions {
  readonly hashers: HasherProvider;
  readonly kernels?: Kernels;
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  /** Called with the number of bytes read for checksums since the last call. */
  readonly onBytes?: (count: number) => void;
}

/** What the structure of a file proves. */
export interface StructureReport extends Report {
  /** What the bytes are. */
  readonly kind: DetectedKind;
  /** Tensors whose place in the file was proven. */
  readonly tensors: number;
  /** Members of a zip container whose CRC-32 was computed, and what came of it. */
  readonly members?: number;
  readonly crcMatched?: number;
  readonly crcWrong?: number;
}

/**
 * Proves a safetensors file (header, no holes, no overlaps, ends where it says), or a PyTorch zip (sound directory, CRC-32 of
 * every member, every tensor inside its storage). What is neither is the `FORMAT_*` finding that says what it is.
 * Weights of a kind that is not converted, and bytes that can be read as another format too, are warnings.
 * @throws {AssayError} only for the world's faults, as `ByteSource.readInto`
 * @example
 * const { ok, kind, tensors } = await checkStructure(source, { hashers: wasmHashers });
 */
export async function checkStructure(source: ByteSource, options: StructureOptions): Promise<StructureReport> {
  // Loaded when a structure is to be proven: the readers take longer to load than all the rest.
  const { detect, polyglotFinding } = await import('@assay/formats');
  const before = await source.identity();
  const detection = await detect(source, common(options));
  const polyglot = polyglotFinding(detection, source);
  const proven = await proof(source, detection, options);
  const report = polyglot === undefined ? proven : { ...proven, findings: [polyglot, ...proven.findings] };
  const after = await source.identity();
  if (before === after) return report;
  const changed = finding('SOURCE_CHANGED', 'error', { path: source.name }, { before, after });
  return { ...report, ok: false, complete: false, findings: [...report.findings, changed] };
}

async function proof(source: ByteSource, detection: Detection, options: StructureOptions): Promise<StructureReport> {
  const { refusalOf } = await import('@assay/formats');
  const refusal = refusalOf(detection, source);
  if (refusal !== undefined) {
    return { ok: false, complete: true, kind: detection.kind, tensors: 0, findings: asFindings(refusal, source) };
  }
  if (detection.kind === 'safetensors') {
    const { checkSafetensors } = await import('safetensors-js');
    const { ok, complete, findings, tensors } = await checkSafetensors(source, common(options));
    return { ok, complete, kind: detection.kind, tensors: tensors.size, findings };
  }
  return proveZip(source, detection, options);
}

async function proveZip(source: ByteSource, detection: Detection, options: StructureOptions): Promise<StructureReport> {
  const { kernels, hashers, onBytes } = options;
  const { checkZip } = await import('@assay/formats');
  const zip = await checkZip(source, {
    ...common(options),
    hashers,
    ...(kernels === undefined ? {} : { kernels }),
    ...(onBytes === undefined ? {} : { onBytes }),
  });
  const { members, crcMatched, crcWrong } = zip;
  const opened = await tensorsOf(source, detection, options);
  const findings = distinct([...zip.findings, ...opened.findings]);
  return { ok: isOk(findings), complete: zip.complete, kind: detection.kind, tensors: opened.tensors, members, crcMatched, crcWrong, findings };
}

async function tensorsOf(source: ByteSource, detection: Detection, options: StructureOptions): Promise<{ tensors: number; findings: readonly Finding[] }> {
  const { kernels } = options;
  const { openArchive } = await import('@assay/formats');
  try {
    await using archive = await openArchive(source, { ...common(options), detection, ...(kernels === undefined ? {} : { kernels }) });
    return { tensors: archive.tensors.size, findings: [...archive.findings, ...unproven(archive.leftOut)] };
  } catch (error) {
    if (!isAssayError(error) || blameOf(error.code) === 'world') throw error;
    return { tensors: 0, findings: asFindings(error, source) };
  }
}

/** Weights that nobody could look into. What was left out because it is no weights is nothing for a proof to say. */
function unproven(leftOut: readonly Finding[]): Finding[] {
  return leftOut.filter(({ severity }) => severity === 'error').map((left) => ({ ...left, severity: 'warning' }));
}

function asFindings(error: AssayError, source: ByteSource): readonly Finding[] {
  if (error.findings.length > 0) return error.findings;
  const { offset } = error.context;
  return [finding(error.code, 'error', { path: source.name, ...(typeof offset === 'number' ? { start: offset } : {}) }, error.context)];
}

/** The directory is read for both proofs: what is wrong with it is said once. */
function distinct(findings: readonly Finding[]): Finding[] {
  const seen = new Map<string, Finding>();
  for (const one of findings) {
    const key = JSON.stringify([one.code, one.subject, one.args], (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    if (!seen.has(key)) seen.set(key, one);
  }
  return [...seen.values()];
}

function common({ signal, limits }: StructureOptions): { readonly signal?: AbortSignal; readonly limits?: Partial<Limits> } {
  return { ...(signal === undefined ? {} : { signal }), ...(limits === undefined ? {} : { limits }) };
}
