/**
 * What every checkpoint names, and what is therefore not worth a word when it is listed what a file names.
 * Exact names only: whatever is called otherwise is listed, however close to torch it sounds.
 */
import type { PickleGlobal } from '../pickle/records.ts';
import { dtypeOfClass, torchDType } from './dtypes.ts';
import { globalName, mappingClasses } from './globals.ts';
import { isTensorName } from './rebuild.ts';

const others: ReadonlySet<string> = new Set([
  'torch.Size',
  'torch.device',
  'torch.strided',
  'torch.sparse_coo',
  'torch.per_tensor_affine',
  'torch.per_channel_affine',
  'torch.per_channel_affine_float_qparams',
  'torch.serialization._get_layout',
]);

/** True for torch's own dtypes, storages, tensors and the functions that rebuild them, and for Python's maps. */
export function isCommonplace(global: PickleGlobal): boolean {
  const name = globalName(global);
  if (mappingClasses.has(name) || others.has(name) || isTensorName(name)) return true;
  if (global.module === 'torch' && torchDType(global.name) !== undefined) return true;
  return (dtypeOfClass(global.module, global.name, 'Storage') ?? dtypeOfClass(global.module, global.name, 'Tensor')) !== undefined;
}
