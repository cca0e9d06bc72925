/**
 * Release of what holds files, maps, workers and buffers.
 * Node 20 lacks `AsyncDisposableStack` and `SuppressedError`; this is the part of them that we use.
 */

/** Owns what is given to it and releases all of it, last first, even when a release fails. */
export class Disposer implements AsyncDisposable {
  #owned: (() => void | Promise<void>)[] = [];
  #done: Promise<void> | undefined;

  /** Takes ownership; returns the thing itself. */
  use<T extends AsyncDisposable>(resource: T): T {
    this.defer(() => resource[Symbol.asyncDispose]() as Promise<void>);
    return resource;
  }

  /** Runs `release` at the end. */
  defer(release: () => void | Promise<void>): void {
    if (this.#done !== undefined) throw new TypeError('this Disposer has been disposed of');
    this.#owned.push(release);
  }

  /** Hands everything over to a new owner: this one then releases nothing. */
  move(): Disposer {
    const next = new Disposer();
    next.#owned = this.#owned;
    this.#owned = [];
    return next;
  }

  /** Releases everything, once; rethrows the first failure after all have been tried. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#done ??= this.#release();
    return this.#done;
  }

  async #release(): Promise<void> {
    const failures: unknown[] = [];
    for (const release of this.#owned.reverse()) {
      try {
        await release();
      } catch (failure) {
        failures.push(failure);
      }
    }
    this.#owned = [];
    if (failures.length > 0) throw failures[0];
  }
}
