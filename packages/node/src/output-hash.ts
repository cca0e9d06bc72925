/**
 * Digests of an output from its first byte to its last, while other threads write it.
 * Takes chunks from a ring where they come in order, and reads back what others have written.
 */
import type { MultiHasher, OutputSegment } from '@assay/core';
import type { BlockingSink } from './blocking-files.ts';
import type { ChunkRing } from './chunk-ring.ts';
import type { CopyControl } from './copy-control.ts';
import type { ChunkCheck } from './shared-crc.ts';

const BUFFER_BYTES = 256 << 10;

/** What the hashing works on. */
export interface OutputHashOptions {
  readonly hasher: MultiHasher;
  readonly sink: BlockingSink;
  readonly control: CopyControl;
  /** Which step writes what, in output order. */
  readonly segments: readonly OutputSegment[];
  /** Of the whole output. */
  readonly byteLength: number;
  readonly ring?: ChunkRing;
  /** Takes the chunks of steps whose CRC-32 is shared with this thread. */
  readonly check: (check: ChunkCheck, bytes: Uint8Array) => void;
  /** Does one step that nobody has begun; false when none is left. */
  readonly lendHand: () => Promise<boolean>;
}

/**
 * Hashes the whole output while it is written; without a ring it helps to write when there is nothing to hash.
 * @throws {Stopped} when the run is to end
 * @throws {AssayError} as `executeStep`
 */
export async function hashOutput(options: OutputHashOptions): Promise<void> {
  const { ring, control, byteLength } = options;
  const output = new OutputHash(options);
  while (ring !== undefined && !ring.isFinished) {
    control.throwIfStopped();
    const chunk = ring.take();
    if (chunk === undefined) {
      ring.nap();
    } else {
      await output.readBackTo(chunk.position);
      output.update(chunk.bytes, chunk.position);
      if (chunk.check !== undefined) options.check(chunk.check, chunk.bytes);
      ring.release();
    }
  }
  await output.readBackTo(byteLength);
}

class OutputHash {
  #options: OutputHashOptions;
  #position = 0;
  /** Of the first segment that ends past the position. */
  #next = 0;
  #buffer: Uint8Array | undefined;

  constructor(options: OutputHashOptions) {
    this.#options = options;
  }

  update(bytes: Uint8Array, position: number): void {
    const { hasher, control } = this.#options;
    if (position !== this.#position) throw new RangeError(`output byte ${position} came when ${this.#position} was next`);
    hasher.update(bytes);
    this.#position += bytes.length;
    control.addHashed(bytes.length);
  }

  async readBackTo(end: number): Promise<void> {
    while (this.#position < end) {
      this.#options.control.throwIfStopped();
      this.#buffer ??= new Uint8Array(BUFFER_BYTES);
      const chunk = this.#buffer.subarray(0, Math.min(this.#buffer.length, (await this.#writtenUntil(end)) - this.#position));
      this.#options.sink.readBack(chunk, this.#position);
      this.update(chunk, this.#position);
    }
  }

  /** An end, at most `limit` and past the position, up to which everything is written; waits until there is one. */
  async #writtenUntil(limit: number): Promise<number> {
    const { segments, control, lendHand } = this.#options;
    const enough = Math.min(limit, this.#position + BUFFER_BYTES);
    let reached = this.#position;
    for (let index = this.#next; reached < enough; index += 1) {
      const segment = segments[index];
      if (segment === undefined) return enough;
      if (segment.end <= this.#position) {
        this.#next = index + 1;
        continue;
      }
      if (!control.isStepDone(segment.step)) {
        // What no step writes is there already, as zeros.
        reached = Math.max(reached, Math.min(segment.start, enough));
        if (reached > this.#position) break;
        while (!control.isStepDone(segment.step) && (await lendHand()));
        control.waitForStep(segment.step);
      }
      reached = segment.end;
    }
    return Math.min(reached, enough);
  }
}
