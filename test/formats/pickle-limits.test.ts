// Growth of every kind has a limit, which is met before memory is: rows P36 to P41 of the conformance list.
import { isAssayError, type LimitName } from '@assay/core';
import { readPickle, type ReadPickleOptions } from '@assay/formats';
import { describe, expect, test } from 'vitest';
import { PickleBuilder } from '../support/pickle-builder.ts';

const build = (): PickleBuilder => new PickleBuilder();

function passedLimit(bytes: Uint8Array, options?: ReadPickleOptions): { limit: unknown; offset: unknown } {
  try {
    readPickle(bytes, options);
  } catch (error) {
    if (isAssayError(error) && error.code === 'LIMIT_EXCEEDED') return { limit: error.context['limit'], offset: error.context['offset'] };
    throw error;
  }
  throw new Error('no limit was passed');
}

function repeated(name: string, count: number): Uint8Array {
  const [code = 0] = build().op(name).bytes();
  return new Uint8Array(count).fill(code);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}

const stop = build().stop();

describe('with the limits that hold by default', () => {
  test('a memo index far away is refused, one nearer makes no array (P37)', () => {
    for (const put of [build().int(1).sized('LONG_BINPUT', 4, 2 ** 31 - 1), build().int(1).line('PUT', '9'.repeat(20)), build().int(1).sized('LONG_BINPUT', 4, 50_000_000)]) {
      expect(passedLimit(put.stop())).toEqual({ limit: 'maxPickleMemo', offset: 2 });
    }
    const before = process.memoryUsage().rss;
    expect(readPickle(build().int(1).sized('LONG_BINPUT', 4, 49_999_999).op('MEMOIZE').op('BINGET', 1).stop()).value).toBe(1);
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
  });

  test('integers of 10 MB are refused before they are looked at (P38)', () => {
    const zeros = new Uint8Array(10_000_000);
    expect(passedLimit(joined(build().sized('LONG4', 4, zeros.length).bytes(), zeros, stop))).toEqual({ limit: 'maxPickleIntegerBytes', offset: 0 });
    const digits = new Uint8Array(1_000_000).fill(0x39);
    const line = Uint8Array.of(0x0a);
    for (const name of ['LONG', 'INT', 'PUT', 'FLOAT']) {
      expect(passedLimit(joined(build().op('NONE').op(name).bytes(), digits, line, stop))).toEqual({ limit: 'maxPickleIntegerBytes', offset: 1 });
    }
  });

  test('100,000 open marks are refused (P41)', () => {
    expect(passedLimit(joined(repeated('MARK', 100_000), stop))).toEqual({ limit: 'maxNesting', offset: 1000 });
  });

  test('100,000 tuples in each other are read without recursion (P41)', () => {
    const result = readPickle(joined(build().op('NONE').bytes(), repeated('TUPLE1', 100_000), stop));
    expect(result.opcodes).toBe(100_002);
  });

  test('a million opcodes of a large model are read (P40)', () => {
    const one = build().op('EMPTY_LIST').op('MARK').bytes();
    const item = build().int(1).op('BINPUT', 1).bytes();
    const bytes = Buffer.concat([one, ...Array.from({ length: 500_000 }, () => item), build().op('APPENDS').stop()]);
    expect(readPickle(bytes)).toMatchObject({ opcodes: 1_000_004, findings: [] });
  });
});

describe('each limit is met where it is set', () => {
  const list = joined(build().op('EMPTY_LIST').bytes(), joined(...Array.from({ length: 100 }, () => build().op('NONE').op('APPEND').bytes())), stop);
  const rows: readonly [LimitName, number, Uint8Array, offset: number][] = [
    ['maxPickleBytes', 100, joined(repeated('NONE', 101), stop), 0],
    ['maxPickleOpcodes', 50, joined(repeated('NONE', 100), stop), 49],
    ['maxWalkedValues', 50, joined(repeated('NONE', 100), stop), 50],
    ['maxWalkedValues', 50, joined(repeated('EMPTY_LIST', 100), stop), 50],
    ['maxWalkedValues', 50, list, 100],
    ['maxPickleMemo', 50, joined(build().op('NONE').bytes(), repeated('MEMOIZE', 100), stop), 51],
    ['maxNesting', 50, joined(repeated('MARK', 100), stop), 50],
  ];
  test.each(rows)('%s of %i', (limit, allowed, bytes, offset) => {
    const error = passedLimit(bytes, { limits: { [limit]: allowed } });
    expect(error.limit).toBe(limit);
    expect(Math.abs(Number(error.offset) - offset)).toBeLessThanOrEqual(1);
  });
});

describe('shared values stay shared', () => {
  test('lists that would be 10^100 values are as many opcodes as they are written in (P39)', () => {
    const levels = 100;
    const laughs = build().op('EMPTY_LIST').op('BINPUT', 0);
    for (let level = 1; level <= levels; level += 1) {
      laughs.op('EMPTY_LIST').op('MARK');
      for (let copy = 0; copy < 10; copy += 1) laughs.sized('LONG_BINGET', 4, level - 1);
      laughs.op('APPENDS').sized('LONG_BINPUT', 4, level);
    }
    const result = readPickle(laughs.stop(), { limits: { maxWalkedValues: 11 * levels + 20 } });
    expect(result.opcodes).toBe(3 + 14 * levels);
  });

  test('work grows with the stream, not with what it stands for', () => {
    const opcodes = [1000, 2000, 4000].map((length) => {
      const bytes = joined(build().op('EMPTY_LIST').op('MEMOIZE').bytes(), ...Array.from({ length }, () => build().op('DUP').op('BINGET', 0).op('APPEND').op('POP').bytes()), stop);
      return readPickle(bytes).opcodes / length;
    });
    for (const each of opcodes) expect(each).toBeCloseTo(4, 1);
  });

  test('a list that holds itself is one record', () => {
    const { value } = readPickle(build().op('EMPTY_LIST').op('BINPUT', 0).op('BINGET', 0).op('APPEND').stop());
    expect(value).toMatchObject({ kind: 'list' });
    if (typeof value === 'object' && value !== null && value.kind === 'list') expect(value.items[0]).toBe(value);
  });
});
