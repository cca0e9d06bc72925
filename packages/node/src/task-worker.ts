/**
 * What the threads of a task runner do: digests of a range of a file, in one read.
 * Started from `dist` by a pool.
 */
import { read } from 'node:fs';
import { promisify } from 'node:util';
import { createMultiHasher, digestSource, type ByteSource, type Digests, type DigestTask, type MultiHasher } from '@assay/core';
import { openBlockingSource, type BlockingSource, type FilePlace } from './blocking-files.ts';
import { Stopped } from './copy-control.ts';
import { nodeHashers } from './hashers.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import { threadLoaded } from './thread-loading.ts';

/** One task, and the memory through which it is watched. */
export interface SharedDigestTask {
  readonly task: DigestTask;
  readonly place: FilePlace;
  /** Index into `progress`. */
  readonly index: number;
  /** Bytes read, by task. */
  readonly progress: SharedArrayBuffer;
  /** One field: 1 when the run is to end. */
  readonly stop: SharedArrayBuffer;
  /** There are cores to spare: the next chunk is read while one is hashed. */
  readonly readAhead: boolean;
}

const CHUNK_BYTES = 512 << 10;

/** Each read ahead is a trip through the thread pool; fewer are better, and two of these still stay in the last cache. */
const CHUNK_BYTES_AHEAD = 1 << 20;

/** Digests of one task; `around` may put something between the file and its reader. */
export function digest(shared: SharedDigestTask, around: (source: ByteSource) => ByteSource = (source) => source): Promise<Outcome<Digests>> {
  const stop = new Int32Array(shared.stop);
  const progress = new BigInt64Array(shared.progress);
  const check = (): void => {
    if (Atomics.load(stop, 0) === 1) throw new Stopped();
  };
  return outcomeOf(async () => {
    const source = openBlockingSource(shared.place, check);
    const onBytes = (count: number): void => void Atomics.add(progress, shared.index, BigInt(count));
    const { algorithms, start, end } = shared.task;
    try {
      if (shared.readAhead && end - start > CHUNK_BYTES_AHEAD) {
        const hasher = await createMultiHasher(nodeHashers, algorithms, end - start);
        await hashReadingAhead(hasher, source, start, end, (count) => {
          check();
          onBytes(count);
        });
        return hasher.digests();
      }
      return await digestSource(around(source), algorithms, { hashers: nodeHashers, start, end, chunkBytes: CHUNK_BYTES, onBytes });
    } finally {
      await source[Symbol.asyncDispose]();
    }
  });
}

const readAsync = promisify(read);

/** While one buffer is hashed, another thread of the process fills the other. */
async function hashReadingAhead(
  hasher: MultiHasher,
  source: BlockingSource,
  start: number,
  end: number,
  onBytes: (count: number) => void,
): Promise<void> {
  let [now, later] = [new Uint8Array(CHUNK_BYTES_AHEAD), new Uint8Array(CHUNK_BYTES_AHEAD)];
  const fill = async (buffer: Uint8Array, position: number): Promise<Uint8Array> => {
    const chunk = buffer.subarray(0, Math.min(buffer.length, end - position));
    if (chunk.length === 0) return chunk;
    const { bytesRead } = await readAsync(source.descriptor, chunk, 0, chunk.length, position).catch(() => ({ bytesRead: 0 }));
    // What came short or failed is read again by the source, which knows every error's name.
    if (bytesRead < chunk.length) await source.readInto(chunk, position);
    return chunk;
  };
  let chunk = await fill(now, start);
  for (let position = start; position < end; ) {
    const next = position + chunk.length;
    const filling = fill(later, next);
    hasher.update(chunk);
    onBytes(chunk.length);
    position = next;
    chunk = await filling;
    [now, later] = [later, now];
  }
}

threadLoaded();
