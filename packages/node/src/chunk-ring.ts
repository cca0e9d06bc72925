/**
 * A ring of chunks in shared memory from one thread to another.
 * The first fills a slot, uses it, and hands it on; the second sees the very bytes, without reading them again.
 */
import type { ChunkCheck } from './shared-crc.ts';

const HANDED = 0;
const RELEASED = 1;
const CLOSED = 2;
/** Never changes: a wait on it is a sleep. */
const NOTHING = 3;
const FIELDS = 4;

/** Per slot: where its bytes begin, how many there are, their output position, a step, and their CRC-32. */
const FACTS = 5;

/** Stands for no step, or no CRC-32. */
const NONE = -1;

/**
 * How long a thread that waits sleeps before it looks again, in milliseconds: less than the ring holds work for.
 * Nobody is woken, because in a virtual machine that costs who wakes 80 to 200 µs, more than a chunk takes.
 */
const NAP_MS = 0.5;

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
  readonly check: ChunkCheck | undefined;
}

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

  /** A fresh ring of `slots`, a power of two, each of `slotBytes`. */
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
    while (this.#waiting() === this.#slots) {
      check();
      this.nap();
    }
    const start = this.#index(this.#load(HANDED)) * this.memory.slotBytes;
    return this.#bytes.subarray(start, start + this.memory.slotBytes);
  }

  /** True for bytes that lie in the ring. */
  owns(bytes: Uint8Array): boolean {
    return bytes.buffer === this.memory.bytes;
  }

  /** True when the taker is the faster of the two. */
  get isLow(): boolean {
    return this.#waiting() * 2 < this.#slots;
  }

  /** Hands the filler's slot on; `bytes` lie in it. */
  hand(bytes: Uint8Array, position: number, check?: ChunkCheck): void {
    const handed = this.#load(HANDED);
    this.#facts.set([bytes.byteOffset, bytes.length, position, check?.step ?? NONE, check?.crc ?? NONE], this.#index(handed) * FACTS);
    Atomics.store(this.#fields, HANDED, (handed + 1) | 0);
  }

  /** Says that nothing more will be handed on. */
  close(): void {
    Atomics.store(this.#fields, CLOSED, 1);
  }

  /** True when nothing more will come. */
  get isFinished(): boolean {
    // Closed first, then empty: what was handed on before closing must not be missed.
    return this.#load(CLOSED) === 1 && this.#waiting() === 0;
  }

  /** Sleeps for a moment. */
  nap(): void {
    Atomics.wait(this.#fields, NOTHING, 0, NAP_MS);
  }

  /** The next chunk for the taker, which must `release` it; `undefined` when none is there. */
  take(): Chunk | undefined {
    if (this.#waiting() === 0) return undefined;
    const base = this.#index(this.#load(RELEASED)) * FACTS;
    const [start = 0, length = 0, position = 0, step = NONE, crc = NONE] = this.#facts.subarray(base, base + FACTS);
    return {
      bytes: this.#bytes.subarray(start, start + length),
      position,
      check: step === NONE ? undefined : { step, crc: crc === NONE ? undefined : crc },
    };
  }

  /** Gives the chunk that was taken back to the filler. */
  release(): void {
    Atomics.store(this.#fields, RELEASED, (this.#load(RELEASED) + 1) | 0);
  }

  /** Chunks handed on and not yet released. The counts wrap at 2^32; their difference does not. */
  #waiting(): number {
    return (this.#load(HANDED) - this.#load(RELEASED)) >>> 0;
  }

  #load(field: number): number {
    return Atomics.load(this.#fields, field);
  }

  /** Right across the wrap, because the number of slots divides 2^32. */
  #index(count: number): number {
    return (count >>> 0) % this.#slots;
  }
}
