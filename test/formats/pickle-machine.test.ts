// Rows P.. are those of the conformance list of hostile pickles.
import { isAssayError, type AssayError } from '@assay/core';
import { pickleOpcode, pickleOpcodes, readPickle, type PickleCall, type PickleValue, type ReadPickleOptions } from '@assay/formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PickleBuilder, pickleOf, type Writable } from '../support/pickle-builder.ts';

const build = (): PickleBuilder => new PickleBuilder();
const valueOf = (bytes: Uint8Array): PickleValue => readPickle(bytes).value;

function refusal(bytes: Uint8Array, options?: ReadPickleOptions): AssayError {
  try {
    readPickle(bytes, options);
  } catch (error) {
    if (isAssayError(error)) return error;
    throw error;
  }
  throw new Error('was not refused');
}

describe('names and calls are written down, and nothing is looked up (P02 to P11)', () => {
  const system = { kind: 'global', module: 'os', name: 'system' };
  const forms: Record<string, Uint8Array> = {
    'GLOBAL and REDUCE, protocol 0': build().global('os', 'system').op('MARK').line('UNICODE', 'id').op('TUPLE').op('REDUCE').stop(),
    'GLOBAL and REDUCE, protocol 2': build().proto().value({ reduce: [{ global: ['os', 'system'] }, { tuple: ['id'] }] }).stop(),
    'STACK_GLOBAL of BINUNICODE': build().text('os').text('system').op('STACK_GLOBAL').text('id').op('TUPLE1').op('REDUCE').stop(),
    'STACK_GLOBAL of BINUNICODE8': build().counted('BINUNICODE8', 8, 'os').counted('SHORT_BINUNICODE', 1, 'system').op('STACK_GLOBAL').text('id').op('TUPLE1').op('REDUCE').stop(),
    'STACK_GLOBAL of quoted strings with escapes': build().line('STRING', String.raw`'o\x73'`).line('STRING', String.raw`'s\171stem'`).op('STACK_GLOBAL').text('id').op('TUPLE1').op('REDUCE').stop(),
    'STACK_GLOBAL of BINSTRING and UNICODE': build().counted('BINSTRING', 4, 'os').line('UNICODE', String.raw`s\u0079stem`).op('STACK_GLOBAL').text('id').op('TUPLE1').op('REDUCE').stop(),
    'STACK_GLOBAL of memo slots after decoys': build()
      .text('os').op('MEMOIZE').op('POP').text('decoy').op('MEMOIZE').op('POP').text('system').op('BINPUT', 9).op('POP')
      .op('BINGET', 1).op('POP').op('BINGET', 0).line('GET', '9').op('STACK_GLOBAL').text('id').op('TUPLE1').op('REDUCE').stop(),
    'INST': build().op('MARK').text('id').line('INST', 'os', 'system').stop(),
    'OBJ': build().op('MARK').global('os', 'system').text('id').op('OBJ').stop(),
    'NEWOBJ': build().global('os', 'system').text('id').op('TUPLE1').op('NEWOBJ').stop(),
    'NEWOBJ_EX': build().global('os', 'system').text('id').op('TUPLE1').op('EMPTY_DICT').op('NEWOBJ_EX').stop(),
  };
  test.each(Object.entries(forms))('%s', (_, bytes) => {
    expect(valueOf(bytes)).toMatchObject({ kind: 'call', callable: system, args: { kind: 'tuple', items: ['id'] } });
    expect(readPickle(bytes).globals).toMatchObject([system]);
  });

  test('a call that is thrown away is still seen by an observer (P05)', () => {
    const calls: PickleCall[] = [];
    const bytes = build().op('NONE').op('MARK').global('os', 'system').text('id').op('OBJ').op('POP').stop();
    expect(readPickle(bytes, { observer: { call: (record) => calls.push(record) } }).value).toBe(null);
    expect(calls).toMatchObject([{ form: 'obj', callable: system, offset: 20 }]);
  });

  test('the memo holds what was on the stack when it was filled, and the last of an index (P10, P11)', () => {
    const popped = build().text('a').text('b').op('POP').op('MEMOIZE').op('POP').op('BINGET', 0).stop();
    expect(valueOf(popped)).toBe('a');
    const overwritten = build().int(1).op('BINPUT', 3).int(2).line('PUT', '3').int(3).op('MEMOIZE').op('BINGET', 3).stop();
    expect(valueOf(overwritten)).toBe(2);
  });

  test('BUILD is written down beside what it is applied to, also a class', () => {
    const bytes = build().global('m', 'C').value(new Map([['x', 1]])).op('BUILD').stop();
    expect(valueOf(bytes)).toMatchObject({ kind: 'global', states: [{ kind: 'dict' }] });
  });

  test('a module that JavaScript could mistake is a name like any other', () => {
    const bytes = build().global('__proto__', 'constructor').op('EMPTY_TUPLE').op('REDUCE').stop();
    expect(readPickle(bytes).globals).toMatchObject([{ module: '__proto__', name: 'constructor' }]);
  });
});

