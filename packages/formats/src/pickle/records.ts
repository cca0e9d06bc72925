/**
 * What a pickle describes, as inert records: nothing here was looked up, built or called.
 * Records may share and contain each other, also in cycles: walk them with a list of what was seen.
 */

/** None, a bool, an int (a bigint above 2^53-1 or below its negative), a str (which may hold lone surrogates), or a record. */
export type PickleValue = null | boolean | number | bigint | string | PickleRecord;

/** A value that is not a plain JavaScript one. */
export type PickleRecord =
  | PickleFloat
  | PickleBytes
  | PickleSequence
  | PickleDict
  | PickleGlobal
  | PickleCall
  | PicklePersistent;

/** A float: apart from numbers, which are ints. */
export interface PickleFloat {
  readonly kind: 'float';
  readonly value: number;
}

/** Bytes within the pickle, not copied. `text`: a str of Python 2 that is not UTF-8. */
export interface PickleBytes {
  readonly kind: 'bytes' | 'bytearray' | 'text';
  readonly bytes: Uint8Array;
}

/** Values in order; a set may repeat them. */
export interface PickleSequence {
  readonly kind: 'list' | 'tuple' | 'set' | 'frozenset';
  readonly items: PickleValue[];
}

/** Keys in the order in which they were first set. Records are keys by identity, so equal tuples stay apart. */
export interface PickleDict {
  readonly kind: 'dict';
  readonly entries: Map<PickleValue, PickleValue>;
}

/** The name of something importable. */
export interface PickleGlobal {
  readonly kind: 'global';
  readonly module: string;
  readonly name: string;
  /** Of its opcode, in bytes of the pickle. */
  readonly offset: number;
  /** What BUILD set on it, in order. */
  states: PickleValue[] | undefined;
}

/** How a call was written. */
export type CallForm = 'reduce' | 'newobj' | 'newobj-ex' | 'obj' | 'inst';

/** What a call would give, and what would then be done to it. */
export interface PickleCall {
  readonly kind: 'call';
  readonly form: CallForm;
  readonly callable: PickleRecord;
  /** A tuple, or a record that would have to be one. */
  readonly args: PickleValue;
  /** Keyword arguments, of NEWOBJ_EX only. */
  readonly keywords: PickleValue | undefined;
  /** Of its opcode, in bytes of the pickle. */
  readonly offset: number;
  /** What BUILD set on it, in order. */
  states: PickleValue[] | undefined;
  /** What APPEND, APPENDS and ADDITEMS added. */
  items: PickleValue[] | undefined;
  /** What SETITEM and SETITEMS set. */
  entries: Map<PickleValue, PickleValue> | undefined;
}

/** Something outside the pickle, by its id. */
export interface PicklePersistent {
  readonly kind: 'persistent';
  readonly id: PickleValue;
  readonly offset: number;
  /** What BUILD set on it, in order. */
  states: PickleValue[] | undefined;
}

/** The kind of a value, as it is shown: "int", "text", "list", "call". */
export function kindOf(value: PickleValue): string {
  if (value === null) return 'none';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return 'int';
    case 'string':
      return 'text';
    default:
      return value.kind;
  }
}

/** True for a value that a set or dict may hold as a key. Objects of unknown classes count as hashable. */
export function isHashable(value: PickleValue): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return value.kind !== 'list' && value.kind !== 'dict' && value.kind !== 'set' && value.kind !== 'bytearray';
}

/** The items of a tuple, or `undefined`. */
export function tupleItems(value: PickleValue | undefined): readonly PickleValue[] | undefined {
  return typeof value === 'object' && value !== null && value.kind === 'tuple' ? value.items : undefined;
}

/** Sets a key as a Python dict does: `True` is 1, and the first of equal keys stays. */
export function setEntry(entries: Map<PickleValue, PickleValue>, key: PickleValue, value: PickleValue): void {
  entries.set(typeof key === 'string' ? key : sameKey(entries, key), value);
}

function sameKey(entries: ReadonlyMap<PickleValue, PickleValue>, key: PickleValue): PickleValue {
  if (typeof key === 'boolean') return entries.has(Number(key)) ? Number(key) : key;
  if ((key === 0 || key === 1) && entries.has(key === 1)) return key === 1;
  if (typeof key === 'object' && key !== null && key.kind === 'float' && Number.isSafeInteger(key.value)) {
    return entries.has(key.value) ? key.value : key;
  }
  return key;
}
