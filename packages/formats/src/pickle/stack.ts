/**
 * The stack of a pickle machine with its marks: nothing below the last mark can be reached but through it
 * (CPython's `Pdata` and its fence).
 */
import { limitExceeded, type Limits } from '@assay/core';
import { malformedPickle, opcodeName, placeName } from './failure.ts';
import type { PickleReader } from './reader.ts';
import type { PickleValue } from './records.ts';

/** Values, and the heights at which marks lie. */
export class PickleStack {
  readonly values: PickleValue[] = [];
  /** The height of the last mark: what lies below is out of reach. */
  #fence = 0;
  #marks: number[] = [];
  #reader: PickleReader;
  #maxMarks: number;

  constructor(reader: PickleReader, limits: Limits) {
    this.#reader = reader;
    this.#maxMarks = limits.maxNesting;
  }

  get openMarks(): number {
    return this.#marks.length;
  }

  /** Refuses when fewer than `count` values lie above the last mark. */
  need(count: number): void {
    if (this.values.length - this.#fence < count) throw this.#underflow(count);
  }

  pop(): PickleValue {
    const { values } = this;
    if (values.length <= this.#fence) throw this.#underflow(1);
    // Never undefined above the fence.
    return values.pop() as PickleValue;
  }

  /** The last value, which stays. */
  top(): PickleValue {
    this.need(1);
    return this.values[this.values.length - 1] as PickleValue;
  }

  mark(): void {
    if (this.#marks.length >= this.#maxMarks) throw this.#tooDeep();
    this.#fence = this.values.length;
    this.#marks.push(this.#fence);
  }

  /** Takes the last mark away; returns its height. */
  popMark(): number {
    const height = this.#marks.pop();
    if (height === undefined) throw this.#noMark();
    this.#fence = this.#marks.at(-1) ?? 0;
    return height;
  }

  /** Takes away the last mark and the values above it; returns those. */
  takeToMark(): PickleValue[] {
    return this.values.splice(this.popMark());
  }

  /** POP: takes away a value, or a mark that has none above it. */
  popValueOrMark(): void {
    if (this.#marks.length > 0 && this.#fence === this.values.length) this.popMark();
    else this.pop();
  }

  #underflow(needed: number): Error {
    const { where, opcodeAt, bytes } = this.#reader;
    const found = this.values.length - this.#fence;
    const facts = { opcode: opcodeName(bytes[opcodeAt] ?? 0), marks: this.#marks.length };
    return malformedPickle('PICKLE_STACK_UNDERFLOW', where, { offset: opcodeAt, found, expected: needed }, facts);
  }

  #noMark(): Error {
    const { where, opcodeAt, bytes } = this.#reader;
    const opcode = opcodeName(bytes[opcodeAt] ?? 0);
    return malformedPickle('PICKLE_MARK_MISSING', where, { offset: opcodeAt, found: opcode, expected: 'a mark before it' });
  }

  #tooDeep(): Error {
    const { where, opcodeAt } = this.#reader;
    const facts = { where: placeName(where), found: this.#marks.length + 1, allowed: this.#maxMarks, offset: opcodeAt };
    return limitExceeded('maxNesting', facts);
  }
}
