/**
 * What a checkpoint holds beside its weights, said in few words: one finding a key, not one a value.
 */
import { finding, type Facts, type Finding, type Subject } from '@assay/core';
import { kindOf, type PickleValue } from '../pickle/records.ts';
import { className } from './globals.ts';
import { isTensorCall } from './rebuild.ts';
import { entriesOf, entryCount, isMapping, keyText, type Tree } from './tree.ts';

/** More than this many say nothing new. */
const MOST = 1000;

/** Collects what is left out. */
export class LeftOutList {
  #where: Subject;
  #tree: Tree;
  #findings: Finding[] = [];
  #more = 0;

  constructor(where: Subject, tree: Tree) {
    this.#where = where;
    this.#tree = tree;
  }

  /** Takes note of the value at a path. */
  value(path: string, value: PickleValue): void {
    this.#add(() => ({ path, ...describeValue(value, this.#tree) }));
  }

  /** Takes note of `count` values that are not tensors, below a path whose tensors are kept. */
  values(path: string, count: number): void {
    this.#add(() => ({ path, kind: 'values', count }));
  }

  /** Takes note of attributes that BUILD set on a map. */
  attributes(prefix: string, states: readonly PickleValue[] | undefined): void {
    for (const state of states ?? []) {
      for (const [key, value] of entriesOf(state) ?? []) {
        this.#add(() => ({ path: `${prefix}${showKey(key)}`, ...describeValue(value, this.#tree), attribute: true }));
      }
    }
  }

  findings(): Finding[] {
    if (this.#more === 0) return this.#findings;
    return [...this.#findings, finding('TORCH_LEFT_OUT', 'info', this.#where, { kind: 'more', count: this.#more })];
  }

  #add(args: () => Facts): void {
    if (this.#findings.length < MOST) this.#findings.push(finding('TORCH_LEFT_OUT', 'info', this.#where, args()));
    else this.#more += 1;
  }
}

/** A key as part of a path that is shown, never as a name. */
export function showKey(key: PickleValue): string {
  return keyText(key) ?? `<${kindOf(key)}>`;
}

function describeValue(value: PickleValue, tree: Tree): Facts {
  const name = className(value);
  const facts = name === undefined ? {} : { class: name };
  const isTensor: boolean = isTensorCall(value);
  if (isTensor) return { kind: 'tensor', ...facts };
  if (typeof value !== 'object' || value === null) return { kind: kindOf(value) };
  const { tensors } = tree.sizeOf(value);
  const inside = tensors > 0 ? { tensors } : {};
  if (isMapping(value)) return { kind: 'map', ...facts, count: entryCount(value), ...inside };
  switch (value.kind) {
    case 'list':
    case 'tuple':
      return { kind: value.kind, count: value.items.length, ...inside };
    case 'set':
    case 'frozenset':
      return { kind: value.kind, count: value.items.length };
    case 'call':
      return { kind: 'object', ...facts };
    case 'global':
      return { kind: 'name', ...facts };
    case 'persistent':
      return { kind: 'storage' };
    default:
      return { kind: value.kind };
  }
}
