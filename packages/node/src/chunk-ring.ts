/**
 * A ring of chunks in shared memory from one thread to another.
 * The first fills a slot, uses it, and hands it on; the second sees the very bytes, without reading them again.
 */

const HANDED = 0;
const RELEASED = 1;
const CLOSED = 2;
/** Counts what the taker waits for: a wait on one field would miss a change of another. */
const CHANGES = 3;
const FIELDS = 4;

/** Per slot: where its bytes begin, how many there are, and their output position. */
const FACTS = 3;

/** The shared memory itself, as it is posted to threads. */
export interface ChunkRingMemory {
  readonly fields: SharedArrayBuffer;
  readonly facts: SharedArrayBuffer;
  readonly bytes: SharedArrayBuffer;
  readonly slotBytes: number;
}

/** Bytes at an output position. */
export interface Chunk {
  readonly bytes: Uint8Array;
  readonly position: number;
}

const WAIT_MS = 100;

/** One thread's end of the ring: one thread fills, one other takes. */
export class ChunkRing {
  readonly memory: ChunkRingMemory;
  #fields: Int32Array;
  #facts: Float64Array;
  #bytes: Uint8Array;
  #slots: number;

  constructor(memory: ChunkRingMemory) {
    this.memory = memory;
    this.#fields = new Int32Array(memory.fields);
    this.#facts = new Float64Array(memory.facts);
    this.#bytes = new Uint8Array(memory.bytes);
    this.#slots = memory.bytes.byteLength / memory.slotBytes;
  }

  /** A fresh ring; sizes in bytes. */
  static create(slots: number, slotBytes: number): ChunkRing {
    return new ChunkRing({
      fields: new SharedArrayBuffer(FIELDS * 4),
      facts: new SharedArrayBuffer(slots * FACTS * 8),
      bytes: new SharedArrayBuffer(slots * slotBytes),
      slotBytes,
    });
  }

  /** The filler's next slot, when it is free; `check` is called now and then while it waits and may throw. */
  slot(check: () => void): Uint8Array {
    const handed = Atomics.load(this.#fields, HANDED);
    for (;;) {
      const released = Atomics.load(this.#fields, RELEASED);
      if (distance(handed, released) < this.#slots) break;
      check();
      Atomics.wait(this.#fields, RELEASED, released, WAIT_MS);
    }
    const start = this.#index(handed) * this.memory.slotBytes;
    return this.#bytes.subarray(start, start + this.memory.slotBytes);
  }

  /** True for bytes that lie in the filler's slot. */
  owns(bytes: Uint8Array): boolean {
    return bytes.buffer === this.memory.bytes;
  }

  /** Hands the filler's slot on; `bytes` lie in it. */
  hand(bytes: Uint8Array, position: number): void {
    const handed = Atomics.load(this.#fields, HANDED);
    const base = this.#index(handed) * FACTS;
    this.#facts[base] = bytes.byteOffset;
    this.#facts[base + 1] = bytes.length;
    this.#facts[base + 2] = position;
    Atomics.store(this.#fields, HANDED, (handed + 1) | 0);
    this.#changed();
  }

  /** Says that nothing more will be handed on. */
  close(): void {
    Atomics.store(this.#fields, CLOSED, 1);
    this.#changed();
  }

  /** The next chunk for the taker, which must `release` it; `undefined` when the ring is closed and empty. */
  take(check: () => void): Chunk | undefined {
    const released = Atomics.load(this.#fields, RELEASED);
    for (;;) {
      const changes = Atomics.load(this.#fields, CHANGES);
      // Before the count of slots: what was handed on before closing must not be missed.
      const closed = Atomics.load(this.#fields, CLOSED) === 1;
      const handed = Atomics.load(this.#fields, HANDED);
      if (handed !== released) break;
      if (closed) return undefined;
      check();
      Atomics.wait(this.#fields, CHANGES, changes, WAIT_MS);
    }
    const base = this.#index(released) * FACTS;
    const [start = 0, length = 0, position = 0] = this.#facts.subarray(base, base + FACTS);
    return { bytes: this.#bytes.subarray(start, start + length), position };
  }

  /** Gives the chunk that was taken back to the filler. */
  release(): void {
    Atomics.store(this.#fields, RELEASED, (Atomics.load(this.#fields, RELEASED) + 1) | 0);
    Atomics.notify(this.#fields, RELEASED);
  }

  #changed(): void {
    Atomics.add(this.#fields, CHANGES, 1);
    Atomics.notify(this.#fields, CHANGES);
  }

  #index(count: number): number {
    return (count >>> 0) % this.#slots;
  }
}

/** Counts wrap at 2^32; the number of slots is a power of two, so that their order survives it. */
function distance(later: number, earlier: number): number {
  return (later - earlier) >>> 0;
}
