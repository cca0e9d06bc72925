/**
 * Source, sink and folder in memory: the reference implementations of the ports.
 */
import { AssayError } from './errors.ts';
import { checkedRelativePath, type Entry, type Folder } from './folder.ts';
import type { ByteSink } from './sink.ts';
import type { ByteSource } from './source.ts';

/** A source over bytes in memory; they are borrowed, not copied. */
export function createMemorySource(bytes: Uint8Array, name = 'memory'): ByteSource {
  return {
    name,
    size: bytes.length,
    async readInto(target, start, { signal } = {}) {
      signal?.throwIfAborted();
      const part = bytes.subarray(start, start + target.length);
      if (part.length < target.length) throw shortRead(name, start, target.length, part.length);
      target.set(part);
    },
    withView: (start, end, use) => use(bytes.subarray(start, end)),
    identity: async () => `memory ${bytes.length}`,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** The error of a source that ends before `expected` bytes from `start` were read. */
export function shortRead(name: string, start: number, expected: number, found: number): AssayError {
  return new AssayError('SOURCE_SHORT_READ', {
    message: `${name}: ends at byte ${start + found}, ${expected} bytes from ${start} were expected`,
    hint: 'The file was cut while it was read. Try again when nothing writes to it.',
    context: { offset: start, found, expected },
  });
}

/** A sink that hands its bytes to `publish` when it is committed. */
export function createMemorySink(options: {
  readonly name?: string;
  readonly size: number;
  readonly publish: (bytes: Uint8Array) => void;
}): ByteSink {
  const { name = 'memory', size, publish } = options;
  let bytes: Uint8Array | undefined = new Uint8Array(size);
  const open = (): Uint8Array => {
    if (bytes === undefined) throw new TypeError(`${name} has been committed or aborted`);
    return bytes;
  };
  return {
    name,
    async writeAt(chunk, position, { signal } = {}) {
      signal?.throwIfAborted();
      if (position + chunk.length > open().length) bytes = grown(open(), position + chunk.length);
      open().set(chunk, position);
    },
    async readInto(target, position) {
      target.set(open().subarray(position, position + target.length));
    },
    async commit() {
      const whole = open();
      publish(whole);
      bytes = undefined;
    },
    async abort() {
      bytes = undefined;
    },
    async [Symbol.asyncDispose]() {
      bytes = undefined;
    },
  };
}

function grown(bytes: Uint8Array, size: number): Uint8Array {
  const larger = new Uint8Array(size);
  larger.set(bytes);
  return larger;
}

/** A folder in memory, over the caller's map of paths to bytes. */
export function createMemoryFolder(files: Map<string, Uint8Array> = new Map(), name = 'memory'): Folder {
  const find = (path: string): Uint8Array => {
    const bytes = files.get(checkedRelativePath(path));
    if (bytes !== undefined) return bytes;
    throw new AssayError('SOURCE_NOT_FOUND', {
      message: `${name}/${path}: there is no such file`,
      hint: 'Check the name.',
      context: { path },
    });
  };
  const refuseExisting = (path: string): void => {
    if (!files.has(path)) return;
    throw new AssayError('SINK_EXISTS', {
      message: `${name}/${path}: is there already`,
      hint: 'Choose another name, or allow overwriting.',
      context: { path },
    });
  };
  return {
    name,
    async *list() {
      for (const path of [...files.keys()].sort()) {
        yield { path, kind: 'file', size: files.get(path)?.length ?? 0 } satisfies Entry;
      }
    },
    open: async (path) => createMemorySource(find(path), path),
    async create(path, { size, overwrite }) {
      checkedRelativePath(path);
      if (!overwrite) refuseExisting(path);
      const publish = (bytes: Uint8Array): void => {
        if (!overwrite) refuseExisting(path);
        files.set(path, bytes);
      };
      return createMemorySink({ name: path, size, publish });
    },
    async remove(path) {
      find(path);
      files.delete(path);
    },
  };
}
