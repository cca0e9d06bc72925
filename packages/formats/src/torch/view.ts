/**
 * Proof that a tensor lies within its storage, and where its bytes then are.
 * Pure: no I/O, and no stride is walked.
 */
import {
  dtypeFacts,
  elementCount,
  isContiguous,
  tensorSize,
  type DType,
  type Dimension,
  type Piece,
  type RangePiece,
  type InflatedPiece,
  type Shape,
  type StorageView,
  type StoredMember,
  type Transform,
} from '@assay/core';
import type { Integer } from './arguments.ts';
import type { TorchDType } from './dtypes.ts';
import { isProblem, malformed, refused, type TensorProblem } from './problem.ts';
import type { DenseTensor } from './rebuild.ts';

/** The byte order of the storages. */
export type ByteOrder = 'little' | 'big';

/** A tensor with its place. */
export interface PlacedTensor {
  readonly kind: 'placed';
  readonly dtype: DType;
  readonly shape: Shape;
  readonly byteLength: number;
  readonly view: StorageView;
  /** True where elements of the storage are read more than once. */
  readonly repeats: boolean;
  readonly pieces: readonly Piece[];
}

/** Proves a tensor against the record of its storage; `member` is absent where there is none. */
export function placeTensor(tensor: DenseTensor, member: StoredMember | undefined, order: ByteOrder): PlacedTensor | TensorProblem {
  const { storage, dtype: torchDType } = tensor;
  const { dtype } = torchDType;
  if (storage.location === 'meta') return refused('TORCH_TENSOR_META', { storage: storage.key });
  if (dtype === undefined) return refused('TORCH_DTYPE_UNSUPPORTED', { dtype: torchDType.name });
  const place = proveStorage(tensor, member) ?? proveView(tensor);
  if (isProblem(place)) return place;
  const shape = writtenShape(tensor, dtype);
  const size = tensorSize(dtype, shape);
  if (!size.ok) {
    // The view lies within its storage, so such a size can only come of strides of 0.
    return size.problem === 'not-whole-bytes'
      ? refused('TORCH_DTYPE_UNSUPPORTED', { dtype: torchDType.name, shape })
      : malformed('LIMIT_EXCEEDED', { limit: 'maxExpansionRatio', found: size.bits / 8n, expected: 'at most 2^53 bytes' });
  }
  const transform = transformOf(tensor, dtype, order);
  if (transform !== undefined && 'kind' in transform) return transform;
  return {
    kind: 'placed',
    dtype,
    shape,
    byteLength: size.byteLength,
    view: {
      storage: storage.key,
      storageByteLength: storage.byteLength,
      byteOffset: place.offset * torchDType.itemSize,
      stride: place.stride,
    },
    repeats: place.repeats,
    // Proven to be there by `proveStorage`.
    pieces: size.byteLength === 0 ? [] : [pieceOf(place, torchDType, size.byteLength, member as StoredMember, transform)],
  };
}

function proveStorage({ storage }: DenseTensor, member: StoredMember | undefined): TensorProblem | undefined {
  if (member === undefined) return malformed('TORCH_STORAGE_MISSING', { storage: storage.key, found: 'no record', expected: storage.byteLength });
  const found = member.inflatedLength ?? member.end - member.start;
  if (found === storage.byteLength) return undefined;
  return malformed('TORCH_STORAGE_SIZE_MISMATCH', { storage: storage.key, recordOffset: member.start, found, expected: storage.byteLength });
}

interface Place {
  readonly kind: 'place';
  readonly offset: number;
  readonly size: readonly number[];
  readonly stride: readonly number[];
  readonly repeats: boolean;
}

/** All in elements. What passes 2^53 passes every storage, so inexact sums above it decide rightly. */
function proveView({ storage, dtype, offset, size, stride }: DenseTensor): Place | TensorProblem {
  const available = Math.floor(storage.byteLength / dtype.itemSize);
  const count = elementCount(size);
  if (count === undefined) return malformed('TORCH_SHAPE_OVERFLOW', { shape: size, found: size.join(' x '), expected: 'at most 2^64-1 elements' });
  const empty = count === 0n;
  const strides = stride.map((step, axis) => (empty || size[axis] === 1 ? meaningless(step) : Number(step)));
  if (!empty) {
    const span = strides.reduce((sum, step, axis) => sum + (Number(size[axis]) - 1) * step, 1);
    const end = Number(offset) + span;
    if (end > available) {
      const args = { storage: storage.key, shape: size, stride, storageOffset: offset, found: end, expected: available };
      return malformed('TORCH_VIEW_OUT_OF_BOUNDS', args);
    }
    return { kind: 'place', offset: Number(offset), size: size.map(Number), stride: strides, repeats: Number(count) > span };
  }
  return { kind: 'place', offset: meaningless(offset), size: size.map(Number), stride: strides, repeats: false };
}

/** The stride of an axis of size 1, or of no elements, may be anything; what is no exact number is shown as 0. */
function meaningless(value: Integer): number {
  return Number.isSafeInteger(Number(value)) ? Number(value) : 0;
}

/** PyTorch counts pairs of float4 as one element, safetensors each of them. */
function writtenShape({ size }: DenseTensor, dtype: DType): Dimension[] {
  const last = size.at(-1);
  return dtype === 'F4' && last !== undefined ? [...size.slice(0, -1), typeof last === 'number' ? last * 2 : last * 2n] : [...size];
}

function transformOf({ conj, neg, dtype: torchDType }: DenseTensor, dtype: DType, order: ByteOrder): Transform | TensorProblem | undefined {
  const { swapWidth, family } = dtypeFacts(dtype);
  const swap = order === 'big' && swapWidth > 1 ? { swap: swapWidth as 2 | 4 | 8 } : {};
  const lazy = lazyTransform(conj, neg, family, swapWidth);
  if (lazy === undefined) return refused('TORCH_DTYPE_UNSUPPORTED', { dtype: torchDType.name, conj, neg });
  const transform = { ...swap, ...lazy };
  return Object.keys(transform).length === 0 ? undefined : transform;
}

/** What conj and neg do to the bytes; `undefined` for dtypes that cannot have them. */
function lazyTransform(conj: boolean, neg: boolean, family: string, width: 1 | 2 | 4 | 8): Transform | undefined {
  if (!conj && !neg) return {};
  if (family === 'complex' && width !== 1) {
    return { flip: { width, which: conj && neg ? 'real' : conj ? 'imaginary' : 'all' } };
  }
  if (conj) return undefined;
  if (family === 'signed' || family === 'unsigned') return { negate: width };
  return family === 'float' && width !== 1 ? { flip: { width, which: 'all' } } : undefined;
}

function pieceOf(place: Place, dtype: TorchDType, byteLength: number, member: StoredMember, transform: Transform | undefined): Piece {
  const { offset, size, stride } = place;
  const changed = transform === undefined ? {} : { transform };
  if (isContiguous(size, stride)) {
    const from = offset * dtype.itemSize;
    return { ...partOf(member, from, from + byteLength), ...changed };
  }
  const storage = partOf(member, 0, member.inflatedLength ?? member.end - member.start);
  return { kind: 'strided', storage, view: { shape: size, stride, offset, itemSize: dtype.itemSize }, ...changed };
}

/** Bytes [from, to) of what a member holds. */
function partOf(member: StoredMember, from: number, to: number): RangePiece | InflatedPiece {
  const { source, start, end, inflatedLength } = member;
  return inflatedLength === undefined
    ? { kind: 'range', source, start: start + from, end: start + to }
    : { kind: 'inflated', source, start, end, inflatedLength, from, to };
}
