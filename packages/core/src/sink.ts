/**
 * The port through which every byte is written.
 */
import type { Locator, TransferOptions } from './source.ts';

/**
 * An output that appears whole or not at all.
 * Disposing of a sink that was not committed aborts it.
 */
export interface ByteSink extends AsyncDisposable {
  /** As the user named it. */
  readonly name: string;
  /** Where workers write; absent: the writing stays on the calling thread. */
  readonly locator?: Locator;
  /**
   * Writes all of `bytes` at `position`.
   * @throws {AssayError} `SINK_NO_SPACE`, `IO_FAILED`
   */
  writeAt(bytes: Uint8Array, position: number, options?: TransferOptions): Promise<void>;
  /**
   * Reads back what was written; not after `commit`.
   * @throws {AssayError} `IO_FAILED`
   */
  readInto(target: Uint8Array, position: number): Promise<void>;
  /**
   * Makes the output durable, then publishes it under its name.
   * @throws {AssayError} `SINK_EXISTS` when the name was taken meanwhile and may not be overwritten
   */
  commit(): Promise<void>;
  /** Leaves nothing behind. Harmless after `commit`. */
  abort(): Promise<void>;
}
