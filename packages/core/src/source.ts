/**
 * The port through which every byte is read.
 */

/** Where a source can be opened again, as structured-cloneable data: by a worker thread or a child process. */
export type Locator =
  | { readonly kind: 'path'; readonly path: string; readonly identity: string }
  | { readonly kind: 'url'; readonly url: string; readonly identity: string }
  | { readonly kind: 'blob'; readonly blob: unknown; readonly identity: string };

/** Options of one read or write. */
export interface TransferOptions {
  readonly signal?: AbortSignal;
}

/** Random access to bytes of a fixed size. Owners dispose, borrowers never do; disposing twice is harmless. */
export interface ByteSource extends AsyncDisposable {
  /** As the user named it. */
  readonly name: string;
  /** In bytes, when it was opened. */
  readonly size: number;
  /** Absent: the work stays on the calling thread. */
  readonly locator?: Locator;
  /**
   * Fills `target` with the bytes from `start`.
   * @throws {AssayError} `SOURCE_SHORT_READ` when the source ends before, `IO_FAILED` when it cannot be read
   */
  readInto(target: Uint8Array, start: number, options?: TransferOptions): Promise<void>;
  /** Lends mapped bytes [start, end) to `use`; they never escape it. */
  withView?<T>(start: number, end: number, use: (bytes: Uint8Array) => T): T;
  /** A text that changes when the content may have changed. */
  identity(): Promise<string>;
}

/**
 * The bytes [start, end) of a source, in a new array.
 * @throws {AssayError} as `readInto`
 * @throws {RangeError} when the range is not within the source
 */
export async function readBytes(
  source: ByteSource,
  start: number,
  end: number,
  options: TransferOptions = {},
): Promise<Uint8Array> {
  if (!(start >= 0 && start <= end && end <= source.size)) {
    throw new RangeError(`[${start}, ${end}) is not within the ${source.size} bytes of ${source.name}`);
  }
  const bytes = new Uint8Array(end - start);
  if (bytes.length > 0) await source.readInto(bytes, start, options);
  return bytes;
}
