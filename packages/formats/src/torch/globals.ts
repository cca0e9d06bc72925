/**
 * The names that torch, numpy and Python's own containers go by in pickles, with their older spellings.
 */
import type { PickleGlobal, PickleValue } from '../pickle/records.ts';

// Python 2's names (Lib/_compat_pickle.py), and modules that torch has moved (torch/serialization.py, `load_module_mapping`).
const moved: ReadonlyMap<string, string> = new Map([
  ['__builtin__', 'builtins'],
  ['copy_reg', 'copyreg'],
  ['torch.tensor', 'torch._tensor'],
]);

// One record is named by all that came from its memo slot: a million tensors name their function by one.
const names = new WeakMap<PickleGlobal, string>();

/** The name of a global as it is today: "torch._utils._rebuild_tensor_v2". */
export function globalName(global: PickleGlobal): string {
  let name = names.get(global);
  if (name === undefined) names.set(global, (name = `${moved.get(global.module) ?? global.module}.${global.name}`));
  return name;
}

/** The name of a value that is a global, else `undefined`. */
export function nameOf(value: PickleValue | undefined): string | undefined {
  return typeof value === 'object' && value !== null && value.kind === 'global' ? globalName(value) : undefined;
}

/** The name of what a value is called, or is: for lists of what was left out. */
export function className(value: PickleValue): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return value.kind === 'call' ? nameOf(value.callable) : nameOf(value);
}

/** The dict classes whose items are a map of names. */
export const mappingClasses: ReadonlySet<string> = new Set([
  'builtins.dict',
  'collections.OrderedDict',
  'collections.defaultdict',
  'collections.Counter',
]);
