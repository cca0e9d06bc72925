/**
 * The kernels of Node: zlib inflates, `@assay/formats` walks strides.
 * The latter is loaded when a strided view first comes along: most workers never need it.
 */
import { createInflateRaw, type InflateRaw } from 'node:zlib';
import type { Kernels } from '@assay/core';

/** Large enough that a chunk is worth its trip through the thread pool. */
const CHUNK_BYTES = 256 * 1024;

/** Native inflate and the one gather. */
export const nodeKernels: Kernels = {
  async *gather(view, storage, options) {
    const { gatherStrided } = await import('@assay/formats');
    yield* gatherStrided(view, storage, options);
  },
  inflate: inflateWithZlib,
};

/** Inflates a raw deflate stream; bytes after its end are an error, as in `DecompressionStream`. */
async function* inflateWithZlib(compressed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const inflater = createInflateRaw({ chunkSize: CHUNK_BYTES });
  const feeding = feed(compressed, inflater);
  // A failure of the input destroys the inflater, whose iteration then rethrows it.
  feeding.catch((cause: unknown) => inflater.destroy(cause instanceof Error ? cause : new Error('the input failed', { cause })));
  try {
    yield* inflater as AsyncIterable<Uint8Array>;
    const fed = await feeding;
    if (inflater.bytesWritten !== fed) throw new Error(`the deflate stream ends after ${inflater.bytesWritten} of ${fed} bytes`);
  } finally {
    inflater.destroy();
    await feeding.catch(() => undefined);
  }
}

/** Feeds `compressed` to its end, or until nothing more is taken; returns the byte length fed. */
async function feed(compressed: AsyncIterable<Uint8Array>, inflater: InflateRaw): Promise<number> {
  let fed = 0;
  for await (const chunk of compressed) {
    fed += chunk.length;
    if (inflater.destroyed || inflater.readableEnded) return fed;
    // Copied: the inflater holds on to chunks, ours are reused.
    if (!inflater.write(chunk.slice())) await roomOrEnd(inflater);
  }
  if (!inflater.destroyed && !inflater.readableEnded) inflater.end();
  return fed;
}

/** Resolves when more can be written, or never will be: after the stream's end zlib acknowledges no write. */
async function roomOrEnd(inflater: InflateRaw): Promise<void> {
  const events = ['drain', 'end', 'close'];
  await new Promise<void>((resolve) => {
    const done = (): void => {
      for (const event of events) inflater.off(event, done);
      resolve();
    };
    for (const event of events) inflater.on(event, done);
  });
}
