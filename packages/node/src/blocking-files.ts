/**
 * Sources and sinks that workers open again by their locators and use with blocking calls.
 * In a thread of its own a blocking call costs no trip through the thread pool.
 */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync, type BigIntStats } from 'node:fs';
import { shortRead, type ByteSource, type Locator } from '@assay/core';
import { identityOf, inodeOf } from './file-identity.ts';
import { MAX_TRANSFER_BYTES } from './file-source.ts';
import { readError, sinkDisturbed, sourceChanged, systemErrorName, writeError } from './system-errors.ts';

/** Where a thread or process opens a local file again, and what the user calls it. */
export interface FilePlace {
  readonly name: string;
  readonly path: string;
  readonly identity: string;
  /** In bytes. */
  readonly size: number;
}

/** The place of a source or sink, where it has one that another thread can open. */
export function placeOf(file: { readonly name: string; readonly size?: number; readonly locator?: Locator }): FilePlace | undefined {
  const { name, size = 0, locator } = file;
  return locator?.kind === 'path' ? { name, size, path: locator.path, identity: locator.identity } : undefined;
}

/** A source whose promises are fulfilled when they are returned. */
export interface BlockingSource extends ByteSource {
  /** The open file, for system calls that need it. */
  readonly descriptor: number;
}

/**
 * Opens a source again; `beforeRead` is called before every read and may throw.
 * @throws {AssayError} `SOURCE_CHANGED` when the file is no longer the one that was first opened; `IO_PERMISSION`; `IO_FAILED`
 */
export function openBlockingSource(place: FilePlace, beforeRead: () => void = () => undefined): BlockingSource {
  const { name, path, identity, size } = place;
  const descriptor = openUnchanged(place);
  let open = true;
  const identityNow = (): string => identityOf(fstatSync(descriptor, { bigint: true }));
  return {
    name,
    size,
    descriptor,
    locator: { kind: 'path', path, identity },
    async readInto(target, start) {
      beforeRead();
      const found = readFully(name, descriptor, target, start);
      if (found === target.length) return;
      throw identityNow() === identity ? shortRead(name, start, target.length, found) : sourceChanged(name, { offset: start + found });
    },
    identity: async () => identityNow(),
    async [Symbol.asyncDispose]() {
      if (open) closeSync(descriptor);
      open = false;
    },
  };
}

/**
 * A file descriptor of the very file that `place` names.
 * @throws {AssayError} as `openBlockingSource`
 */
export function openUnchanged({ name, path, identity }: FilePlace): number {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (identityOf(fstatSync(descriptor, { bigint: true })) !== identity) throw sourceChanged(name);
    return descriptor;
  } catch (cause) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw systemErrorName(cause) === 'ENOENT' ? sourceChanged(name) : readError(name, cause);
  }
}

function readFully(name: string, descriptor: number, target: Uint8Array, start: number): number {
  let filled = 0;
  while (filled < target.length) {
    try {
      const count = readSync(descriptor, target, filled, Math.min(target.length - filled, MAX_TRANSFER_BYTES), start + filled);
      if (count === 0) break;
      filled += count;
    } catch (cause) {
      throw readError(name, cause, { offset: start + filled });
    }
  }
  return filled;
}

/** An output file that exists already, written and read back with blocking calls. */
export interface BlockingSink extends Disposable {
  readonly descriptor: number;
  /** @throws {AssayError} `SINK_NO_SPACE`, `SINK_FILE_TOO_LARGE`, `IO_FAILED` */
  write(bytes: Uint8Array, position: number): void;
  /** @throws {AssayError} `IO_FAILED` */
  readBack(target: Uint8Array, position: number): void;
}

/**
 * Opens the file of an uncommitted sink again.
 * @throws {AssayError} `IO_FAILED` when it is gone or another; `IO_PERMISSION`
 */
export function openBlockingSink({ name, path, identity }: FilePlace): BlockingSink {
  let descriptor: number;
  let stats: BigIntStats;
  try {
    descriptor = openSync(path, constants.O_RDWR);
    stats = fstatSync(descriptor, { bigint: true });
  } catch (cause) {
    throw writeError(name, cause);
  }
  if (inodeOf(stats) !== identity) {
    closeSync(descriptor);
    throw sinkDisturbed(name);
  }
  return {
    descriptor,
    write(bytes, position) {
      writeFully(name, descriptor, bytes, position);
    },
    readBack(target, position) {
      if (readFully(name, descriptor, target, position) < target.length) throw sinkDisturbed(name);
    },
    [Symbol.dispose]() {
      closeSync(descriptor);
    },
  };
}

function writeFully(name: string, descriptor: number, bytes: Uint8Array, position: number): void {
  try {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(descriptor, bytes, done, Math.min(bytes.length - done, MAX_TRANSFER_BYTES), position + done);
    }
  } catch (cause) {
    throw writeError(name, cause, { offset: position });
  }
}
