/**
 * Persistent ids of the zip form: which storage a tensor lives in (torch/serialization.py, `persistent_id` in `_save`).
 */
import { decodeAscii } from '../pickle/text.ts';
import { kindOf, tupleItems, type PickleValue } from '../pickle/records.ts';
import { dtypeOfClass, type TorchDType } from './dtypes.ts';
import { malformed, type TensorProblem } from './problem.ts';

/** A storage as the pickle states it. */
export interface TorchStorage {
  readonly kind: 'storage';
  /** Its record is `data/<key>`. */
  readonly key: string;
  /** The device it was on; of no consequence but for `meta`, which has no values. */
  readonly location: string;
  /** uint8 for untyped storages. */
  readonly dtype: TorchDType;
  readonly byteLength: number;
}

/**
 * The storage of a persistent id `('storage', class, key, location, numel)`.
 * The first item may be bytes, as Python 2 wrote it; keys may be integers.
 */
export function storageOf(value: PickleValue | undefined): TorchStorage | TensorProblem {
  if (typeof value !== 'object' || value === null || value.kind !== 'persistent') {
    return malformed('TORCH_CALL_MALFORMED', { argument: 'storage', found: kindOf(value ?? null), expected: 'a storage' });
  }
  const items = tupleItems(value.id) ?? [];
  const [tag, storageClass, key, location, count] = items;
  if (items.length !== 5 || textOf(tag) !== 'storage') {
    return malformed('TORCH_PERSISTENT_ID_UNKNOWN', {
      found: `${kindOf(value.id)} of ${items.length}, beginning with ${textOf(tag) ?? kindOf(tag ?? null)}`,
      expected: 'a tuple of storage, class, key, location and count',
    });
  }
  const keyText = typeof key === 'number' ? String(key) : textOf(key);
  const locationText = textOf(location);
  if (keyText === undefined || locationText === undefined || typeof count !== 'number' || count < 0) {
    return malformed('TORCH_PERSISTENT_ID_UNKNOWN', {
      found: `key ${kindOf(key ?? null)}, location ${kindOf(location ?? null)}, count ${typeof count === 'number' || typeof count === 'bigint' ? count : kindOf(count ?? null)}`,
      expected: 'texts, and a count of at least 0',
    });
  }
  const dtype = dtypeOfStorageClass(storageClass);
  if (dtype === undefined) return unknownClass(storageClass);
  const byteLength = count * dtype.itemSize;
  if (!Number.isSafeInteger(byteLength)) {
    return malformed('TORCH_PERSISTENT_ID_UNKNOWN', { found: count, expected: 'a count of bytes below 2^53' });
  }
  return { kind: 'storage', key: keyText, location: locationText, dtype, byteLength };
}

function dtypeOfStorageClass(storageClass: PickleValue | undefined): TorchDType | undefined {
  if (typeof storageClass !== 'object' || storageClass === null || storageClass.kind !== 'global') return undefined;
  return dtypeOfClass(storageClass.module, storageClass.name, 'Storage');
}

function unknownClass(storageClass: PickleValue | undefined): TensorProblem {
  const found =
    typeof storageClass === 'object' && storageClass !== null && storageClass.kind === 'global'
      ? `${storageClass.module}.${storageClass.name}`
      : kindOf(storageClass ?? null);
  return malformed('TORCH_STORAGE_CLASS_UNKNOWN', { found, expected: 'a storage class of torch' });
}

function textOf(value: PickleValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  return value.kind === 'bytes' || value.kind === 'text' ? decodeAscii(value.bytes, 0, value.bytes.length) : undefined;
}
