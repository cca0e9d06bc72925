/**
 * A local file as a source, read by position.
 * Folders, pipes, sockets and devices are refused before they can block or be disturbed.
 */
import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AssayError, shortRead, type ByteSource, type TransferOptions } from '@assay/core';
import { identityOf } from './file-identity.ts';
import { readError, sourceChanged } from './system-errors.ts';

/** A pipe opened without this would wait for a writer. Windows has neither. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** One system call moves at most 2 GiB. */
export const MAX_TRANSFER_BYTES: number = 1 << 30;

/**
 * Opens a file for positional reads; its locator lets workers open it again.
 * @throws {AssayError} `SOURCE_NOT_FOUND`; `SOURCE_NOT_A_FILE`; `IO_PERMISSION`; `IO_FAILED`
 */
export async function openFile(path: string): Promise<ByteSource> {
  const { handle, absolute, size, identity } = await openRegularFile(path);
  return new FileSource(path, handle, absolute, size, identity);
}

/** A regular file, opened, and what it was at that moment. */
export interface OpenedFile {
  readonly handle: FileHandle;
  readonly absolute: string;
  readonly size: number;
  readonly identity: string;
}

/**
 * Opens a regular file for reading.
 * @throws {AssayError} as `openFile`
 */
export async function openRegularFile(path: string): Promise<OpenedFile> {
  const absolute = resolve(path);
  let handle: FileHandle | undefined;
  try {
    // Asked first: merely opening a device may act on it.
    if (!(await stat(absolute)).isFile()) throw notAFile(path);
    handle = await open(absolute, OPEN_FLAGS);
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw notAFile(path);
    return { handle, absolute, size: Number(stats.size), identity: identityOf(stats) };
  } catch (cause) {
    await handle?.close();
    throw readError(path, cause, { path });
  }
}

function notAFile(path: string): AssayError {
  return new AssayError('SOURCE_NOT_A_FILE', {
    message: `${path}: is a folder, a device, a pipe or a socket`,
    hint: 'Give the path of a regular file.',
    context: { path },
  });
}

class FileSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly locator: { readonly kind: 'path'; readonly path: string; readonly identity: string };
  #handle: FileHandle;
  #closed: Promise<void> | undefined;

  constructor(name: string, handle: FileHandle, path: string, size: number, identity: string) {
    this.name = name;
    this.size = size;
    this.locator = { kind: 'path', path, identity };
    this.#handle = handle;
  }

  async readInto(target: Uint8Array, start: number, { signal }: TransferOptions = {}): Promise<void> {
    for (let filled = 0; filled < target.length; ) {
      signal?.throwIfAborted();
      const wanted = Math.min(target.length - filled, MAX_TRANSFER_BYTES);
      const { bytesRead } = await this.#handle.read(target, filled, wanted, start + filled).catch((cause: unknown) => {
        throw readError(this.name, cause, { offset: start + filled });
      });
      if (bytesRead === 0) throw await this.#endedEarly(start, target.length, filled);
      filled += bytesRead;
    }
  }

  async identity(): Promise<string> {
    try {
      return identityOf(await this.#handle.stat({ bigint: true }));
    } catch (cause) {
      throw readError(this.name, cause);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#handle.close();
    return this.#closed;
  }

  async #endedEarly(start: number, expected: number, found: number): Promise<AssayError> {
    const changed = (await this.identity()) !== this.locator.identity;
    return changed ? sourceChanged(this.name, { offset: start + found }) : shortRead(this.name, start, expected, found);
  }
}