describe('a stream that Python refuses is refused with code and offset', () => {
  const rows: readonly [title: string, bytes: Uint8Array, code: string, offset: number][] = [
    ['no bytes', new Uint8Array(0), 'PICKLE_TRUNCATED', 0],
    ['no STOP (P30)', build().proto().op('NONE').bytes(), 'PICKLE_TRUNCATED', 3],
    ['an unknown opcode (P30)', build().op('NONE').raw([0xff]).stop(), 'PICKLE_OPCODE_UNKNOWN', 1],
    ['protocol 6 (P34)', build().proto(6).op('NONE').stop(), 'PICKLE_PROTOCOL_UNKNOWN', 0],
    ['a memo slot that was never filled (P13)', build().op('BINGET', 7).stop(), 'PICKLE_MEMO_MISSING', 0],
    ['an extension (P23)', build().op('EXT1', 1).stop(), 'PICKLE_EXTENSION', 0],
    ['an extension of code 0 (P23)', build().op('EXT4', 0, 0, 0, 0).stop(), 'PICKLE_EXTENSION', 0],
    ['a persistent id as text (P24)', build().line('PERSID', 'storage').stop(), 'PICKLE_PERSISTENT_ID_TEXT', 0],
    ['a buffer from outside (P43)', build().proto(5).op('NEXT_BUFFER').stop(), 'PICKLE_BUFFER_MISSING', 2],
    ['a read-only buffer (P43)', build().op('NONE').op('READONLY_BUFFER').stop(), 'PICKLE_BUFFER_MISSING', 1],
    ['an item set on a list (P44)', build().op('EMPTY_LIST').int(0).int(1).op('SETITEM').stop(), 'PICKLE_TYPE_MISMATCH', 5],
    ['items set on a number (P44)', build().int(1).op('MARK').int(0).int(1).op('SETITEMS').stop(), 'PICKLE_TYPE_MISMATCH', 7],
    ['an item appended to a dict (P44)', build().op('EMPTY_DICT').int(1).op('APPEND').stop(), 'PICKLE_TYPE_MISMATCH', 3],
    ['an item added to a list', build().op('EMPTY_LIST').op('MARK').int(1).op('ADDITEMS').stop(), 'PICKLE_TYPE_MISMATCH', 4],
    ['state set on a number', build().int(1).op('EMPTY_DICT').op('BUILD').stop(), 'PICKLE_TYPE_MISMATCH', 3],
    ['a number called', build().int(1).op('EMPTY_TUPLE').op('REDUCE').stop(), 'PICKLE_TYPE_MISMATCH', 3],
    ['a call with a list of arguments', build().global('a', 'b').op('EMPTY_LIST').op('REDUCE').stop(), 'PICKLE_TYPE_MISMATCH', 6],
    ['a name of bytes', build().counted('SHORT_BINBYTES', 1, 'os').text('system').op('STACK_GLOBAL').stop(), 'PICKLE_TYPE_MISMATCH', 15],
    ['a list as a key', build().op('EMPTY_DICT').op('EMPTY_LIST').int(1).op('SETITEM').stop(), 'PICKLE_TYPE_MISMATCH', 4],
    ['an odd number of items', build().op('EMPTY_DICT').op('MARK').int(1).op('SETITEMS').stop(), 'PICKLE_STACK_UNDERFLOW', 4],
    ['a value below the mark', build().op('NONE').op('MARK').op('TUPLE1').stop(), 'PICKLE_STACK_UNDERFLOW', 2],
    ['a mark that is not there', build().op('NONE').op('TUPLE').stop(), 'PICKLE_MARK_MISSING', 1],
    ['PUT of a negative slot (P37)', build().op('NONE').line('PUT', '-1').stop(), 'PICKLE_ARGUMENT_MALFORMED', 1],
    ['BINSTRING of length -1 (P36)', build().op('BINSTRING', 0xff, 0xff, 0xff, 0xff).stop(), 'PICKLE_ARGUMENT_MALFORMED', 0],
    ['LONG4 of length -1 (P36)', build().op('LONG4', 0xff, 0xff, 0xff, 0xff).stop(), 'PICKLE_ARGUMENT_MALFORMED', 0],
    ['an unquoted string', build().line('STRING', 'abc').stop(), 'PICKLE_ARGUMENT_MALFORMED', 0],
    ['invalid UTF-8', build().counted('BINUNICODE', 4, Uint8Array.of(0xc0, 0x80)).stop(), 'PICKLE_ARGUMENT_MALFORMED', 0],
  ];
  test.each(rows)('%s', (_, bytes, code, offset) => {
    const error = refusal(bytes, { where: { path: 'a.pt', member: 'a/data.pkl' } });
    expect({ code: error.code, offset: error.context['offset'] }).toEqual({ code, offset });
    expect(error.context).toHaveProperty('found');
    expect(error.context).toHaveProperty('expected');
    expect(error.findings).toMatchObject([{ code, severity: 'error', subject: { path: 'a.pt', member: 'a/data.pkl', start: offset } }]);
  });

  test.each(['BINUNICODE8', 'BINBYTES8', 'BYTEARRAY8'])('%s of 2^40, 2^63-1 and 2^64-1 bytes allocates nothing (P36)', (name) => {
    for (const length of [2n ** 40n, 2n ** 63n - 1n, 2n ** 64n - 1n]) {
      const error = refusal(build().sized(name, 8, length).stop());
      expect(error).toMatchObject({ code: 'PICKLE_TRUNCATED', context: { opcode: name, found: '1 bytes', expected: `${length} bytes` } });
    }
  });
});

