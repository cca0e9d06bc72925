/**
 * What opcodes do to tuples, lists, sets and dicts; to an object of an unknown class the same is written down beside it.
 */
import { isHashable, kindOf, setEntry, type PickleRecord, type PickleValue } from './records.ts';
import type { PickleState } from './state.ts';

const EMPTY_TUPLE: PickleRecord = { kind: 'tuple', items: [] };

/** A tuple; the empty one is always the same, as in Python. */
export function pushTuple(state: PickleState, items: PickleValue[]): void {
  if (items.length === 0) state.stack.values.push(EMPTY_TUPLE);
  else state.push({ kind: 'tuple', items });
}

/** The last `count` values as a tuple. */
export function pushShortTuple(state: PickleState, count: 2 | 3): void {
  state.stack.need(count);
  const { values } = state.stack;
  const last = values.pop() as PickleValue;
  const middle = values.pop() as PickleValue;
  state.push({ kind: 'tuple', items: count === 2 ? [middle, last] : [values.pop() as PickleValue, middle, last] });
}

/** Appends the last `count` values to the list below them. */
export function appendItems(state: PickleState, count: number): void {
  const items = takeAbove(state, count);
  const target = state.stack.top();
  if (items.length === 0) return;
  state.count(items.length);
  if (isRecord(target) && target.kind === 'list') pushAll(target.items, items);
  else if (isRecord(target) && target.kind === 'call') pushAll((target.items ??= []), items);
  else throw state.fail('PICKLE_TYPE_MISMATCH', kindOf(target), 'a list to append to');
}

/** Adds what lies above the last mark to the set below it. */
export function addItems(state: PickleState): void {
  const items = requireHashable(state, state.stack.takeToMark());
  const target = state.stack.top();
  if (items.length === 0) return;
  state.count(items.length);
  if (isRecord(target) && target.kind === 'set') pushAll(target.items, items);
  else if (isRecord(target) && target.kind === 'call') pushAll((target.items ??= []), items);
  else throw state.fail('PICKLE_TYPE_MISMATCH', kindOf(target), 'a set to add to');
}

/** Sets the last `count` values, keys and values in turn, in the dict below them. */
export function setItems(state: PickleState, count: number): void {
  const pairs = takeAbove(state, count);
  const target = state.stack.top();
  if (pairs.length === 0) return;
  if (isRecord(target) && target.kind === 'dict') setPairs(state, target.entries, pairs);
  else if (isRecord(target) && target.kind === 'call') setPairs(state, (target.entries ??= new Map<PickleValue, PickleValue>()), pairs);
  else throw state.fail('PICKLE_TYPE_MISMATCH', kindOf(target), 'a dict to set items of');
}

/** A dict of keys and values in turn. */
export function pushDict(state: PickleState, pairs: readonly PickleValue[]): void {
  const entries = new Map<PickleValue, PickleValue>();
  setPairs(state, entries, pairs);
  state.push({ kind: 'dict', entries });
}

/** Refuses lists, dicts, sets and bytearrays, which Python cannot hash. */
export function requireHashable(state: PickleState, items: PickleValue[]): PickleValue[] {
  for (const item of items) if (!isHashable(item)) throw state.fail('PICKLE_TYPE_MISMATCH', kindOf(item), 'a hashable key');
  return items;
}

function setPairs(state: PickleState, entries: Map<PickleValue, PickleValue>, pairs: readonly PickleValue[]): void {
  if (pairs.length % 2 !== 0) throw state.fail('PICKLE_STACK_UNDERFLOW', pairs.length, 'an even number of keys and values');
  state.count(pairs.length / 2);
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const key = pairs[at] as PickleValue;
    if (!isHashable(key)) throw state.fail('PICKLE_TYPE_MISMATCH', kindOf(key), 'a hashable key');
    setEntry(entries, key, pairs[at + 1] as PickleValue);
  }
}

/** The last `count` values, with one more left below them. */
function takeAbove({ stack }: PickleState, count: number): PickleValue[] {
  stack.need(count + 1);
  const { values } = stack;
  return count === 1 ? [values.pop() as PickleValue] : values.splice(values.length - count);
}

/** Without spreading into arguments, of which there may be millions. */
function pushAll(items: PickleValue[], added: readonly PickleValue[]): void {
  for (const item of added) items.push(item);
}

function isRecord(value: PickleValue): value is PickleRecord {
  return typeof value === 'object' && value !== null;
}
