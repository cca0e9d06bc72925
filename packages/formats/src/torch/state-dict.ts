/**
 * Which part of a checkpoint is the weights, and what their names are.
 * Names come from keys, joined by dots; nothing is renamed, and two tensors never get one name.
 */
import { AssayError, finding, limitExceeded, type Code, type Finding, type Limits, type Subject } from '@assay/core';
import { placeName } from '../pickle/failure.ts';
import { kindOf, type PickleCall, type PickleValue } from '../pickle/records.ts';
import { className } from './globals.ts';
import { LeftOutList, showKey } from './left-out.ts';
import { isTensorCall } from './rebuild.ts';
import { findPath, selectableKeys, type SelectedStep } from './select.ts';
import { entriesOf, isMapping, keyText, measureTree, type Tree, type TreeEntry, type TreeSize } from './tree.ts';

/**
 * Keys whose map of tensors is the weights, the first that is there: as of 2026-11. Before it come the averaged weights of
 * image restoration models (BasicSR), which are what their authors publish; others come after what they are averages of.
 */
export const weightKeys: readonly string[] = [
  'state_dict',
  'model_state_dict',
  'model',
  'module',
  'params_ema',
  'params',
  'ema',
  'ema_state_dict',
  'model_ema',
  'net',
  'network',
  'generator',
  'g_ema',
  'weights',
];

/** The name of a tensor that is the whole checkpoint. */
export const LONE_TENSOR_NAME = 'tensor';

/** Options of `chooseWeights`. */
export interface ChooseOptions {
  readonly where: Subject;
  readonly limits: Limits;
  /** Of the pickle: names may not grow far beyond it. */
  readonly pickleByteLength: number;
  /** The path of the part to take. */
  readonly select?: string;
}

/** The weights of a checkpoint. */
export interface ChosenWeights {
  /** The path that won, `''` for the root. */
  readonly path: string;
  /** In file order, names unique. */
  readonly tensors: ReadonlyMap<string, PickleCall>;
  readonly leftOut: readonly Finding[];
  /** What makes the checkpoint unfit, such as two tensors of one name. */
  readonly problems: readonly Finding[];
}

/**
 * Chooses the weights: what `select` names, else the first of `weightKeys` that maps names to tensors, else everything.
 * @throws {AssayError} `TORCH_SELECT_NOT_FOUND`, `TORCH_NO_TENSORS`, `TORCH_OBJECT_NOT_WEIGHTS`, `LIMIT_EXCEEDED`
 */
export function chooseWeights(root: PickleValue, options: ChooseOptions): ChosenWeights {
  const { where, limits, pickleByteLength, select } = options;
  const tree = measureTree(root, placeName(where), limits);
  const leftOut = new LeftOutList(where, tree);
  const steps = select === undefined ? knownKey(root, tree) : selected(root, select, where);
  for (const { parent, key, prefix } of withPrefixes(steps)) {
    for (const [other, value] of entriesOf(parent) ?? []) if (keyText(other) !== key) leftOut.value(prefix + showKey(other), value);
  }
  const last = steps.at(-1);
  const weights = last === undefined ? root : last.value;
  const path = steps.map(({ key }) => key).join('.');
  if (isTensorCall(weights)) {
    return { path, tensors: new Map([[last?.key ?? LONE_TENSOR_NAME, weights]]), leftOut: leftOut.findings(), problems: [] };
  }
  if (tree.sizeOf(weights).tensors === 0) throw noTensors(weights, path, where, leftOut);
  checkNames(tree.sizeOf(weights), pickleByteLength, placeName(where), limits);
  const names = new NameWalk(where, tree, leftOut, path);
  names.walk(weights);
  return { path, tensors: names.tensors, leftOut: [...leftOut.findings(), ...names.unnamed], problems: names.problems };
}

/** Names that the file need not spell out are free up to here: some 10,000. */
const FREE_NAME_BYTES = 1 << 20;
/** What one tensor takes in a header beside its name. */
const ENTRY_BYTES = 64;

/** A few shared maps can stand for any number of names: refused before one is made. */
function checkNames({ tensors, letters, visits }: TreeSize, pickleByteLength: number, where: string, limits: Limits): void {
  const found = letters + ENTRY_BYTES * tensors;
  const allowed = Math.max(FREE_NAME_BYTES, limits.maxExpansionRatio * pickleByteLength);
  if (found > allowed) throw limitExceeded('maxExpansionRatio', { where: `${where}: names of tensors`, found, allowed });
  if (visits > limits.maxWalkedValues) throw limitExceeded('maxWalkedValues', { where, found: visits, allowed: limits.maxWalkedValues });
}

function knownKey(root: PickleValue, tree: Tree): readonly SelectedStep[] {
  if (!isMapping(root)) return [];
  const found = new Map<string, PickleValue>();
  for (const [key, value] of entriesOf(root) ?? []) {
    if (typeof key === 'string' && weightKeys.includes(key)) found.set(key, value);
  }
  for (const key of weightKeys) {
    const value = found.get(key);
    if (value !== undefined && isMapping(value) && tree.sizeOf(value).tensors > 0) return [{ parent: root, key, value }];
  }
  return [];
}

/** A message is to be read; the context has more of them. */
const KEYS_SHOWN = 12;

function selected(root: PickleValue, select: string, where: Subject): readonly SelectedStep[] {
  const steps = findPath(root, select);
  if (steps !== undefined) return steps;
  const available = selectableKeys(root, 50);
  const shown = available.slice(0, KEYS_SHOWN).map((key) => JSON.stringify(key)).join(', ');
  const more = available.length > KEYS_SHOWN ? ', and more' : '';
  throw new AssayError('TORCH_SELECT_NOT_FOUND', {
    message: `${placeName(where)}: there is no ${JSON.stringify(select)}`,
    hint: available.length === 0 ? 'The checkpoint has no keys to select.' : `Its keys are: ${shown}${more}.`,
    context: { select, available },
  });
}

