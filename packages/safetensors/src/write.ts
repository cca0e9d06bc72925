/**
 * The writer: a pure plan of a file, byte-identical to what safetensors 0.8.0 writes for the same tensors,
 * and its execution over a sink. Knows nothing of where the data comes from.
 */
import {
  AssayError,
  dtypeRank,
  isDType,
  tensorSize,
  type ByteSink,
  type DType,
  type Shape,
  type TransferOptions,
} from '@assay/core';
import { codePointComparer, isWellFormedText } from './name-order.ts';
import { METADATA_KEY, REFERENCE_MAX_HEADER_BYTES } from './reference-facts.ts';
import { quoted } from './quoted.ts';

/** A tensor to be written. */
export interface TensorToWrite {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
}

/** A tensor in its place: bytes [start, end) of the file. */
export interface PlacedTensor extends TensorToWrite {
  readonly start: number;
  readonly end: number;
}

/** A whole file but its data. */
export interface SafetensorsLayout {
  /** The first bytes of the file: the 8-byte length, the JSON, the padding. */
  readonly header: Uint8Array;
  /** Of the whole file. */
  readonly byteLength: number;
  /** In the order of their data. */
  readonly tensors: readonly PlacedTensor[];
}

/** Options of `layoutSafetensors`. */
export interface LayoutOptions {
  /** Absent: no `__metadata__` at all; an empty map is written as `{}`. Keys are written in code point order. */
  readonly metadata?: ReadonlyMap<string, string>;
}

/**
 * Where everything goes in a new file. Pure; equal to `safetensors` 0.8.0 byte for byte (`prepare` in `tensor.rs`),
 * which orders several metadata entries at random: here they are sorted.
 * @throws {AssayError} `SAFETENSORS_NAME_INVALID`, `SAFETENSORS_NAME_RESERVED`, `SAFETENSORS_DUPLICATE_TENSOR`,
 *   `SAFETENSORS_SHAPE_OVERFLOW`, `SAFETENSORS_SIZE_FRACTION`, `SAFETENSORS_HEADER_TOO_LARGE`
 * @throws {TypeError} for a dtype that the format does not have, or a dimension that is no whole number
 * @example
 * const layout = layoutSafetensors([{ name: 'w', dtype: 'F32', shape: [2, 3] }], { metadata: new Map([['format', 'pt']]) });
 */
export function layoutSafetensors(tensors: Iterable<TensorToWrite>, options: LayoutOptions = {}): SafetensorsLayout {
  const sorted = inDataOrder([...tensors]);
  const sizes = sorted.map(sizeOf);
  const entries: string[] = [];
  if (options.metadata !== undefined) entries.push(`${JSON.stringify(METADATA_KEY)}:${metadataJson(options.metadata)}`);
  let offset = 0;
  for (const [index, { name, dtype, shape }] of sorted.entries()) {
    const end = offset + (sizes[index] ?? 0);
    if (end > Number.MAX_SAFE_INTEGER) throw tooManyBytes(name, shape, dtype);
    entries.push(`${JSON.stringify(name)}:{"dtype":"${dtype}","shape":[${shape.join(',')}],"data_offsets":[${offset},${end}]}`);
    offset = end;
  }
  const header = framed(`{${entries.join(',')}}`, sorted.length);
  let position = header.length;
  const placed = sorted.map(({ name, dtype, shape }, index) => {
    const start = position;
    position += sizes[index] ?? 0;
    return { name, dtype, shape, start, end: position };
  });
  return { header, byteLength: position, tensors: placed };
}

/** dtype descending, then name ascending (`prepare` in `tensor.rs`). */
function inDataOrder(tensors: readonly TensorToWrite[]): TensorToWrite[] {
  const names = new Set<string>();
  for (const { name, dtype, shape } of tensors) {
    checkName(name);
    if (names.has(name)) throw refuse('SAFETENSORS_DUPLICATE_TENSOR', `two tensors are named ${quoted(name)}`, 'Rename one.', name);
    names.add(name);
    if (!isDType(dtype)) throw new TypeError(`${quoted(String(dtype))} is not a dtype of safetensors`);
    for (const dimension of shape) {
      if (typeof dimension === 'bigint' ? dimension < 0n : !(Number.isSafeInteger(dimension) && dimension >= 0)) {
        throw new TypeError(`the shape of ${quoted(name)} has the dimension ${dimension}`);
      }
    }
  }
  const compare = codePointComparer(names);
  return tensors.toSorted((a, b) => dtypeRank(b.dtype) - dtypeRank(a.dtype) || compare(a.name, b.name));
}

function checkName(name: string): void {
  if (name === METADATA_KEY) {
    throw refuse('SAFETENSORS_NAME_RESERVED', `a tensor is named ${METADATA_KEY}`, 'The format reserves this name. Rename the tensor.', name);
  }
  if (!isWellFormedText(name)) {
    throw refuse('SAFETENSORS_NAME_INVALID', `the name ${quoted(name)} holds half a surrogate pair`, 'Rename the tensor.', name);
  }
}

