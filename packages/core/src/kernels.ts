/**
 * What reading needs of others: a way to walk strides, and to inflate.
 * Strides are walked in one place only, which is not here; a platform may inflate natively.
 */
import type { StridedView } from './pieces.ts';

/** Random access to one storage. Offsets are bytes from its start. */
export interface StorageReader {
  readonly byteLength: number;
  /** Fills `target` from `start`. */
  readInto(target: Uint8Array, start: number): Promise<void>;
  /** Lends mapped bytes [start, end), where the source is mapped. */
  withView?<T>(start: number, end: number, use: (bytes: Uint8Array) => T): T;
}

/** Options of a gather: the bytes [start, end) of the view in C order, both multiples of the item size. */
export interface GatherOptions {
  readonly start: number;
  readonly end: number;
  readonly signal?: AbortSignal;
}

/** Yields a view's bytes in C order; memory is bounded; a chunk is valid, and may be changed, until the next is asked for. */
export type Gather = (view: StridedView, storage: StorageReader, options: GatherOptions) => AsyncIterable<Uint8Array>;

/** Inflates a raw deflate stream; fails on a malformed one. A chunk is valid until the next is asked for. */
export type Inflate = (compressed: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** The kernels of one platform. */
export interface Kernels {
  readonly gather: Gather;
  readonly inflate: Inflate;
}

/** Inflates with the platform's `DecompressionStream`. */
export async function* inflateWithStreams(compressed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const chunks = compressed[Symbol.asyncIterator]();
  const readable = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const next = await chunks.next();
        // Copied: the stream keeps chunks, ours are reused.
        if (next.done === true) controller.close();
        else controller.enqueue(next.value.slice());
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  const reader = readable.pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