describe('what is odd but readable is a warning', () => {
  const warnings = (bytes: Uint8Array): unknown[] => readPickle(bytes).findings.map(({ code, severity, subject: { start, end } }) => [code, severity, start, end]);

  test('a second protocol and a late one (P34)', () => {
    expect(warnings(build().proto().proto(4).op('NONE').stop())).toEqual([['PICKLE_PROTOCOL_REPEATED', 'warning', 2, 4]]);
    expect(warnings(build().op('NONE').proto().stop())).toEqual([['PICKLE_PROTOCOL_REPEATED', 'warning', 1, 3]]);
    expect(readPickle(build().proto().proto(4).op('NONE').stop()).protocol).toBe(4);
    expect(warnings(build().proto(0).op('NONE').stop())).toEqual([]);
  });

  test('values and marks left at the end (P35)', () => {
    expect(warnings(build().op('NONE').op('MARK').op('NONE').stop())).toEqual([['PICKLE_LEFT_OVER', 'warning', 3, 4]]);
  });

  test('bytes after STOP, also another pickle (P27, P28)', () => {
    const bytes = build().op('NONE').op('STOP').global('os', 'system').stop();
    expect(warnings(bytes)).toEqual([['PICKLE_TRAILING_BYTES', 'warning', 2, bytes.length]]);
    expect(readPickle(bytes, { trailing: 'allowed' })).toMatchObject({ end: 2, findings: [], globals: [] });
  });

  test('an opcode that crosses its frame, and a frame in a frame (P33)', () => {
    const crossing = build().proto(4).sized('FRAME', 8, 3).sized('BININT', 4, 7).stop();
    expect(warnings(crossing)).toEqual([['PICKLE_FRAME_CROSSED', 'warning', 11, 16]]);
    const nested = build().proto(4).sized('FRAME', 8, 11).sized('FRAME', 8, 2).op('NONE').stop();
    expect(warnings(nested)).toEqual([['PICKLE_FRAME_CROSSED', 'warning', 11, 20]]);
    expect(refusal(build().proto(4).sized('FRAME', 8, 100).op('NONE').stop()).code).toBe('PICKLE_TRUNCATED');
  });
});

describe('several pickles in one stream', () => {
  test('the next starts at the end of the last, with an empty memo (P12)', () => {
    const first = build().text('a').op('BINPUT', 0).stop();
    const bytes = Uint8Array.from([...first, ...build().op('BINGET', 0).stop()]);
    const { end } = readPickle(bytes, { trailing: 'allowed' });
    expect(end).toBe(first.length);
    expect(refusal(bytes, { offset: end })).toMatchObject({ code: 'PICKLE_MEMO_MISSING', context: { offset: first.length } });
  });
});

describe('texts of Python 2', () => {
  test('are text where they are UTF-8, else their bytes', () => {
    expect(valueOf(build().counted('SHORT_BINSTRING', 1, 'ü').stop())).toBe('ü');
    expect(valueOf(build().counted('BINSTRING', 4, Uint8Array.of(0xff)).stop())).toMatchObject({ kind: 'text', bytes: Uint8Array.of(0xff) });
  });
});

