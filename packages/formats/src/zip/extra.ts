/**
 * Extra fields of zip headers: zip64 sizes and the unicode path (APPNOTE 4.5).
 * PyTorch's `FB` padding and anything else is passed over.
 */
import { readU64, viewOf } from './records.ts';

const ZIP64 = 0x0001;
const UNICODE_PATH = 0x7075;

/** What the extra fields of one header say. */
export interface ExtraFields {
  /** The zip64 field's data. */
  readonly zip64: Uint8Array | undefined;
  /** The name that some readers prefer to the header's (4.6.9), without its version and CRC. */
  readonly unicodePath: Uint8Array | undefined;
  /** A field that decides what readers see came twice. */
  readonly doubled: boolean;
  /** A field is longer than what is left. Fewer than 4 bytes at the end are alignment, as zipalign writes it. */
  readonly cut: boolean;
}

const NONE: ExtraFields = { zip64: undefined, unicodePath: undefined, doubled: false, cut: false };

/** Walks the extra fields once. */
export function readExtraFields(extra: Uint8Array): ExtraFields {
  if (extra.length < 4) return NONE;
  let { zip64, unicodePath, doubled } = NONE;
  for (let offset = 0; offset + 4 <= extra.length; ) {
    const id = (extra[offset] ?? 0) | ((extra[offset + 1] ?? 0) << 8);
    const end = offset + 4 + ((extra[offset + 2] ?? 0) | ((extra[offset + 3] ?? 0) << 8));
    if (end > extra.length) return { zip64, unicodePath, doubled, cut: true };
    if (id === ZIP64) {
      doubled ||= zip64 !== undefined;
      zip64 ??= extra.subarray(offset + 4, end);
    } else if (id === UNICODE_PATH) {
      doubled ||= unicodePath !== undefined;
      unicodePath ??= extra.subarray(Math.min(end, offset + 9), end);
    }
    offset = end;
  }
  return { zip64, unicodePath, doubled, cut: false };
}

/** Hands out the 64-bit values of a zip64 field in order, one for each all-ones marker of the header (4.5.3). */
export class Zip64Values {
  #view: DataView;
  #offset = 0;

  constructor(zip64: Uint8Array | undefined) {
    this.#view = viewOf(zip64 ?? new Uint8Array(0));
  }

  /** The next value; `undefined` when the field is too short or the value is above 2^53-1. */
  next(): number | undefined {
    if (this.#offset + 8 > this.#view.byteLength) return undefined;
    this.#offset += 8;
    return readU64(this.#view, this.#offset - 8);
  }
}