function sizeOf({ name, dtype, shape }: TensorToWrite): number {
  const size = tensorSize(dtype, shape);
  if (size.ok) return size.byteLength;
  if (size.problem !== 'not-whole-bytes') throw tooManyBytes(name, shape, dtype);
  throw refuse(
    'SAFETENSORS_SIZE_FRACTION',
    `${quoted(name)} takes ${size.bits} bits, which is no whole number of bytes`,
    `Pad the last dimension of its ${dtype} elements.`,
    name,
  );
}

function tooManyBytes(name: string, shape: Shape, dtype: DType): AssayError {
  return refuse('SAFETENSORS_SHAPE_OVERFLOW', `${quoted(name)}, ${dtype} [${shape.join(', ')}], is larger than any file`, 'Check its shape.', name);
}

function refuse(
  code: 'SAFETENSORS_NAME_RESERVED' | 'SAFETENSORS_NAME_INVALID' | 'SAFETENSORS_DUPLICATE_TENSOR' | 'SAFETENSORS_SIZE_FRACTION' | 'SAFETENSORS_SHAPE_OVERFLOW',
  message: string,
  hint: string,
  tensor: string,
): AssayError {
  return new AssayError(code, { message, hint, context: { tensor } });
}

function metadataJson(metadata: ReadonlyMap<string, string>): string {
  const keys = [...metadata.keys()];
  const pairs = keys.sort(codePointComparer(keys)).map((key) => {
    const value = metadata.get(key) ?? '';
    if (!isWellFormedText(key) || !isWellFormedText(value)) {
      throw new AssayError('SAFETENSORS_NAME_INVALID', {
        message: `the metadata entry ${quoted(key)} holds half a surrogate pair`,
        hint: 'Remove the entry or correct its text.',
        context: { key },
      });
    }
    return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
  });
  return `{${pairs.join(',')}}`;
}

/** Length, JSON, and spaces up to a multiple of 8. JSON.stringify escapes well-formed text as serde_json does. */
function framed(json: string, tensors: number): Uint8Array {
  const text = new TextEncoder().encode(json);
  const length = Math.ceil(text.length / 8) * 8;
  if (length > REFERENCE_MAX_HEADER_BYTES) {
    throw new AssayError('SAFETENSORS_HEADER_TOO_LARGE', {
      message: `the header of ${tensors} tensors would have ${length} bytes, readers stop at ${REFERENCE_MAX_HEADER_BYTES}`,
      hint: 'Write several shards, or shorten the names.',
      context: { declared: length, limit: REFERENCE_MAX_HEADER_BYTES, tensors },
    });
  }
  const header = new Uint8Array(8 + length).fill(0x20);
  new DataView(header.buffer).setBigUint64(0, BigInt(length), true);
  header.set(text, 8);
  return header;
}

/** Options of `writeSafetensors`. */
export interface WriteOptions {
  readonly signal?: AbortSignal;
  /** Called with the number of bytes written since the last call. */
  readonly onBytes?: (count: number) => void;
}

/**
 * Writes header and data to the sink, which stays uncommitted. `dataOf` gives a tensor's bytes, C order, little-endian.
 * @throws {AssayError} `SAFETENSORS_DATA_LENGTH` when a tensor's bytes are more or fewer than its range; as `ByteSink.writeAt`
 * @example
 * await writeSafetensors(sink, layout, (name) => archive.stream(name));
 * await sink.commit();
 */
export async function writeSafetensors(
  sink: ByteSink,
  layout: SafetensorsLayout,
  dataOf: (name: string) => AsyncIterable<Uint8Array>,
  options: WriteOptions = {},
): Promise<void> {
  const { signal, onBytes } = options;
  const transfer: TransferOptions = signal === undefined ? {} : { signal };
  signal?.throwIfAborted();
  await sink.writeAt(layout.header, 0, transfer);
  onBytes?.(layout.header.length);
  for (const tensor of layout.tensors) {
    let position = tensor.start;
    for await (const chunk of dataOf(tensor.name)) {
      signal?.throwIfAborted();
      if (position + chunk.length > tensor.end) throw wrongLength(tensor, position + chunk.length - tensor.start);
      await sink.writeAt(chunk, position, transfer);
      position += chunk.length;
      onBytes?.(chunk.length);
    }
    if (position < tensor.end) throw wrongLength(tensor, position - tensor.start);
  }
}

function wrongLength({ name, start, end }: PlacedTensor, found: number): AssayError {
  return new AssayError('SAFETENSORS_DATA_LENGTH', {
    message: `${quoted(name)}: at least ${found} bytes were given, its range has ${end - start}`,
    hint: 'The source of this tensor has another dtype or shape than the layout.',
    context: { tensor: name, offset: start, found, expected: end - start },
  });
}