test('every opcode of the table is known to the machine, and every other byte is none', () => {
  for (let code = 0; code < 256; code += 1) {
    const bytes = Uint8Array.of(code, ...new Array<number>(16).fill(0x31), 0x0a, 0x31, 0x0a);
    let found: string | undefined;
    try {
      readPickle(bytes);
    } catch (error) {
      if (!isAssayError(error)) throw error;
      found = error.context['offset'] === 0 ? error.code : undefined;
    }
    expect([code, found === 'PICKLE_OPCODE_UNKNOWN']).toEqual([code, pickleOpcode(code) === undefined]);
  }
  expect(pickleOpcodes).toHaveLength(68);
});

test('a stream cut at any byte is refused with a code and an offset inside it', () => {
  const whole = build()
    .proto(4)
    .sized('FRAME', 8, 20)
    .value(new Map<Writable, Writable>([['key', [1, -70000, 2n ** 70n, { float: 1.5 }, null, true, Uint8Array.of(1, 2)]], [3, { tuple: ['é', { set: [1] }] }]]))
    .line('LONG', '12').op('POP').line('UNICODE', 'abc').op('POP').line('STRING', "'x'").op('POP')
    .value({ reduce: [{ global: ['a', 'b'] }, { tuple: [1] }], state: 1 }).op('POP')
    .stop();
  expect(readPickle(whole).end).toBe(whole.length);
  for (let length = 0; length < whole.length; length += 1) {
    const error = refusal(whole.subarray(0, length));
    expect(error.code).toBe('PICKLE_TRUNCATED');
    expect(error.context['offset']).toBeLessThanOrEqual(length);
  }
});

const leaf: fc.Arbitrary<Writable> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
  fc.integer(),
  fc.string({ unit: 'grapheme' }),
  fc.uint8Array({ maxLength: 20 }),
  fc.double({ noNaN: true }).map((float) => ({ float })),
);
const tree = fc.letrec<{ value: Writable }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => ({ tuple: items })),
    fc.uniqueArray(fc.tuple(fc.string(), tie('value')), { maxLength: 4, selector: ([key]) => key }).map((entries) => new Map<Writable, Writable>(entries)),
  ),
})).value;

/** What a written value must be read as. */
function sameAs(written: Writable, read: PickleValue): void {
  if (typeof written === 'bigint' || typeof written === 'number') expect(BigInt(read as number | bigint)).toBe(BigInt(written));
  else if (typeof written !== 'object' || written === null) expect(read).toBe(written);
  else if (written instanceof Uint8Array) expect(read).toMatchObject({ kind: 'bytes', bytes: written });
  else if ('float' in written) expect(read).toEqual({ kind: 'float', value: written.float });
  else {
    const record = read as Exclude<PickleValue, null | boolean | number | bigint | string>;
    if (written instanceof Map) {
      expect(record.kind).toBe('dict');
      const entries = record.kind === 'dict' ? record.entries : new Map<PickleValue, PickleValue>();
      expect([...entries.keys()]).toEqual([...written.keys()]);
      for (const [key, value] of written as ReadonlyMap<Writable, Writable>) sameAs(value, entries.get(key as string) as PickleValue);
    } else {
      const items = Array.isArray(written) ? (written as readonly Writable[]) : (written as { tuple: readonly Writable[] }).tuple;
      expect(record.kind).toBe(Array.isArray(written) ? 'list' : 'tuple');
      const found = record.kind === 'list' || record.kind === 'tuple' ? record.items : [];
      expect(found).toHaveLength(items.length);
      for (const [index, item] of items.entries()) sameAs(item, found[index] as PickleValue);
    }
  }
}

test('what is written is read again', () => {
  fc.assert(
    fc.property(tree, (value) => {
      const bytes = pickleOf(value);
      const result = readPickle(bytes);
      sameAs(value, result.value);
      expect({ end: result.end, findings: result.findings }).toEqual({ end: bytes.length, findings: [] });
    }),
  );
});

test('any bytes give records or an error with a code, and never hang', () => {
  const opcode = fc.constantFrom(...pickleOpcodes.map(({ code }) => code));
  const stream = fc.array(fc.oneof({ weight: 3, arbitrary: opcode }, fc.integer({ min: 0, max: 255 })), { maxLength: 60 });
  fc.assert(
    fc.property(stream, (bytes) => {
      try {
        expect(readPickle(Uint8Array.from(bytes)).end).toBeLessThanOrEqual(bytes.length);
      } catch (error) {
        expect(isAssayError(error)).toBe(true);
      }
    }),
    { numRuns: 2000 },
  );
});