function withPrefixes(steps: readonly SelectedStep[]): (SelectedStep & { readonly prefix: string })[] {
  let prefix = '';
  return steps.map((step) => {
    const at = { ...step, prefix };
    prefix += `${step.key}.`;
    return at;
  });
}

function noTensors(weights: PickleValue, path: string, where: Subject, leftOut: LeftOutList): AssayError {
  if (entriesOf(weights) === undefined) leftOut.value(path, weights);
  else for (const [key, value] of entriesOf(weights) ?? []) leftOut.value(path === '' ? showKey(key) : `${path}.${showKey(key)}`, value);
  const isObject = typeof weights === 'object' && weights !== null && weights.kind === 'call' && !isMapping(weights);
  const code: Code = isObject ? 'TORCH_OBJECT_NOT_WEIGHTS' : 'TORCH_NO_TENSORS';
  const context = { found: isObject ? (className(weights) ?? 'an object') : kindOf(weights), expected: 'a map of names to tensors', ...(path === '' ? {} : { select: path }) };
  return new AssayError(code, {
    message: isObject ? `${placeName(where)}: is an object of class ${context.found}, not a map of tensors` : `${placeName(where)}: holds no tensors`,
    hint: isObject
      ? 'A whole module was saved. Load it where its code is, and save module.state_dict() instead.'
      : 'There are no weights to take out of this file.',
    context,
    findings: [finding(code, 'error', where, context), ...leftOut.findings()],
  });
}

interface Level {
  readonly entries: Iterator<TreeEntry>;
  readonly prefix: string;
}

/** Walks the weights and names every tensor. */
class NameWalk {
  readonly tensors: Map<string, PickleCall> = new Map();
  readonly problems: Finding[] = [];
  /** Tensors that cannot be had under their name. */
  readonly unnamed: Finding[] = [];
  #where: Subject;
  #tree: Tree;
  #leftOut: LeftOutList;
  #path: string;
  /** Values that are not tensors below the top-level key that is walked. */
  #others = 0;

  constructor(where: Subject, tree: Tree, leftOut: LeftOutList, path: string) {
    this.#where = where;
    this.#tree = tree;
    this.#leftOut = leftOut;
    this.#path = path === '' ? '' : `${path}.`;
  }

  walk(weights: PickleValue): void {
    const levels: Level[] = [];
    if (typeof weights === 'object' && weights !== null && weights.kind === 'call') this.#leftOut.attributes(this.#path, weights.states);
    this.#enter(levels, weights, '');
    let top = '';
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const next = level.entries.next();
      if (next.done === true) {
        levels.pop();
        if (levels.length === 1) this.#endTop(top);
        continue;
      }
      const [key, value] = next.value;
      if (levels.length === 1) top = showKey(key);
      this.#take(levels, level.prefix, key, value);
    }
  }

  #take(levels: Level[], prefix: string, key: PickleValue, value: PickleValue): void {
    const tensors = isTensorCall(value) ? 1 : this.#tree.sizeOf(value).tensors;
    if (tensors === 0) {
      if (levels.length === 1) this.#leftOut.value(this.#path + showKey(key), value);
      else this.#others += 1;
      return;
    }
    const text = keyText(key);
    if (text === undefined) {
      this.#note(this.unnamed, 'TORCH_NAME_NOT_TEXT', prefix + showKey(key), { found: kindOf(key), expected: 'text or an integer', tensors });
    } else if (isTensorCall(value)) {
      this.#name(prefix + text, value);
    } else if (this.#tree.isCyclic(value)) {
      this.#note(this.problems, 'TORCH_NAMES_CYCLIC', prefix + text, { found: 'a map that contains itself', expected: 'maps that end' });
    } else {
      this.#enter(levels, value, `${prefix}${text}.`);
    }
  }

  #enter(levels: Level[], value: PickleValue, prefix: string): void {
    if (levels.length === 0 && this.#tree.isCyclic(value)) {
      this.#note(this.problems, 'TORCH_NAMES_CYCLIC', prefix, { found: 'a map that contains itself', expected: 'maps that end' });
    }
    const entries = entriesOf(value);
    if (entries !== undefined) levels.push({ entries, prefix });
  }

  #name(name: string, call: PickleCall): void {
    const at = { start: call.offset };
    if (name === '__metadata__') {
      this.#note(this.unnamed, 'TORCH_NAME_RESERVED', name, { found: name, expected: 'another name' }, at);
    } else if (/\p{Surrogate}/u.test(name)) {
      this.#note(this.unnamed, 'TORCH_NAME_NOT_UNICODE', name, { found: 'a lone surrogate', expected: 'text that UTF-8 can hold' }, at);
    } else if (this.tensors.has(name)) {
      this.#note(this.problems, 'TORCH_NAME_DUPLICATE', name, { found: 'two tensors', expected: 'one tensor of a name' }, at);
    } else {
      this.tensors.set(name, call);
    }
  }

  #endTop(top: string): void {
    if (this.#others > 0) this.#leftOut.values(this.#path + top, this.#others);
    this.#others = 0;
  }

  #note(list: Finding[], code: Code, tensor: string, args: Finding['args'], at: Subject = {}): void {
    if (list.length < 1000) list.push(finding(code, 'error', { ...this.#where, tensor, ...at }, args));
  }
}
