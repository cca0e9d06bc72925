/**
 * The maps and lists of a checkpoint as a tree of names: what is under what, and how many tensors.
 * Iterative, and linear in the pickle however often its parts are shared; knows nothing of storages.
 */
import { limitExceeded, type Limits } from '@assay/core';
import { setEntry, tupleItems, type PickleCall, type PickleRecord, type PickleValue } from '../pickle/records.ts';
import { mappingClasses, nameOf } from './globals.ts';
import { isTensorCall } from './rebuild.ts';

/** A key and what is under it; the key of a list's item is its index. */
export type TreeEntry = [key: PickleValue, value: PickleValue];

/** What is below a map or list. */
export interface TreeSize {
  /** Names of tensors: one tensor under two names counts twice. */
  readonly tensors: number;
  /** Letters of all those names, from here down. */
  readonly letters: number;
  /** Entries that naming them visits: those of a shared map once for each name that it has. */
  readonly visits: number;
}

/** What was measured. */
export interface Tree {
  /** The size of a map or list; of anything else nothing. */
  sizeOf(value: PickleValue): TreeSize;
  /** True where a value contains itself. */
  isCyclic(value: PickleValue): boolean;
}

/** The entries of a map or list, or `undefined` where the value is neither. Objects of unknown classes are neither. */
export function entriesOf(value: PickleValue): IterableIterator<TreeEntry> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (value.kind === 'dict') return value.entries.entries();
  if (value.kind === 'list' || value.kind === 'tuple') return value.items.entries();
  return value.kind === 'call' ? mappingEntries(value)?.entries() : undefined;
}

/** The number of entries of a map. */
export function entryCount(value: PickleValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (value.kind === 'dict') return value.entries.size;
  return value.kind === 'call' ? (mappingEntries(value)?.size ?? 0) : 0;
}

/** True for a dict or one of its well-known relatives. */
export function isMapping(value: PickleValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value.kind === 'dict' || (value.kind === 'call' && mappingEntries(value) !== undefined);
}

const nothing: Map<PickleValue, PickleValue> = new Map();
const merged = new WeakMap<PickleCall, Map<PickleValue, PickleValue>>();

/** OrderedDict and its like: what SETITEMS set, after what the arguments give. */
function mappingEntries(call: PickleCall): Map<PickleValue, PickleValue> | undefined {
  const name = nameOf(call.callable);
  if (name === undefined || !mappingClasses.has(name)) return undefined;
  const args = tupleItems(call.args) ?? [];
  const given = name === 'collections.defaultdict' ? args[1] : args[0];
  if (typeof given !== 'object' || given === null) return call.entries ?? nothing;
  let entries = merged.get(call);
  if (entries === undefined) merged.set(call, (entries = mergeEntries(given, call.entries ?? nothing)));
  return entries;
}

/** Python 2 gave OrderedDict a list of pairs, Counter is given a dict. */
function mergeEntries(given: PickleRecord, set: ReadonlyMap<PickleValue, PickleValue>): Map<PickleValue, PickleValue> {
  const entries = new Map<PickleValue, PickleValue>();
  if (given.kind === 'dict') for (const [key, value] of given.entries) setEntry(entries, key, value);
  for (const item of given.kind === 'list' || given.kind === 'tuple' ? given.items : []) {
    const pair = typeof item === 'object' && item !== null && (item.kind === 'list' || item.kind === 'tuple') ? item.items : [];
    if (pair.length === 2) setEntry(entries, pair[0] as PickleValue, pair[1] as PickleValue);
  }
  for (const [key, value] of set) setEntry(entries, key, value);
  return entries;
}

/** The text of a key within a name: texts as they are, integers in decimal; `undefined` for anything else. */
export function keyText(key: PickleValue): string | undefined {
  if (typeof key === 'string') return key;
  return typeof key === 'number' || typeof key === 'bigint' ? String(key) : undefined;
}

const empty: TreeSize = { tensors: 0, letters: 0, visits: 0 };
const oneTensor: TreeSize = { tensors: 1, letters: 0, visits: 0 };

interface Frame {
  readonly record: PickleRecord;
  readonly entries: Iterator<TreeEntry>;
  /** Of the key under which it stands. */
  readonly keyLength: number;
  tensors: number;
  letters: number;
  visits: number;
}

/**
 * Measures everything below `root`, each shared part once.
 * @throws {AssayError} `LIMIT_EXCEEDED` for more values or deeper nesting than the limits allow
 */
export function measureTree(root: PickleValue, where: string, limits: Limits): Tree {
  const sizes = new Map<PickleValue, TreeSize>();
  const open = new Set<PickleValue>();
  const cyclic = new Set<PickleValue>();
  const frames: Frame[] = [];
  let walked = 0;
  const enter = (value: PickleValue, keyLength: number): void => {
    const entries = entriesOf(value);
    if (entries === undefined) return;
    if (frames.length >= limits.maxNesting) {
      throw limitExceeded('maxNesting', { where, found: frames.length + 1, allowed: limits.maxNesting });
    }
    open.add(value);
    frames.push({ record: value as PickleRecord, entries, keyLength, tensors: 0, letters: 0, visits: 0 });
  };
  enter(root, 0);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const next = frame.entries.next();
    if (next.done === true) {
      leave(frames, sizes, open);
      continue;
    }
    walked += 1;
    frame.visits += 1;
    if (walked > limits.maxWalkedValues) throw limitExceeded('maxWalkedValues', { where, found: walked, allowed: limits.maxWalkedValues });
    const [key, value] = next.value;
    if (typeof value !== 'object' || value === null) continue;
    const keyLength = typeof key === 'string' ? key.length + 1 : 8;
    const known = sizes.get(value);
    if (known !== undefined) add(frame, known, keyLength);
    else if (open.has(value)) cyclic.add(value);
    else if (isTensorCall(value)) add(frame, oneTensor, keyLength);
    else enter(value, keyLength);
  }
  return { sizeOf: (value) => sizes.get(value) ?? empty, isCyclic: (value) => cyclic.has(value) };
}

function leave(frames: Frame[], sizes: Map<PickleValue, TreeSize>, open: Set<PickleValue>): void {
  const frame = frames.pop();
  if (frame === undefined) return;
  const { record, tensors, letters, visits } = frame;
  const size = { tensors, letters, visits };
  sizes.set(record, size);
  open.delete(record);
  const parent = frames.at(-1);
  if (parent !== undefined) add(parent, size, frame.keyLength);
}

function add(frame: Frame, size: TreeSize, keyLength: number): void {
  if (size.tensors === 0) return;
  frame.tensors += size.tensors;
  frame.visits += size.visits;
  frame.letters += size.letters + size.tensors * keyLength;
}
