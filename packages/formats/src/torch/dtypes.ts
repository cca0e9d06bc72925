/**
 * The dtypes of PyTorch and the storage classes that imply them (torch/storage.py, `_dtype_to_storage_type_map`;
 * torch/serialization.py, `_new_dtypes`), and what safetensors 0.8.0 calls them.
 */
import type { DType } from '@assay/core';

/** A dtype of PyTorch. */
export interface TorchDType {
  /** As in `torch.`. */
  readonly name: string;
  /** Bytes of one element as PyTorch counts them: a pair, for float4_e2m1fn_x2. */
  readonly itemSize: number;
  /** Absent where safetensors has none. */
  readonly dtype: DType | undefined;
}

const table: readonly (readonly [name: string, itemSize: number, dtype?: DType])[] = [
  ['float64', 8, 'F64'],
  ['float32', 4, 'F32'],
  ['float16', 2, 'F16'],
  ['bfloat16', 2, 'BF16'],
  ['int64', 8, 'I64'],
  ['int32', 4, 'I32'],
  ['int16', 2, 'I16'],
  ['int8', 1, 'I8'],
  ['uint8', 1, 'U8'],
  ['uint16', 2, 'U16'],
  ['uint32', 4, 'U32'],
  ['uint64', 8, 'U64'],
  ['bool', 1, 'BOOL'],
  ['complex64', 8, 'C64'],
  ['complex128', 16],
  ['complex32', 4],
  ['float8_e5m2', 1, 'F8_E5M2'],
  ['float8_e4m3fn', 1, 'F8_E4M3'],
  ['float8_e5m2fnuz', 1, 'F8_E5M2FNUZ'],
  ['float8_e4m3fnuz', 1, 'F8_E4M3FNUZ'],
  ['float8_e8m0fnu', 1, 'F8_E8M0'],
  ['float4_e2m1fn_x2', 1, 'F4'],
  ['bits8', 1],
  ['bits16', 2],
  ['bits1x8', 1],
  ['bits2x4', 1],
  ['bits4x2', 1],
  ['qint8', 1],
  ['quint8', 1],
  ['qint32', 4],
  ['quint4x2', 1],
  ['quint2x4', 1],
  ...[1, 2, 3, 4, 5, 6, 7].flatMap((bits) => [[`int${bits}`, 1], [`uint${bits}`, 1]] as const),
];

const byName: ReadonlyMap<string, TorchDType> = new Map(table.map(([name, itemSize, dtype]) => [name, { name, itemSize, dtype }]));

// The names of the pre-1.0 C types, which storages and tensor classes still bear.
const byClass: ReadonlyMap<string, string> = new Map([
  ['Double', 'float64'],
  ['Float', 'float32'],
  ['Half', 'float16'],
  ['BFloat16', 'bfloat16'],
  ['Long', 'int64'],
  ['Int', 'int32'],
  ['Short', 'int16'],
  ['Char', 'int8'],
  ['Byte', 'uint8'],
  ['Bool', 'bool'],
  ['ComplexDouble', 'complex128'],
  ['ComplexFloat', 'complex64'],
  ['QInt8', 'qint8'],
  ['QInt32', 'qint32'],
  ['QUInt8', 'quint8'],
  ['QUInt4x2', 'quint4x2'],
  ['QUInt2x4', 'quint2x4'],
]);

const CLASS_MODULES: ReadonlySet<string> = new Set(['torch', 'torch.cuda', 'torch.storage']);

/** The dtype of a name such as `bfloat16`. */
export function torchDType(name: string): TorchDType | undefined {
  return byName.get(name);
}

/** The dtype of a class such as `torch.FloatStorage` or `torch.cuda.HalfTensor`; of untyped storages, whose elements are bytes, uint8. */
export function dtypeOfClass(module: string, name: string, suffix: 'Storage' | 'Tensor'): TorchDType | undefined {
  if (!CLASS_MODULES.has(module) || !name.endsWith(suffix)) return undefined;
  if (module === 'torch.storage') return name === 'UntypedStorage' ? byName.get('uint8') : undefined;
  const dtype = byClass.get(name.slice(0, -suffix.length));
  return dtype === undefined ? undefined : byName.get(dtype);
}
