/**
 * Every dtype of safetensors 0.8.0: its width, its PyTorch name, its place in the serialisation order.
 * Knows nothing of values.
 */

/** A dtype of safetensors 0.8.0. */
export type DType =
  | 'BOOL'
  | 'F4'
  | 'F6_E2M3'
  | 'F6_E3M2'
  | 'U8'
  | 'I8'
  | 'F8_E5M2'
  | 'F8_E4M3'
  | 'F8_E8M0'
  | 'F8_E4M3FNUZ'
  | 'F8_E5M2FNUZ'
  | 'I16'
  | 'U16'
  | 'F16'
  | 'BF16'
  | 'I32'
  | 'U32'
  | 'F32'
  | 'C64'
  | 'F64'
  | 'I64'
  | 'U64';

/** What the elements are. */
export type DTypeFamily = 'bool' | 'unsigned' | 'signed' | 'float' | 'complex';

/** The facts of one dtype. */
export interface DTypeFacts {
  /** Width of one element in bits; 4 and 6 pack. */
  readonly bits: number;
  /** The name in `torch.`, where PyTorch has it. */
  readonly torch: string | undefined;
  readonly family: DTypeFamily;
  /** Bytes that reverse together between big- and little-endian: a complex number is two of them. */
  readonly swapWidth: 1 | 2 | 4 | 8;
}

const facts = (bits: number, family: DTypeFamily, torch?: string, swapWidth = Math.max(1, bits / 8)): DTypeFacts => ({
  bits,
  family,
  torch,
  swapWidth: (bits < 8 ? 1 : swapWidth) as 1 | 2 | 4 | 8,
});

// In the order of the Rust enum (safetensors/src/tensor.rs, `Dtype`): files are sorted by it, descending.
const table: Readonly<Record<DType, DTypeFacts>> = {
  BOOL: facts(8, 'bool', 'bool'),
  F4: facts(4, 'float', 'float4_e2m1fn_x2'),
  F6_E2M3: facts(6, 'float'),
  F6_E3M2: facts(6, 'float'),
  U8: facts(8, 'unsigned', 'uint8'),
  I8: facts(8, 'signed', 'int8'),
  F8_E5M2: facts(8, 'float', 'float8_e5m2'),
  F8_E4M3: facts(8, 'float', 'float8_e4m3fn'),
  F8_E8M0: facts(8, 'float', 'float8_e8m0fnu'),
  F8_E4M3FNUZ: facts(8, 'float', 'float8_e4m3fnuz'),
  F8_E5M2FNUZ: facts(8, 'float', 'float8_e5m2fnuz'),
  I16: facts(16, 'signed', 'int16'),
  U16: facts(16, 'unsigned', 'uint16'),
  F16: facts(16, 'float', 'float16'),
  BF16: facts(16, 'float', 'bfloat16'),
  I32: facts(32, 'signed', 'int32'),
  U32: facts(32, 'unsigned', 'uint32'),
  F32: facts(32, 'float', 'float32'),
  C64: facts(64, 'complex', 'complex64', 4),
  F64: facts(64, 'float', 'float64'),
  I64: facts(64, 'signed', 'int64'),
  U64: facts(64, 'unsigned', 'uint64'),
};

/** All dtypes in the reference's enum order (ascending). */
export const dtypes: readonly DType[] = Object.keys(table) as DType[];

const ranks: ReadonlyMap<string, number> = new Map(dtypes.map((dtype, rank) => [dtype, rank]));

/** The facts of a dtype. */
export function dtypeFacts(dtype: DType): DTypeFacts {
  return table[dtype];
}

/** The place of a dtype in the enum order, 0 for BOOL; the writer sorts by it, descending. */
export function dtypeRank(dtype: DType): number {
  return ranks.get(dtype) ?? -1;
}

/** True for the exact, upper-case name of a dtype. */
export function isDType(text: string): text is DType {
  return ranks.has(text);
}
