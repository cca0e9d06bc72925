/**
 * The memo of one pickle: references by index, never copies.
 * Dense where indices come in order, as every pickler writes them; a far index costs one entry, not an array.
 */
import type { PickleValue } from './records.ts';

/** Memo slots by index. */
export class PickleMemo {
  #dense: PickleValue[] = [];
  #sparse: Map<number, PickleValue> = new Map();

  /** The slots in use; MEMOIZE fills the one of this index. */
  get size(): number {
    return this.#dense.length + this.#sparse.size;
  }

  /** The value of a slot, or `undefined` where it was never filled. */
  get(index: number): PickleValue | undefined {
    return index < this.#dense.length ? this.#dense[index] : this.#sparse.get(index);
  }

  /** Fills a slot. */
  put(index: number, value: PickleValue): void {
    const dense = this.#dense;
    if (index < dense.length) {
      dense[index] = value;
    } else if (index === dense.length) {
      dense.push(value);
      if (this.#sparse.size > 0) this.#takeIn();
    } else {
      this.#sparse.set(index, value);
    }
  }

  /** Moves to the dense part what has become its continuation. */
  #takeIn(): void {
    this.#sparse.delete(this.#dense.length - 1);
    for (;;) {
      const next = this.#sparse.get(this.#dense.length);
      if (next === undefined) return;
      this.#sparse.delete(this.#dense.length);
      this.#dense.push(next);
    }
  }
}
