// pickles.json is written by make-pickles.py with CPython 3.11.
import { readFileSync } from 'node:fs';
import { readPickle } from '@assay/formats';
import { isAssayError } from '@assay/core';
import { describe, expect, test } from 'vitest';
import { neutralOf, type Neutral } from '../support/neutral-pickle.ts';

interface Pickles {
  readonly written: readonly { readonly name: string; readonly protocol: number; readonly hex: string; readonly value: Neutral }[];
  readonly read: readonly { readonly hex: string; readonly value: { readonly is: Neutral } | null }[];
}

const pickles = JSON.parse(readFileSync(new URL('pickles.json', import.meta.url), 'utf8')) as Pickles;

/** Where this machine differs on purpose: a code where it is stricter than Python, a value where it can say more. */
const differs: ReadonlyMap<string, Neutral> = new Map<string, Neutral>([
  // BUILD of None does nothing in Python, whatever it is applied to.
  ['4e4e622e', 'PICKLE_TYPE_MISMATCH'],
  // A str of Python 2 that is no text: `encoding="ASCII"` refuses it, here its bytes are kept.
  ['53275c373737270a2e', { text: 'ff' }],
  // Python refuses a persistent id without a function to look it up; here it is a record.
  ['4e512e', { persistent: null }],
]);

describe('what the C pickler writes is read as the Python unpickler reads it', () => {
  test.each(pickles.written)('$name, protocol $protocol', ({ hex, protocol, value }) => {
    const result = readPickle(Buffer.from(hex, 'hex'));
    expect(neutralOf(result.value)).toEqual(value);
    expect({ protocol: result.protocol, end: result.end, findings: result.findings }).toEqual({
      protocol: protocol < 2 ? 0 : protocol,
      end: hex.length / 2,
      findings: [],
    });
  });
});

describe('a stream written by hand gives what the C unpickler makes of it, or is refused as there', () => {
  test.each(pickles.read)('$hex', ({ hex, value }) => {
    const expected = differs.has(hex) ? differs.get(hex) : value === null ? 'refused' : value.is;
    let found: unknown;
    try {
      found = neutralOf(readPickle(Buffer.from(hex, 'hex')).value);
    } catch (error) {
      if (!isAssayError(error)) throw error;
      expect(error.context['offset']).toBeTypeOf('number');
      found = differs.has(hex) ? error.code : 'refused';
    }
    expect(found).toEqual(expected);
  });
});
