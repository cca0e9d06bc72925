/**
 * The kinds of files that are told apart, and what is said of one.
 */
import type { Facts, Limits } from '@assay/core';

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

/** One reading of the bytes. */
export interface Sign {
  readonly kind: DetectedKind;
  readonly facts: Facts;
}

/** What a file is. */
export interface Detection extends Sign {
  /** Other readings of the same bytes that another program might take. */
  readonly alsoReadableAs: readonly DetectedKind[];
}

/** Options of `detect`. */
export interface DetectOptions {
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
}
