/**
 * Finds a part of a checkpoint by its path. Keys may hold dots themselves: the longest key that fits is tried first.
 */
import type { PickleValue } from '../pickle/records.ts';
import { entriesOf, keyText } from './tree.ts';

/** One step of a path. */
export interface SelectedStep {
  /** In which it was found. */
  readonly parent: PickleValue;
  readonly key: string;
  readonly value: PickleValue;
}

/** The steps to what `path` names, or `undefined`. Looks at a value once for each way in which the path can be cut, so within the path's own length. */
export function findPath(root: PickleValue, path: string): readonly SelectedStep[] | undefined {
  const open: { readonly at: PickleValue; readonly rest: string; readonly steps: readonly SelectedStep[] }[] = [{ at: root, rest: path, steps: [] }];
  // The same rest of the path at the same value leads nowhere twice.
  const tried = new Map<PickleValue, Set<string>>();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { at, rest, steps } = next;
    const rests = tried.get(at) ?? new Set();
    if (rests.has(rest)) continue;
    tried.set(at, rests.add(rest));
    const fitting: SelectedStep[] = [];
    for (const [key, value] of entriesOf(at) ?? []) {
      const text = keyText(key);
      if (text === rest) return [...steps, { parent: at, key: text, value }];
      if (text !== undefined && rest.startsWith(`${text}.`)) fitting.push({ parent: at, key: text, value });
    }
    // The stack gives the last first.
    for (const step of fitting.sort((a, b) => a.key.length - b.key.length)) {
      open.push({ at: step.value, rest: rest.slice(step.key.length + 1), steps: [...steps, step] });
    }
  }
  return undefined;
}

/** Keys that can be selected, for the error that names them. */
export function selectableKeys(root: PickleValue, most: number): string[] {
  const keys: string[] = [];
  for (const [key] of entriesOf(root) ?? []) {
    if (keys.length === most) break;
    const text = keyText(key);
    if (text !== undefined) keys.push(text.slice(0, 200));
  }
  return keys;
}
