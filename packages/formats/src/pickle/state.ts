/**
 * What a pickle machine holds while it runs: cursor, stack, memo, what was made, what was noticed.
 * Knows no opcode.
 */
import { finding, limitExceeded, type AssayError, type Code, type Facts, type Finding, type LimitName, type Limits } from '@assay/core';
import { malformedPickle, opcodeName, placeName } from './failure.ts';
import { PickleMemo } from './memo.ts';
import type { PickleReader } from './reader.ts';
import type { PickleCall, PickleGlobal, PickleRecord, PickleValue } from './records.ts';
import { PickleStack } from './stack.ts';

/** Told of what a pickle names and calls as it is read, also of what it throws away again. */
export interface PickleObserver {
  global?(record: PickleGlobal): void;
  call?(record: PickleCall): void;
  /** BUILD; `offset` is its opcode's. */
  build?(target: PickleRecord, state: PickleValue, offset: number): void;
}

/** Findings beyond this say nothing new. */
const MOST_FINDINGS = 100;

/** The state of one run. */
export class PickleState {
  readonly reader: PickleReader;
  readonly stack: PickleStack;
  readonly memo: PickleMemo = new PickleMemo();
  readonly limits: Limits;
  readonly observer: PickleObserver | undefined;
  readonly findings: Finding[] = [];
  /** The first of each name, by module and name. */
  readonly globals: Map<string, Map<string, PickleGlobal>> = new Map();
  /** Records made, and values put into them one by one. */
  #made = 0;

  constructor(reader: PickleReader, limits: Limits, observer: PickleObserver | undefined) {
    this.reader = reader;
    this.limits = limits;
    this.observer = observer;
    this.stack = new PickleStack(reader, limits);
  }

  /** Puts a new record on the stack. */
  push(record: PickleRecord): void {
    this.count(1);
    this.stack.values.push(record);
  }

  /** Counts values made, against what memory may hold. */
  count(made: number): void {
    this.#made += made;
    if (this.#made > this.limits.maxWalkedValues) throw this.overLimit('maxWalkedValues', this.#made);
  }

  /** Takes note of something at bytes [start, end) that does not stop the run. */
  note(code: Code, start: number, end: number, args: Facts): void {
    if (this.findings.length < MOST_FINDINGS) this.findings.push(finding(code, 'warning', { ...this.reader.where, start, end }, args));
  }

  /** The error at the current opcode. */
  fail(code: Code, found: string | number, expected: string): AssayError {
    const { where, opcodeAt, bytes } = this.reader;
    return malformedPickle(code, where, { offset: opcodeAt, found, expected }, { opcode: opcodeName(bytes[opcodeAt] ?? 0) });
  }

  overLimit(limit: LimitName, found: number | bigint): AssayError {
    const { where, opcodeAt } = this.reader;
    return limitExceeded(limit, { where: placeName(where), found, allowed: this.limits[limit], offset: opcodeAt });
  }
}
