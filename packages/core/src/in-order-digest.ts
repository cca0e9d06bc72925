/**
 * Digests of an output whose parts are written in any order.
 * What comes in order is hashed as it comes; the rest is read back when its turn has come.
 */
import { createMultiHasher, type DigestAlgorithm, type Digests, type MultiHasher } from './digest.ts';
import type { HasherProvider } from './hasher.ts';

/** Reads output bytes back. */
export type ReadBack = (target: Uint8Array, position: number) => Promise<void>;

/** Running digests of one output. */
export class InOrderDigest {
  #hasher: MultiHasher;
  #readBack: ReadBack;
  #hashed = 0;
  /** Written, not yet hashed: end by start. */
  #waiting: Map<number, number> = new Map();
  #buffer = new Uint8Array(1 << 20);

  private constructor(hasher: MultiHasher, readBack: ReadBack) {
    this.#hasher = hasher;
    this.#readBack = readBack;
  }

  /** Starts digests of an output of `byteLength` bytes. */
  static async start(
    hashers: HasherProvider,
    algorithms: readonly DigestAlgorithm[],
    byteLength: number,
    readBack: ReadBack,
  ): Promise<InOrderDigest> {
    return new InOrderDigest(await createMultiHasher(hashers, algorithms, byteLength), readBack);
  }

  /** Takes note of bytes that have been written at `position`. */
  async wrote(bytes: Uint8Array, position: number): Promise<void> {
    if (position !== this.#hashed) {
      this.#waiting.set(position, position + bytes.length);
      return;
    }
    this.#hasher.update(bytes);
    this.#hashed += bytes.length;
    await this.#catchUp();
  }

  /** The digests, when everything has been written. */
  digests(): Digests {
    if (this.#waiting.size > 0) throw new RangeError(`nothing was written at output byte ${this.#hashed}`);
    return this.#hasher.digests();
  }

  async #catchUp(): Promise<void> {
    for (let end = this.#waiting.get(this.#hashed); end !== undefined; end = this.#waiting.get(this.#hashed)) {
      this.#waiting.delete(this.#hashed);
      while (this.#hashed < end) {
        const chunk = this.#buffer.subarray(0, Math.min(this.#buffer.length, end - this.#hashed));
        await this.#readBack(chunk, this.#hashed);
        this.#hasher.update(chunk);
        this.#hashed += chunk.length;
      }
    }
  }
}
