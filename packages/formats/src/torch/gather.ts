/**
 * Gathers the elements of a strided view in C order, in bounded memory. The only place that walks strides.
 * The output comes in tiles of whole rows. For each tile the storage is read in its own order, unwanted bytes
 * between wanted ones included where they are few, and the elements are moved to their places.
 */
import { inflateWithStreams, type Gather, type Kernels, type StorageReader, type StridedView } from '@assay/core';
import { asWords, moveElements, wordSizeOf, type Words } from './gather-copy.ts';
import { isRun, planBox, planUnits, planView, unitsOf, type GatherBox, type GatherUnit, type GatherView, type UnitLimits } from './gather-plan.ts';

/** A tile of output, and as much of the storage: together the memory of a gather, at most. */
const TILE_BYTES = 16 << 20;
const STAGING_BYTES = 16 << 20;
/** A read costs some 20 microseconds, in which 64 KiB and more come from the page cache. */
const GAP_BYTES = 64 * 1024;
/** Runs this long are read to their place. */
const RUN_BYTES = 256 * 1024;
/** Mapped bytes are lent in pieces of this many. */
const LENT_BYTES = 256 << 20;

/**
 * Gathers bytes [start, end) of a view: any strides, also 0, negative, overlapping, or huge on axes of one element.
 * Memory: at most 32 MiB; 16 MiB where the storage lends mapped bytes; no more than twice the view's own size where that is less.
 * @throws {TypeError} when the range is not within the view or cuts an element
 * @throws {RangeError} when the view is not within the storage
 */
export const gatherStrided: Gather = async function* (view, storage, { start, end, signal }) {
  const { itemSize } = view;
  const plan = planView(view);
  checkRange(plan, view, storage, start, end);
  if (start === end) return;
  const most = Math.max(1, Math.floor(Math.min(TILE_BYTES, plan.elements * itemSize) / itemSize));
  const reader = new UnitReader(storage, view, signal);
  let tile = new Uint8Array(0);
  for (let next = start / itemSize; next < end / itemSize; ) {
    signal?.throwIfAborted();
    const box = planBox(plan, next, end / itemSize, most);
    if (tile.length < box.elements * itemSize) tile = new Uint8Array(box.elements * itemSize);
    await reader.fill(box, tile);
    const until = Math.min(end / itemSize, box.start + box.elements);
    yield tile.subarray((next - box.start) * itemSize, (until - box.start) * itemSize);
    next = until;
  }
};

/** The kernels that need nothing of a platform. */
export const defaultKernels: Kernels = { gather: gatherStrided, inflate: inflateWithStreams };

function checkRange(plan: GatherView, { itemSize }: StridedView, storage: StorageReader, start: number, end: number): void {
  const inView = start >= 0 && start <= end && end <= plan.elements * itemSize;
  if (!inView || start % itemSize !== 0 || end % itemSize !== 0) {
    throw new TypeError(`[${start}, ${end}) is not a range of whole elements of ${itemSize} bytes within ${plan.elements} of them`);
  }
  if (plan.elements === 0) return;
  let [lowest, highest] = [plan.offset, plan.offset];
  for (const { size, source } of plan.axes) {
    if (source < 0) lowest += (size - 1) * source;
    else highest += (size - 1) * source;
  }
  if (lowest < 0 || (highest + 1) * itemSize > storage.byteLength) {
    throw new RangeError(`the view takes elements ${lowest} to ${highest} of ${itemSize} bytes, the storage has ${storage.byteLength} bytes`);
  }
}

/** Reads units of one storage and moves their elements into a tile. */
class UnitReader {
  #storage: StorageReader;
  #itemSize: number;
  #signal: AbortSignal | undefined;
  #wordSize: 1 | 2 | 4;
  #staging = new Uint8Array(0);
  /** Which elements of the storage are in `#staging`: an expanded view needs them again and again. */
  #staged = { start: 0, end: 0 };
  #lends: boolean;

  constructor(storage: StorageReader, { itemSize, offset }: StridedView, signal: AbortSignal | undefined) {
    this.#storage = storage;
    this.#itemSize = itemSize;
    this.#signal = signal;
    this.#wordSize = wordSizeOf(itemSize);
    this.#lends = this.#canLend(offset);
  }

  /** Fills the first bytes of `tile` with a box. */
  async fill(box: GatherBox, tile: Uint8Array): Promise<void> {
    const itemSize = this.#itemSize;
    const plan = planUnits(box, this.#limits());
    const target = asWords(tile.subarray(0, box.elements * itemSize), this.#wordSize);
    for (const unit of unitsOf(box, plan)) {
      this.#signal?.throwIfAborted();
      if (this.#lends) this.#moveLent(unit, target);
      else if (this.#isDirect(unit)) await this.#readRun(unit, tile);
      else await this.#readAndMove(unit, target, plan.extent);
    }
  }

  #limits(): UnitLimits {
    const itemSize = this.#itemSize;
    const elements = (bytes: number): number => Math.max(1, Math.floor(bytes / itemSize));
    return this.#lends
      ? { extent: elements(LENT_BYTES), gap: Number.POSITIVE_INFINITY, run: Number.POSITIVE_INFINITY }
      : { extent: elements(STAGING_BYTES), gap: elements(GAP_BYTES), run: elements(RUN_BYTES) };
  }

  /** Mapped bytes serve where words can be read from them: a payload may begin at any byte. */
  #canLend(offset: number): boolean {
    const start = offset * this.#itemSize;
    if (start >= this.#storage.byteLength) return false;
    const aligned = ({ byteOffset }: Uint8Array): boolean => byteOffset % this.#wordSize === 0;
    return this.#storage.withView?.(start, start + this.#itemSize, aligned) ?? false;
  }

  #isDirect({ axes, source, extent }: GatherUnit): boolean {
    const { start, end } = this.#staged;
    return axes.length === 1 && isRun(axes[0]) && !(source >= start && source + extent <= end);
  }

  async #readRun({ source, target, extent }: GatherUnit, tile: Uint8Array): Promise<void> {
    const itemSize = this.#itemSize;
    await this.#storage.readInto(tile.subarray(target * itemSize, (target + extent) * itemSize), source * itemSize);
  }

  async #readAndMove(unit: GatherUnit, target: Words, most: number): Promise<void> {
    const { source, extent } = unit;
    const itemSize = this.#itemSize;
    if (!(source >= this.#staged.start && source + extent <= this.#staged.end)) {
      if (this.#staging.length < extent * itemSize) this.#staging = new Uint8Array(most * itemSize);
      this.#staged = { start: 0, end: 0 };
      await this.#storage.readInto(this.#staging.subarray(0, extent * itemSize), source * itemSize);
      this.#staged = { start: source, end: source + extent };
    }
    const bytes = this.#staging.subarray(0, (this.#staged.end - this.#staged.start) * itemSize);
    this.#move(unit, bytes, source - this.#staged.start, target);
  }

  #moveLent(unit: GatherUnit, target: Words): void {
    const { source, extent } = unit;
    const itemSize = this.#itemSize;
    this.#storage.withView?.(source * itemSize, (source + extent) * itemSize, (bytes) => this.#move(unit, bytes, 0, target));
  }

  #move({ target: to, axes }: GatherUnit, bytes: Uint8Array, from: number, target: Words): void {
    const width = this.#itemSize / this.#wordSize;
    moveElements({ source: asWords(bytes, this.#wordSize), from, target, to, axes, width });
  }
}
