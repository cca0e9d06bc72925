/**
 * Archives made in memory: storages laid one after another as a container's members, and views over them.
 * The expected bytes of a tensor are walked element by element, apart from everything that is tested.
 */
import { crc32, deflateRawSync } from 'node:zlib';
import {
  contiguousStride,
  createMemorySource,
  dtypeFacts,
  finding,
  isContiguous,
  readPieces,
  type ByteSource,
  type DType,
  type Finding,
  type Format,
  type InflatedPiece,
  type Piece,
  type RangePiece,
  type StoredMember,
  type TensorArchive,
  type TensorInfo,
  type Transform,
} from '@assay/core';
import { defaultKernels } from '@assay/formats';

/** A storage, as a member of the container. */
export interface StorageSpec {
  readonly bytes: Uint8Array;
  readonly deflated?: boolean;
  /** In place of the right CRC-32. */
  readonly crc32?: number;
}

/** A view over a storage; offset and stride in elements. */
export interface TensorSpec {
  readonly dtype?: DType;
  readonly storage: string;
  readonly shape: readonly number[];
  readonly offset?: number;
  readonly stride?: readonly number[];
  readonly transform?: Transform;
}

export interface ArchiveSpec {
  readonly name?: string;
  readonly format?: Format;
  readonly storages: Readonly<Record<string, StorageSpec>>;
  readonly tensors: readonly (readonly [name: string, tensor: TensorSpec])[];
  readonly leftOut?: readonly Finding[];
  readonly findings?: readonly Finding[];
  /** The pickle's CRC-32, in place of the right one. */
  readonly pickleCrc32?: number;
  /** Wraps the source, to change it or to count what it is asked. */
  readonly source?: (source: ByteSource) => ByteSource;
}

/** An archive over one source in memory. */
export function archiveInMemory(spec: ArchiveSpec): TensorArchive & { readonly bytes: Uint8Array } {
  const { name = 'model.pt', format = 'torch-zip', leftOut = [], findings = [] } = spec;
  const { bytes, members } = layMembers(spec);
  const source = (spec.source ?? ((same) => same))(createMemorySource(bytes, name));
  const memberOf = new Map(members.map((member) => [member.name, member]));
  const tensors = new Map<string, TensorInfo>();
  const pieces = new Map<string, Piece[]>();
  for (const [tensorName, tensor] of spec.tensors) {
    const { dtype = 'F32', storage, shape, offset = 0, stride = contiguousStride(shape) } = tensor;
    const itemSize = dtypeFacts(dtype).bits / 8;
    const byteLength = shape.reduce((product, size) => product * size, itemSize);
    const storageByteLength = spec.storages[storage]?.bytes.length ?? 0;
    const view = { storage, storageByteLength, byteOffset: offset * itemSize, stride };
    tensors.set(tensorName, { name: tensorName, dtype, shape, byteLength, view });
    const whole = wholePiece(memberOf.get(`archive/data/${storage}`) as StoredMember);
    pieces.set(tensorName, byteLength === 0 ? [] : [pieceOf(whole, { ...tensor, shape, offset, stride, itemSize, byteLength })]);
  }
  const locate = (tensorName: string): readonly Piece[] => {
    const found = pieces.get(tensorName);
    if (found === undefined) throw new RangeError(`no tensor ${tensorName}`);
    return found;
  };
  return {
    bytes,
    format,
    facts: new Map(),
    sources: [source],
    tensors,
    metadata: new Map(),
    members,
    leftOut,
    findings,
    locate,
    stream: (tensorName, range = {}) => readPieces(locate(tensorName), { sources: [source], kernels: defaultKernels }, range),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function layMembers(spec: ArchiveSpec): { bytes: Uint8Array; members: StoredMember[] } {
  const pickle = { bytes: new TextEncoder().encode('a pickle'), ...(spec.pickleCrc32 === undefined ? {} : { crc32: spec.pickleCrc32 }) };
  const stored: [string, StorageSpec][] = [
    ['archive/data.pkl', pickle],
    ...Object.entries(spec.storages).map(([key, storage]): [string, StorageSpec] => [`archive/data/${key}`, storage]),
  ];
  const chunks: Uint8Array[] = [];
  const members: StoredMember[] = [];
  let position = 0;
  for (const [name, storage] of stored) {
    const payload = storage.deflated === true ? deflateRawSync(storage.bytes) : storage.bytes;
    const localHeader = new Uint8Array(30).fill(0xee);
    chunks.push(localHeader, payload);
    const start = position + localHeader.length;
    position = start + payload.length;
    members.push({
      name,
      source: 0,
      start,
      end: position,
      crc32: storage.crc32 ?? crc32(storage.bytes),
      ...(storage.deflated === true ? { inflatedLength: storage.bytes.length } : {}),
    });
  }
  return { bytes: new Uint8Array(Buffer.concat(chunks)), members };
}

function wholePiece({ source, start, end, inflatedLength }: StoredMember): RangePiece | InflatedPiece {
  return inflatedLength === undefined
    ? { kind: 'range', source, start, end }
    : { kind: 'inflated', source, start, end, inflatedLength, from: 0, to: inflatedLength };
}

interface ResolvedTensor extends TensorSpec {
  readonly offset: number;
  readonly stride: readonly number[];
  readonly itemSize: number;
  readonly byteLength: number;
}

function pieceOf(whole: RangePiece | InflatedPiece, tensor: ResolvedTensor): Piece {
  const { shape, stride, offset, itemSize, byteLength } = tensor;
  const transform = tensor.transform === undefined ? {} : { transform: tensor.transform };
  if (!isContiguous(shape, stride)) return { kind: 'strided', storage: whole, view: { shape, stride, offset, itemSize }, ...transform };
  const from = offset * itemSize;
  if (whole.kind === 'inflated') return { ...whole, from, to: from + byteLength, ...transform };
  return { ...whole, start: whole.start + from, end: whole.start + from + byteLength, ...transform };
}

/** The bytes that a tensor must have in the output. */
export function expectedBytes(spec: ArchiveSpec, tensor: TensorSpec): Uint8Array {
  const { dtype = 'F32', shape, offset = 0, stride = contiguousStride(shape), transform } = tensor;
  const itemSize = dtypeFacts(dtype).bits / 8;
  const storage = spec.storages[tensor.storage]?.bytes ?? new Uint8Array(0);
  const count = shape.reduce((product, size) => product * size, 1);
  const bytes = new Uint8Array(count * itemSize);
  for (let index = 0; index < count; index += 1) {
    let [rest, element] = [index, offset];
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      const size = shape[axis] ?? 1;
      element += (rest % size) * (stride[axis] ?? 0);
      rest = Math.floor(rest / size);
    }
    const item = storage.slice(element * itemSize, (element + 1) * itemSize);
    if (transform?.swap !== undefined) for (let at = 0; at < item.length; at += transform.swap) item.subarray(at, at + transform.swap).reverse();
    bytes.set(item, index * itemSize);
  }
  return bytes;
}

/** Bytes that repeat late, so that a wrong offset shows. */
export function noise(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

/** Weights that cannot be had, as a reader reports them. */
export const sparseTensor: Finding = finding('TORCH_TENSOR_SPARSE', 'error', { path: 'model.pt', tensor: 'embedding' }, { layout: 'COO' });
