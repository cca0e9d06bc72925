/**
 * What the threads of one run share: which step is next, which are done, how far they are, and whether to stop.
 * Plain numbers in shared memory; nothing here knows what a step is.
 */

const STOPPED = 0;
const CLAIMED = 1;
const FIELDS = 2;

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
  /** 1 where a step is done. */
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

  /** Claims the next of `order`, a step that nobody has begun; `undefined` when all are claimed. */
  claim(order: readonly number[]): number | undefined {
    return order[Atomics.add(this.#fields, CLAIMED, 1)];
  }

  /** Says that all output of a step is written. */
  stepDone(step: number): void {
    Atomics.store(this.#steps, step, 1);
    Atomics.notify(this.#steps, step);
  }

  isStepDone(step: number): boolean {
    return Atomics.load(this.#steps, step) === 1;
  }

  /** Blocks until a step is done. @throws {Stopped} */
  waitForStep(step: number): void {
    while (!this.isStepDone(step)) {
      this.throwIfStopped();
      Atomics.wait(this.#steps, step, 0, WAIT_MS);
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
