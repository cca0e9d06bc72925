/**
 * The arguments of a rebuild function, read one by one with their kinds checked.
 */
import { kindOf, tupleItems, type PickleValue } from '../pickle/records.ts';
import { nameOf } from './globals.ts';
import { malformed, type TensorProblem } from './problem.ts';

/** An integer of a pickle. */
export type Integer = number | bigint;

/** No operation of PyTorch takes more; one tuple may serve many tensors, so length is work. */
const MOST_DIMENSIONS = 64;

/** Lazy bits that a tensor carries. */
export interface LazyBits {
  readonly conj: boolean;
  readonly neg: boolean;
}

/** Reads the arguments of one call; the first problem is kept, later reads give neutral values. */
export class ArgumentReader {
  readonly function: string;
  #items: readonly PickleValue[];
  #problem: TensorProblem | undefined;

  /** `counts`: the numbers of arguments that the function takes. */
  constructor(name: string, items: readonly PickleValue[], counts: readonly number[]) {
    this.function = name;
    this.#items = items;
    if (!counts.includes(items.length)) this.#fail('arguments', items.length, counts.join(' or '));
  }

  /** The first problem so far. */
  get problem(): TensorProblem | undefined {
    return this.#problem;
  }

  get length(): number {
    return this.#items.length;
  }

  at(index: number): PickleValue {
    return this.#items[index] ?? null;
  }

  /** An integer of at least 0. */
  count(index: number, argument: string): Integer {
    const value = this.at(index);
    if ((typeof value !== 'number' && typeof value !== 'bigint') || value < 0) {
      this.#fail(argument, typeof value === 'number' || typeof value === 'bigint' ? value : kindOf(value), 'an integer of at least 0');
      return 0;
    }
    return value;
  }

  /** Integers of at least 0, as a tuple, a list or a torch.Size. */
  counts(index: number, argument: string): readonly Integer[] {
    const items = sequenceItems(this.at(index));
    if (items === undefined || items.length > MOST_DIMENSIONS) {
      this.#fail(argument, items?.length ?? kindOf(this.at(index)), `a tuple of at most ${MOST_DIMENSIONS} integers`);
      return [];
    }
    for (const item of items) {
      if ((typeof item === 'number' || typeof item === 'bigint') && item >= 0) continue;
      this.#fail(argument, typeof item === 'number' || typeof item === 'bigint' ? item : kindOf(item), 'integers of at least 0');
      return [];
    }
    return items as readonly Integer[];
  }

  flag(index: number, argument: string): void {
    const value = this.at(index);
    if (typeof value !== 'boolean') this.#fail(argument, kindOf(value), 'a bool');
  }

  /** Backward hooks are code; every saved tensor has none, as an empty OrderedDict or None. */
  noHooks(index: number): void {
    const value = this.at(index);
    if (value === null) return;
    const isEmpty =
      typeof value === 'object' &&
      ((value.kind === 'dict' && value.entries.size === 0) ||
        (value.kind === 'call' &&
          nameOf(value.callable) === 'collections.OrderedDict' &&
          tupleItems(value.args)?.length === 0 &&
          (value.entries?.size ?? 0) === 0 &&
          value.states === undefined));
    if (!isEmpty) this.#fail('backward_hooks', kindOf(value), 'none');
  }

  /** The bits that the metadata names. */
  lazyBits(index: number): LazyBits {
    const value = this.at(index);
    const bits = { conj: false, neg: false };
    if (value === null) return bits;
    if (typeof value !== 'object' || value.kind !== 'dict') {
      this.#fail('metadata', kindOf(value), 'a dict of conj and neg');
      return bits;
    }
    for (const [key, state] of value.entries) {
      if ((key === 'conj' || key === 'neg') && typeof state === 'boolean') bits[key] = state;
      else this.#fail('metadata', typeof key === 'string' ? key.slice(0, 80) : kindOf(key), 'conj or neg, a bool each');
    }
    return bits;
  }

  #fail(argument: string, found: string | number | bigint, expected: string): void {
    this.#problem ??= malformed('TORCH_CALL_MALFORMED', { function: this.function, argument, found, expected });
  }
}

function sequenceItems(value: PickleValue): readonly PickleValue[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (value.kind === 'tuple' || value.kind === 'list') return value.items;
  if (value.kind !== 'call' || nameOf(value.callable) !== 'torch.Size') return undefined;
  const args = tupleItems(value.args) ?? [];
  return args.length === 1 ? tupleItems(args[0]) : undefined;
}
