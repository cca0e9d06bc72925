/**
 * What the threads of one run share: which step is next, which are done, how far they are, and whether to stop.
 * Plain numbers in shared memory; nothing here knows what a step is.
 */

const STOPPED = 0;
const FIRST_FREE = 1;
const FIELDS = 2;

const FREE = 0;
const CLAIMED = 1;
const DONE = 2;

const WRITTEN = 0;
const HASHED = 1;

/** The shared memory itself, as it is posted to threads. */
export interface CopyControlMemory {
  readonly fields: SharedArrayBuffer;
  readonly counters: SharedArrayBuffer;
  readonly steps: SharedArrayBuffer;
}

/** Thrown in a thread that another one, or the caller, has told to stop. Carries nothing: the reason is elsewhere. */
export class Stopped extends Error {
  override readonly name = 'Stopped' as const;
}

/** How long a wait sleeps before it looks whether it must stop, in milliseconds; a change wakes it at once. */
const WAIT_MS = 100;

/** A thread's hold on the shared memory of a run. */
export class CopyControl {
  readonly memory: CopyControlMemory;
  #fields: Int32Array;
  #counters: BigInt64Array;
  /** The state of each step. */
  #steps: Int32Array;

  constructor(memory: CopyControlMemory) {
    this.memory = memory;
    this.#fields = new Int32Array(memory.fields);
    this.#counters = new BigInt64Array(memory.counters);
    this.#steps = new Int32Array(memory.steps);
  }

  /** Fresh memory for a run of `steps` steps. */
  static create(steps: number): CopyControl {
    return new CopyControl({
      fields: new SharedArrayBuffer(FIELDS * 4),
      counters: new SharedArrayBuffer(2 * 8),
      steps: new SharedArrayBuffer(Math.max(1, steps) * 4),
    });
  }

  /** Tells every thread to stop. */
  stop(): void {
    Atomics.store(this.#fields, STOPPED, 1);
    for (let step = 0; step < this.#steps.length; step += 1) Atomics.notify(this.#steps, step);
  }

  /** @throws {Stopped} when the run is to end */
  throwIfStopped(): void {
    if (Atomics.load(this.#fields, STOPPED) === 1) throw new Stopped();
  }

  /**
   * Claims a step of `order` that nobody has begun: the first one, or where possible one that is `ahead` of it.
   * `undefined` when all are claimed.
   */
  claim(order: readonly number[], ahead = 0): number | undefined {
    const first = Atomics.load(this.#fields, FIRST_FREE);
    const far = ahead === 0 ? undefined : this.#claimFrom(order, first + ahead);
    if (far !== undefined) return order[far];
    const near = this.#claimFrom(order, first);
    if (near === undefined) return undefined;
    // Only a hint, which another thread may set back: everything before it is claimed.
    Atomics.store(this.#fields, FIRST_FREE, near + 1);
    return order[near];
  }

  #claimFrom(order: readonly number[], start: number): number | undefined {
    for (let index = start; index < order.length; index += 1) {
      if (Atomics.compareExchange(this.#steps, order[index] ?? 0, FREE, CLAIMED) === FREE) return index;
    }
    return undefined;
  }

  /** Says that all output of a step is written. */
  stepDone(step: number): void {
    Atomics.store(this.#steps, step, DONE);
    Atomics.notify(this.#steps, step);
  }

  isStepDone(step: number): boolean {
    return Atomics.load(this.#steps, step) === DONE;
  }

  /** Blocks until a step is done. @throws {Stopped} */
  waitForStep(step: number): void {
    for (let state = Atomics.load(this.#steps, step); state !== DONE; state = Atomics.load(this.#steps, step)) {
      this.throwIfStopped();
      Atomics.wait(this.#steps, step, state, WAIT_MS);
    }
  }

  addWritten(bytes: number): void {
    Atomics.add(this.#counters, WRITTEN, BigInt(bytes));
  }

  addHashed(bytes: number): void {
    Atomics.add(this.#counters, HASHED, BigInt(bytes));
  }

  /** Output bytes written so far. */
  get written(): number {
    return Number(Atomics.load(this.#counters, WRITTEN));
  }

  /** Output bytes hashed so far. */
  get hashed(): number {
    return Number(Atomics.load(this.#counters, HASHED));
  }
}
