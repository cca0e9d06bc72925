/**
 * A pickled value as JSON, in the form that test/formats/make-pickles.py writes:
 * containers are numbered by first appearance, and are a reference after it.
 */
import type { PickleCall, PickleRecord, PickleValue } from '@assay/formats';

/** Anything that JSON can say. */
export type Neutral = null | boolean | number | string | readonly Neutral[] | { readonly [field: string]: Neutral };

/** The neutral form of a value. */
export function neutralOf(value: PickleValue, seen: Map<PickleRecord, number> = new Map()): Neutral {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value !== 'object') return { int: pythonHex(BigInt(value)) };
  if (value.kind === 'float') return { float: bigEndianHex(value.value) };
  if (value.kind === 'tuple' && value.items.length === 0) return { tuple: [] };
  const known = seen.get(value);
  if (known !== undefined) return { ref: known };
  seen.set(value, seen.size);
  const all = (items: readonly PickleValue[]): Neutral => items.map((item) => neutralOf(item, seen));
  const pairs = (entries: ReadonlyMap<PickleValue, PickleValue>): Neutral => [...entries].map((entry) => all(entry));
  switch (value.kind) {
    case 'bytes':
    case 'bytearray':
    case 'text':
      return { [value.kind]: Buffer.from(value.bytes).toString('hex') };
    case 'list':
    case 'tuple':
    case 'set':
    case 'frozenset':
      return { [value.kind]: all(value.items) };
    case 'dict':
      return { dict: pairs(value.entries) };
    case 'global':
      return { global: [value.module, value.name] };
    case 'persistent':
      return { persistent: neutralOf(value.id, seen) };
    case 'call':
      return neutralCall(value, seen, all, pairs);
  }
}

function neutralCall(
  { form, callable, args, keywords, items, entries, states }: PickleCall,
  seen: Map<PickleRecord, number>,
  all: (items: readonly PickleValue[]) => Neutral,
  pairs: (entries: ReadonlyMap<PickleValue, PickleValue>) => Neutral,
): Neutral {
  return {
    call: form,
    callable: neutralOf(callable, seen),
    args: neutralOf(args, seen),
    ...(keywords === undefined ? {} : { keywords: neutralOf(keywords, seen) }),
    ...(items === undefined ? {} : { items: all(items) }),
    ...(entries === undefined ? {} : { entries: pairs(entries) }),
    ...(states === undefined ? {} : { states: all(states) }),
  };
}

function pythonHex(value: bigint): string {
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

function bigEndianHex(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
}
