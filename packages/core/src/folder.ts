/**
 * The port of a folder: its entries, and files opened and created by relative path.
 */
import type { ByteSink } from './sink.ts';
import type { ByteSource } from './source.ts';

/** One thing in a folder. Times are nanoseconds since 1970. */
export interface Entry {
  /** Relative to the folder, separated by `/`. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  /** In bytes; of a link, what it leads to. */
  readonly size: number;
  readonly linkTarget?: string;
  readonly dangling?: boolean;
  readonly device?: bigint;
  readonly inode?: bigint;
  readonly links?: number;
  readonly mtimeNs?: bigint;
  readonly ctimeNs?: bigint;
}

/** How a file is created. */
export interface CreateOptions {
  /** Bytes to reserve. */
  readonly size: number;
  /** False: publishing fails where the name exists. */
  readonly overwrite: boolean;
}

/** A folder. Paths are relative, separated by `/`; `..` and absolute paths are refused. */
export interface Folder {
  readonly name: string;
  /** Every entry below, depth first, sorted by path. */
  list(): AsyncIterable<Entry>;
  /** @throws {AssayError} `SOURCE_NOT_FOUND`, `SOURCE_NOT_A_FILE`, `IO_PERMISSION` */
  open(path: string): Promise<ByteSource>;
  /** @throws {AssayError} `SINK_EXISTS`, `SINK_NO_SPACE`, `IO_PERMISSION` */
  create(path: string, options: CreateOptions): Promise<ByteSink>;
  /** @throws {AssayError} `SOURCE_NOT_FOUND`, `IO_PERMISSION` */
  remove(path: string): Promise<void>;
}

/**
 * The path itself, when it is relative and stays inside.
 * @throws {TypeError} for an absolute path, a backslash, a NUL or a step outside
 */
export function checkedRelativePath(path: string): string {
  const steps = path.split('/');
  const escapes = steps.some((step) => step === '' || step === '.' || step === '..');
  if (escapes || path.includes('\\') || path.includes('\0') || /^[A-Za-z]:/.test(path)) {
    throw new TypeError(`${JSON.stringify(path)} is not a relative path inside the folder`);
  }
  return path;
}
