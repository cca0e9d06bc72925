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

/** The name of a global as it is today: "torch._utils._rebuild_tensor_v2". */
export function globalName(global: PickleGlobal): string {
  return `${moved.get(global.module) ?? global.module}.${global.name}`;
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

/** What checkpoints name as a matter of course, and what is not worth a word. */
export function isCommonplace(name: string): boolean {
  return mappingClasses.has(name) || /^torch\.(?:\w+|cuda\.\w+|storage\.\w+)$/.test(name) || /^(?:torch\._utils\.|torch\._tensor\._|torch\.nn\.parameter\.)/.test(name);
}
