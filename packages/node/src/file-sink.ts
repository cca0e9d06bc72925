/**
 * An output file that appears whole or not at all.
 * It is written to a temporary file beside the target, synced, then published under its name.
 */
import { lstat, open, stat, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { AssayError, type ByteSink, type ByteSource, type TransferOptions } from '@assay/core';
import { requireSpace, reserve } from './disk-space.ts';
import { inodeOf, inodeOfSource } from './file-identity.ts';
import { MAX_TRANSFER_BYTES } from './file-source.ts';
import { publish } from './publish.ts';
import { sinkDisturbed, systemErrorName, writeError } from './system-errors.ts';
import { removeLeftovers, temporaryName } from './temporary-files.ts';

/** How a file is created. */
export interface CreateFileOptions {
  /** Bytes to reserve; the file has them all, zeros where nothing is written, and grows past them. */
  readonly size?: number;
  /** False: publishing fails where the name exists, also when it appears during the run. */
  readonly overwrite?: boolean;
  /** What is read meanwhile: an output that is one of them (same device and inode) is refused. */
  readonly inputs?: readonly ByteSource[];
}

/**
 * Creates a file atomically: killed at any moment, a run leaves the old file or the whole new one, and a temporary file.
 * @throws {AssayError} `SINK_IS_INPUT`, `SINK_EXISTS`, `SINK_NOT_A_FILE`, `SINK_NO_FOLDER`, `SINK_NO_SPACE`, `IO_PERMISSION`, `IO_FAILED`
 */
export async function createFile(path: string, options: CreateFileOptions = {}): Promise<ByteSink> {
  const { size = 0, overwrite = false, inputs = [] } = options;
  const target = resolve(path);
  const inputInodes = new Set(inputs.map(inodeOfSource));
  const guard: Guard = { path, target, overwrite, inputInodes };
  const mode = await modeToKeep(guard);
  const folder = dirname(target);
  removeLeftovers(folder);
  requireSpace(path, folder, size);
  const temporary = join(folder, temporaryName(basename(target)));
  const handle = await open(temporary, 'wx+').catch((cause: unknown) => {
    throw writeError(path, cause, { path });
  });
  try {
    // FAT has no permissions to keep.
    if (mode !== undefined) await handle.chmod(mode).catch(() => undefined);
    await reserve(handle.fd, folder, size);
    const inode = inodeOf(await handle.stat({ bigint: true }));
    return new FileSink(guard, handle, temporary, inode);
  } catch (cause) {
    await handle.close();
    await unlink(temporary);
    throw writeError(path, cause, { path, size });
  }
}

interface Guard {
  readonly path: string;
  readonly target: string;
  readonly overwrite: boolean;
  readonly inputInodes: ReadonlySet<string | undefined>;
}

/** Refuses a target that may not be written; returns the permissions of the file that will be replaced. */
async function modeToKeep({ path, target, overwrite, inputInodes }: Guard): Promise<number | undefined> {
  // A link is followed: where it leads must not be an input; what is replaced is the link.
  const found = await stat(target, { bigint: true }).catch(async (cause: unknown) => {
    if (systemErrorName(cause) !== 'ENOENT') throw writeError(path, cause, { path });
    return lstat(target, { bigint: true }).catch(() => undefined);
  });
  if (found === undefined) return undefined;
  if (inputInodes.has(inodeOf(found))) {
    throw new AssayError('SINK_IS_INPUT', {
      message: `${path}: is the file that is read`,
      hint: 'Give the output another name.',
      context: { path },
    });
  }
  if (!found.isFile() && !found.isSymbolicLink()) {
    throw new AssayError('SINK_NOT_A_FILE', {
      message: `${path}: is a folder or a special file`,
      hint: 'Give the path of a file.',
      context: { path },
    });
  }
  if (!overwrite) throw sinkExists(path);
  return found.isFile() ? Number(found.mode) & 0o777 : undefined;
}

function sinkExists(path: string, cause?: unknown): AssayError {
  return new AssayError('SINK_EXISTS', {
    message: `${path}: is there already`,
    hint: 'Choose another name, or allow overwriting.',
    context: { path },
    cause,
  });
}

class FileSink implements ByteSink {
  readonly name: string;
  readonly locator: { readonly kind: 'path'; readonly path: string; readonly identity: string };
  #guard: Guard;
  #handle: FileHandle;
  #state: 'open' | 'committed' | 'aborted' = 'open';

  constructor(guard: Guard, handle: FileHandle, temporary: string, inode: string) {
    this.name = guard.path;
    this.locator = { kind: 'path', path: temporary, identity: inode };
    this.#guard = guard;
    this.#handle = handle;
  }

  async writeAt(bytes: Uint8Array, position: number, { signal }: TransferOptions = {}): Promise<void> {
    this.#requireOpen();
    for (let done = 0; done < bytes.length; ) {
      signal?.throwIfAborted();
      const length = Math.min(bytes.length - done, MAX_TRANSFER_BYTES);
      const { bytesWritten } = await this.#try(this.#handle.write(bytes, done, length, position + done));
      done += bytesWritten;
    }
  }

  async readInto(target: Uint8Array, position: number): Promise<void> {
    this.#requireOpen();
    for (let filled = 0; filled < target.length; ) {
      const wanted = Math.min(target.length - filled, MAX_TRANSFER_BYTES);
      const { bytesRead } = await this.#try(this.#handle.read(target, filled, wanted, position + filled));
      if (bytesRead === 0) throw sinkDisturbed(this.name);
      filled += bytesRead;
    }
  }

  async commit(): Promise<void> {
    this.#requireOpen();
    const { path, target, overwrite } = this.#guard;
    try {
      await this.#requireUndisturbed();
      await modeToKeep(this.#guard);
      await this.#handle.sync();
      await publish(this.locator.path, target, overwrite);
    } catch (cause) {
      await this.abort();
      throw systemErrorName(cause) === 'EEXIST' ? sinkExists(path, cause) : writeError(path, cause, { path });
    }
    this.#state = 'committed';
    await this.#handle.close();
  }

  async abort(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'aborted';
    await this.#handle.close();
    await unlink(this.locator.path).catch((cause: unknown) => {
      if (systemErrorName(cause) !== 'ENOENT') throw writeError(this.name, cause);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.abort();
  }

  /** The name must still lead to the file that was written. */
  async #requireUndisturbed(): Promise<void> {
    const stats = await lstat(this.locator.path, { bigint: true }).catch(() => undefined);
    if (stats === undefined || inodeOf(stats) !== this.locator.identity) throw sinkDisturbed(this.name);
  }

  async #try<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (cause) {
      throw writeError(this.name, cause);
    }
  }

  #requireOpen(): void {
    if (this.#state !== 'open') throw new TypeError(`${this.name} has been ${this.#state}`);
  }
}
