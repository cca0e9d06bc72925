/**
 * A local file as a source, mapped into memory in windows.
 * A file that shrinks while it is mapped kills the process (SIGBUS), which no thread can catch:
 * work on files that others may write belongs in a process of its own, as the copy runner does it.
 */
import { closeSync, fstatSync } from 'node:fs';
import { AssayError, shortRead, type ByteSource } from '@assay/core';
import { openUnchanged, type FilePlace } from './blocking-files.ts';
import { identityOf } from './file-identity.ts';
import { openRegularFile } from './file-source.ts';
import { nativeLibrary, type FileMapping } from './native-library.ts';
import { readError, sourceChanged } from './system-errors.ts';

/** No mapping is larger, in bytes: Node 20 refuses larger arrays than 4 GiB, and address space is not endless everywhere. */
const WINDOW_BYTES = 1 << 30;

/** A multiple of every page size in use (4, 16 and 64 KiB); neighbouring reads then share a window. */
const ALIGNMENT = 64 << 20;
const PAGE_BYTES = 64 << 10;

/** Mappings kept for the next read. */
const KEPT_WINDOWS = 4;

/**
 * Opens a file for mapped reads; `withView` lends up to 1 GiB less 64 KiB at a time.
 * @throws {AssayError} `IO_NO_MEMORY_MAP` on Windows and where koffi is missing; as `openFile`
 */
export async function openMappedFile(path: string): Promise<ByteSource> {
  const { handle, absolute, size, identity } = await openRegularFile(path);
  await handle.close();
  return openMappedPlace({ name: path, path: absolute, size, identity });
}

/**
 * Maps a file that was opened before; `beforeRead` is called before every read and may throw.
 * @throws {AssayError} `IO_NO_MEMORY_MAP`; `SOURCE_CHANGED` when it is another file by now; `IO_PERMISSION`; `IO_FAILED`
 */
export async function openMappedPlace(place: FilePlace, beforeRead: () => void = () => undefined): Promise<ByteSource> {
  const mapFile = (await nativeLibrary())?.mapFile;
  if (mapFile === undefined) {
    throw new AssayError('IO_NO_MEMORY_MAP', {
      message: `${place.name}: cannot be mapped into memory here`,
      hint: 'Install the package koffi (Linux and macOS), or read by position.',
    });
  }
  return new MappedSource(place, openUnchanged(place), mapFile, beforeRead);
}

interface Window extends FileMapping {
  readonly start: number;
  readonly end: number;
  users: number;
}

type MapFile = (descriptor: number, offset: number, byteLength: number) => FileMapping;

class MappedSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly locator: { readonly kind: 'path'; readonly path: string; readonly identity: string };
  #descriptor: number;
  #mapFile: MapFile;
  #beforeRead: () => void;
  /** The one used last comes last. */
  #windows: Window[] = [];
  #open = true;

  constructor({ name, size, path, identity }: FilePlace, descriptor: number, mapFile: MapFile, beforeRead: () => void) {
    this.name = name;
    this.size = size;
    this.locator = { kind: 'path', path, identity };
    this.#descriptor = descriptor;
    this.#mapFile = mapFile;
    this.#beforeRead = beforeRead;
  }

  async readInto(target: Uint8Array, start: number): Promise<void> {
    if (start + target.length > this.size) throw shortRead(this.name, start, target.length, Math.max(0, this.size - start));
    for (let filled = 0; filled < target.length; ) {
      const end = Math.min(start + target.length, start + filled + ALIGNMENT);
      this.withView(start + filled, end, (bytes) => target.set(bytes, filled));
      filled = end - start;
    }
  }

  withView<T>(start: number, end: number, use: (bytes: Uint8Array) => T): T {
    if (!(start >= 0 && start <= end && end <= this.size && end - start <= WINDOW_BYTES - PAGE_BYTES)) {
      throw new RangeError(`[${start}, ${end}) cannot be lent at once from the ${this.size} bytes of ${this.name}`);
    }
    this.#beforeRead();
    if (start === end) return use(new Uint8Array(0));
    const window = this.#windowOver(start, end);
    window.users += 1;
    try {
      return use(window.bytes.subarray(start - window.start, end - window.start));
    } finally {
      window.users -= 1;
    }
  }

  async identity(): Promise<string> {
    return this.#identityNow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    for (const window of this.#windows.splice(0)) window.unmap();
    closeSync(this.#descriptor);
  }

  #windowOver(start: number, end: number): Window {
    const index = this.#windows.findIndex((window) => window.start <= start && end <= window.end);
    const [window = this.#map(start, end)] = index < 0 ? [] : this.#windows.splice(index, 1);
    this.#windows.push(window);
    return window;
  }

  #map(start: number, end: number): Window {
    if (!this.#open) throw new TypeError(`${this.name} has been disposed of`);
    if (this.#identityNow() !== this.locator.identity) throw sourceChanged(this.name, { offset: start });
    const idle = this.#windows.length < KEPT_WINDOWS ? -1 : this.#windows.findIndex(({ users }) => users === 0);
    if (idle >= 0) for (const oldest of this.#windows.splice(idle, 1)) oldest.unmap();
    const aligned = start - (start % ALIGNMENT);
    const from = end - aligned <= WINDOW_BYTES ? aligned : start - (start % PAGE_BYTES);
    const to = Math.min(this.size, from + WINDOW_BYTES);
    try {
      return { ...this.#mapFile(this.#descriptor, from, to - from), start: from, end: to, users: 0 };
    } catch (cause) {
      throw readError(this.name, cause, { offset: from });
    }
  }

  #identityNow(): string {
    try {
      return identityOf(fstatSync(this.#descriptor, { bigint: true }));
    } catch (cause) {
      throw readError(this.name, cause);
    }
  }
}
