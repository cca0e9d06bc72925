import { parseHeaderJson, tokenizeJson, type JsonValue } from 'safetensors-js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bytesOf } from './file-bytes.ts';

function valueOf(text: string): JsonValue {
  const result = parseHeaderJson(bytesOf(text));
  if (!result.ok) throw new Error(`${result.problem.kind} at ${result.problem.start}`);
  return result.value;
}

/** What JSON.parse gives, with Maps for objects. */
function mapped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mapped);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, inner]) => [key, mapped(inner)]));
}

/** Large integers as the doubles that JSON.parse makes of them. */
function rounded(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Map) return new Map([...(value as ReadonlyMap<string, JsonValue>)].map(([key, inner]) => [key, rounded(inner)]));
  return Array.isArray(value) ? (value as readonly JsonValue[]).map(rounded) : value;
}

it('reads what JSON.stringify writes, objects as Maps', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      const text = JSON.stringify(value, null, space);
      expect(rounded(valueOf(text))).toEqual(mapped(JSON.parse(text)));
    }),
  );
});

it('accepts exactly what JSON.parse accepts, but for lone surrogates, infinite numbers and depth', () => {
  const piece = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '"a"', '\\u0061', '\\', '0', '1', '-', '.', 'e', '+', 'true', 'null', ' ', '\n', '\u000b', 'é');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      let expected = true;
      try {
        JSON.parse(text);
      } catch {
        expected = false;
      }
      expect(parseHeaderJson(bytesOf(text)).ok).toBe(expected);
    }),
    { numRuns: 5000 },
  );
});

it('refuses exactly the bytes that a fatal decoder refuses', () => {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const byte = fc.oneof(fc.constantFrom(0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5), fc.integer({ min: 0x80, max: 0xff }));
  fc.assert(
    fc.property(fc.array(byte, { minLength: 1, maxLength: 5 }), (raw) => {
      const bytes = new Uint8Array([0x22, ...raw, 0x22]);
      let text: string | undefined;
      try {
        text = decoder.decode(bytes.subarray(1, -1));
      } catch {
        text = undefined;
      }
      const result = parseHeaderJson(bytes);
      if (text === undefined) expect(result).toMatchObject({ ok: false, problem: { kind: 'utf8' } });
      else expect(result).toMatchObject({ ok: true, value: text });
    }),
    { numRuns: 5000 },
  );
});

it.each([
  ['0', 0],
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', 9007199254740992n],
  ['9007199254740993', 9007199254740993n],
  ['18446744073709551615', 18446744073709551615n],
  ['18446744073709551616', undefined],
  ['100000000000000000000', undefined],
  ['-1', undefined],
  ['-0', undefined],
  ['1.0', undefined],
  ['1e2', undefined],
])('reads the integer %s as %s', (text, expected) => {
  const json = tokenizeJson(bytesOf(text));
  json.next();
  expect(json.integer()).toBe(expected);
});

it('gives the byte offsets of every token', () => {
  const json = tokenizeJson(bytesOf(' {"é" : [12, "x"] }'), { offset: 100 });
  const seen: [string, number, number][] = [];
  while (json.next() !== 'end') seen.push([json.kind, json.start, json.end]);
  expect(seen).toEqual([
    ['{', 101, 102],
    ['key', 102, 106],
    ['[', 109, 110],
    ['number', 110, 112],
    ['string', 114, 117],
    [']', 117, 118],
    ['}', 119, 120],
  ]);
});

it('lists keys that are there twice after unescaping, and keeps the last', () => {
  expect(parseHeaderJson(bytesOf('{"a":1,"\\u0061":2,"b":{"c":1,"c":2}}'))).toEqual({
    ok: true,
    value: new Map<string, JsonValue>([['a', 2], ['b', new Map([['c', 2]])]]),
    duplicates: [
      { key: 'a', start: 7, end: 15 },
      { key: 'c', start: 29, end: 32 },
    ],
  });
});

it('keeps a byte order mark that begins a text', () => {
  expect(valueOf('"\ufeffa"')).toBe('\ufeffa');
});

it('has no other prototype for __proto__', () => {
  expect(valueOf('{"__proto__":{"x":1}}')).toEqual(new Map([['__proto__', new Map([['x', 1]])]]));
});

it('stays at its problem', () => {
  const json = tokenizeJson(bytesOf('[1 2]'));
  while (json.next() !== 'problem');
  expect(json.next()).toBe('problem');
  expect(json.problem).toEqual({ kind: 'syntax', start: 3, end: 4, found: '"2"', expected: '"," or "]"' });
});

it('stops at a depth without recursion', () => {
  const deep = bytesOf('['.repeat(5_000_000));
  expect(parseHeaderJson(deep)).toMatchObject({ ok: false, problem: { kind: 'depth', start: 127 } });
  expect(parseHeaderJson(deep, { limits: { maxJsonDepth: 4_000_000 } })).toMatchObject({ problem: { kind: 'depth', start: 3_999_999 } });
});
