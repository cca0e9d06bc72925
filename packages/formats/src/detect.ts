/**
 * What the bytes of a file really are, whatever its name says.
 */
import type { AssayError, ByteSource, Facts, Limits } from '@assay/core';

/** Everything that is told apart. */
export type DetectedKind =
  | 'safetensors'
  | 'torch-zip'
  | 'torchscript'
  | 'torch-package'
  | 'torch-export'
  | 'torch-legacy'
  | 'torch-tar'
  | 'torch-preview'
  | 'pickle'
  | 'zip'
  | 'npz'
  | 'npy'
  | 'gguf'
  | 'ggml'
  | 'hdf5'
  | 'git-lfs-pointer'
  | 'html'
  | 'xml'
  | 'json'
  | 'pdf'
  | 'gzip'
  | 'zlib'
  | 'zstd'
  | 'xz'
  | 'bzip2'
  | 'lz4'
  | '7z'
  | 'rar'
  | 'tar'
  | 'text'
  | 'zeros'
  | 'empty'
  | 'unknown';

/** What a file is. */
export interface Detection {
  readonly kind: DetectedKind;
  readonly facts: Facts;
  /** Other readings of the same bytes that another program might take. */
  readonly alsoReadableAs: readonly DetectedKind[];
}

/** Options of `detect`. */
export interface DetectOptions {
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
}

/** Says what the bytes are. */
export async function detect(source: ByteSource, options: DetectOptions = {}): Promise<Detection> {
  void source;
  void options;
  throw new TypeError('not built yet');
}

/** The error for what is not opened here; `undefined` for what is. */
export function refusalOf(detection: Detection, source: ByteSource): AssayError | undefined {
  void detection;
  void source;
  throw new TypeError('not built yet');
}
