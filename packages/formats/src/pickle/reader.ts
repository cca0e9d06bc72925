/**
 * A cursor over the bytes of a pickle: every length is checked against what is left before anything is made of it.
 * Knows how arguments are written, not what opcodes do.
 */
import type { Subject } from '@assay/core';
import { malformedPickle, opcodeName } from './failure.ts';

const LINE_FEED = 0x0a;

/** Reads forward; offsets are indices into `bytes`. */
export class PickleReader {
  readonly bytes: Uint8Array;
  readonly where: Subject;
  /** Of the next byte. */
  position: number;
  /** Of the opcode whose argument is read. */
  opcodeAt = 0;
  #view: DataView;

  constructor(bytes: Uint8Array, position: number, where: Subject) {
    this.bytes = bytes;
    this.position = position;
    this.where = where;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The next opcode. */
  opcode(): number {
    const code = this.bytes[this.position];
    if (code === undefined) throw this.#truncated('the end', 'an opcode; the last is STOP');
    this.opcodeAt = this.position;
    this.position += 1;
    return code;
  }

  u8(): number {
    const start = this.take(1);
    return this.bytes[start] ?? 0;
  }

  u16(): number {
    return this.#view.getUint16(this.take(2), true);
  }

  i32(): number {
    return this.#view.getInt32(this.take(4), true);
  }

  u32(): number {
    return this.#view.getUint32(this.take(4), true);
  }

  f64(): number {
    return this.#view.getFloat64(this.take(8), false);
  }

  /** A length of 8 bytes that what is left can hold. */
  length64(): number {
    const length = this.#view.getBigUint64(this.take(8), true);
    const left = this.bytes.length - this.position;
    if (length > BigInt(left)) throw this.#truncated(`${left} bytes`, `${length} bytes`);
    return Number(length);
  }

  /** A length of 4 bytes that is signed for historical reasons. */
  signedLength(): number {
    const length = this.i32();
    if (length >= 0) return length;
    throw malformedPickle('PICKLE_ARGUMENT_MALFORMED', this.where, {
      offset: this.opcodeAt,
      found: `a length of ${length}`,
      expected: 'a length of at least 0',
    });
  }

  /** Steps over `length` bytes; returns where they start. */
  take(length: number): number {
    const start = this.position;
    const left = this.bytes.length - start;
    if (length > left) throw this.#truncated(`${left} bytes`, `${length} bytes`);
    this.position = start + length;
    return start;
  }

  /** The next `length` bytes, not copied. */
  slice(length: number): Uint8Array {
    const start = this.take(length);
    return this.bytes.subarray(start, this.position);
  }

  /** The bytes up to a line feed, which is stepped over. */
  line(): Uint8Array {
    const end = this.bytes.indexOf(LINE_FEED, this.position);
    if (end < 0) throw this.#truncated(`${this.bytes.length - this.position} bytes without a line feed`, 'a line feed');
    const line = this.bytes.subarray(this.position, end);
    this.position = end + 1;
    return line;
  }

  #truncated(found: string, expected: string): Error {
    const opcode = this.position > this.opcodeAt ? { opcode: opcodeName(this.bytes[this.opcodeAt] ?? 0) } : {};
    return malformedPickle('PICKLE_TRUNCATED', this.where, { offset: this.position, found, expected }, opcode);
  }
}
