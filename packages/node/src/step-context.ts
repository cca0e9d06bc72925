/**
 * What one thread or process needs to do copy steps: sources and sink of its own, and one small buffer.
 * Everything in it blocks; the thread has nothing else to do.
 */
import { crc32 } from 'node:zlib';
import type { ByteSource, StepContext } from '@assay/core';
import { openBlockingSink, openBlockingSource, type BlockingSink, type FilePlace } from './blocking-files.ts';
import type { ChunkRing } from './chunk-ring.ts';
import { nodeHashers } from './hashers.ts';
import { nodeKernels } from './kernels.ts';
import { openMappedPlace } from './mmap-source.ts';
import { moveRange } from './move-range.ts';

/** Bytes read, checked and written at a time: they stay in a core's second-level cache. */
export const CHUNK_BYTES: number = 256 << 10;

/** How the context is made. */
export interface StepContextOptions {
  readonly sources: readonly FilePlace[];
  readonly sink: FilePlace;
  readonly mapped: boolean;
  /** Called before each read and write; throws when the run is to end. */
  readonly check: () => void;
  /** Called with what has been written. */
  readonly wrote: (byteLength: number) => void | Promise<void>;
  /** Takes every output byte, in order. */
  readonly ring?: ChunkRing;
  /** The step that is done now, where its CRC-32 is shared with the taker of the ring. */
  readonly shared?: () => number | undefined;
  /** Sees every chunk after it was written. */
  readonly see?: (bytes: Uint8Array, position: number) => Promise<void>;
}

/** A step context and the files it holds open. */
export interface OwnedStepContext extends AsyncDisposable {
  readonly context: StepContext;
  readonly sink: BlockingSink;
}

/**
 * Opens sources and sink again.
 * @throws {AssayError} as `openBlockingSource`, `openMappedPlace`, `openBlockingSink`
 */
export async function openStepContext(options: StepContextOptions): Promise<OwnedStepContext> {
  const { sources: places, mapped, check, ring, see } = options;
  const sources: ByteSource[] = [];
  let sink: BlockingSink | undefined;
  const release = async (): Promise<void> => {
    sink?.[Symbol.dispose]();
    for (const source of sources) await source[Symbol.asyncDispose]();
  };
  try {
    for (const place of places) sources.push(mapped ? await openMappedPlace(place, check) : openBlockingSource(place, check));
    sink = openBlockingSink(options.sink);
  } catch (error) {
    await release();
    throw error;
  }
  const own = ring === undefined ? new Uint8Array(CHUNK_BYTES) : undefined;
  const context: StepContext = {
    sources,
    kernels: nodeKernels,
    hashers: nodeHashers,
    buffer: () => own ?? ringSlot(ring, check),
    chunkBytes: own?.length ?? ring?.memory.slotBytes ?? CHUNK_BYTES,
    write: writer(options, sink),
    // Bytes that a ring or a digest must see cannot be moved unseen.
    ...(ring === undefined && see === undefined ? { move: moveRange(sources, sink, options) } : {}),
  };
  return { context, sink, [Symbol.asyncDispose]: release };
}

function ringSlot(ring: ChunkRing | undefined, check: () => void): Uint8Array {
  if (ring === undefined) throw new TypeError('there is neither a buffer nor a ring');
  return ring.slot(check);
}

function writer({ check, wrote, ring, shared, see }: StepContextOptions, sink: BlockingSink): StepContext['write'] {
  const write = async (bytes: Uint8Array, position: number): Promise<void> => {
    check();
    sink.write(bytes, position);
    await see?.(bytes, position);
    await wrote(bytes.length);
  };
  if (ring === undefined) return write;
  const writeAndHand = async (bytes: Uint8Array, position: number): Promise<void> => {
    await write(bytes, position);
    const step = shared?.();
    // A low ring means that its taker has time to spare.
    ring.hand(bytes, position, step === undefined ? undefined : { step, crc: ring.isLow ? undefined : crc32(bytes) });
  };
  return async (bytes, position) => {
    if (ring.owns(bytes)) return writeAndHand(bytes, position);
    for (let done = 0; done < bytes.length; ) {
      const slot = ring.slot(check);
      const chunk = slot.subarray(0, Math.min(slot.length, bytes.length - done));
      chunk.set(bytes.subarray(done, done + chunk.length));
      await writeAndHand(chunk, position + done);
      done += chunk.length;
    }
  };
}
