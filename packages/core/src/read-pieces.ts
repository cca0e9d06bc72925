/**
 * Reads pieces: ranges, inflated members, strided views and inline bytes become chunks in order.
 * Strides and deflate are the kernels'.
 */
import { AssayError } from './errors.ts';
import type { Kernels, StorageReader } from './kernels.ts';
import { pieceByteLength, type InflatedPiece, type Piece, type RangePiece, type StridedPiece } from './pieces.ts';
import type { ByteSource, TransferOptions } from './source.ts';
import { applyTransform, transformUnit } from './transform.ts';

/** What reading pieces needs. */
export interface ReadContext {
  readonly sources: readonly ByteSource[];
  readonly kernels: Kernels;
  /** Where chunks of a range are read to; its size is the chunk size. A function is asked before each chunk. */
  readonly buffer?: Uint8Array | (() => Uint8Array);
  readonly signal?: AbortSignal;
}

const CHUNK_BYTES = 1 << 20;

/**
 * The bytes [start, end) of pieces laid one after another; a chunk is valid, and may be changed, until the next.
 * @throws {AssayError} `ZIP_ENTRY_INFLATE_FAILED` where a member is not the deflate stream that it should be; as `readInto`
 */
export async function* readPieces(
  pieces: readonly Piece[],
  context: ReadContext,
  range: { readonly start?: number; readonly end?: number } = {},
): AsyncIterable<Uint8Array> {
  const { start = 0, end = Number.POSITIVE_INFINITY } = range;
  let position = 0;
  for (const piece of pieces) {
    const length = pieceByteLength(piece);
    const from = Math.max(0, start - position);
    const to = Math.min(length, end - position);
    position += length;
    if (from < to) yield* readPiece(piece, context, from, to);
  }
}

/** The bytes [from, to) of one piece. */
export async function* readPiece(piece: Piece, context: ReadContext, from: number, to: number): AsyncIterable<Uint8Array> {
  if (piece.kind === 'inline') {
    yield piece.bytes.slice(from, to);
    return;
  }
  const { transform } = piece;
  const unit = transformUnit(transform);
  // A range that cuts an element is widened to whole units, then trimmed.
  const [low, high] = [from - (from % unit), Math.min(to + ((unit - (to % unit)) % unit), pieceByteLength(piece))];
  let position = low;
  for await (const chunk of readUntransformed(piece, context, low, high)) {
    if (transform !== undefined) applyTransform(chunk, transform);
    const trimmed = chunk.subarray(Math.max(0, from - position), Math.max(0, to - position));
    position += chunk.length;
    if (trimmed.length > 0) yield trimmed;
  }
}

function readUntransformed(
  piece: RangePiece | InflatedPiece | StridedPiece,
  context: ReadContext,
  from: number,
  to: number,
): AsyncIterable<Uint8Array> {
  switch (piece.kind) {
    case 'range':
      return readRange(piece, context, from, to);
    case 'inflated':
      return inWholeUnits(cut(inflateMember(piece, context), piece.from + from, piece.from + to), transformUnit(piece.transform));
    case 'strided':
      return readStrided(piece, context, from, to);
  }
}

async function* readRange(piece: RangePiece, context: ReadContext, from: number, to: number): AsyncIterable<Uint8Array> {
  const source = sourceAt(context.sources, piece.source);
  const buffer = context.buffer ?? new Uint8Array(Math.min(CHUNK_BYTES, to - from));
  const unit = transformUnit(piece.transform);
  for (let position = from; position < to; ) {
    context.signal?.throwIfAborted();
    const room = typeof buffer === 'function' ? buffer() : buffer;
    const chunk = room.subarray(0, Math.min(room.length - (room.length % unit), to - position));
    await source.readInto(chunk, piece.start + position, transfer(context));
    yield chunk;
    position += chunk.length;
  }
}

async function* readStrided(piece: StridedPiece, context: ReadContext, from: number, to: number): AsyncIterable<Uint8Array> {
  const { view, storage } = piece;
  const start = from - (from % view.itemSize);
  const end = Math.min(to + ((view.itemSize - (to % view.itemSize)) % view.itemSize), pieceByteLength(piece));
  const options = { start, end, ...transfer(context) };
  const chunks = context.kernels.gather(view, storageReader(storage, context), options);
  yield* cut(chunks, from - start, to - start);
}

/** The whole of what a deflated member inflates to, checked against the length it must have. */
export async function* inflateMember(
  piece: Pick<InflatedPiece, 'source' | 'start' | 'end' | 'inflatedLength'>,
  context: ReadContext,
): AsyncIterable<Uint8Array> {
  const { source, start, end, inflatedLength } = piece;
  const compressed = readRange({ kind: 'range', source, start, end }, { ...context, buffer: new Uint8Array(64 * 1024) }, 0, end - start);
  let length = 0;
  const fail = (found: string, cause?: unknown): AssayError =>
    new AssayError('ZIP_ENTRY_INFLATE_FAILED', {
      message: `${sourceAt(context.sources, source).name}: the deflated member at ${start} ${found}, its size is given as ${inflatedLength}`,
      hint: 'The file is damaged. Download it again.',
      context: { offset: start, found: length, expected: inflatedLength },
      cause,
    });
  const chunks = context.kernels.inflate(compressed)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await chunks.next().catch((cause: unknown) => {
        context.signal?.throwIfAborted();
        throw isWorldError(cause) ? cause : fail('is not a deflate stream', cause);
      });
      if (next.done === true) break;
      length += next.value.length;
      if (length > inflatedLength) throw fail('inflates to more');
      yield next.value;
    }
  } finally {
    await chunks.return?.();
  }
  if (length !== inflatedLength) throw fail(`inflates to ${length} bytes`);
}

function isWorldError(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'AssayError';
}

/** The storage behind a strided view, for a gather. */
export function storageReader(storage: RangePiece | InflatedPiece, context: ReadContext): StorageReader {
  return storage.kind === 'range' ? rangeReader(storage, context) : new InflatedReader(storage, context);
}

function rangeReader(storage: RangePiece, context: ReadContext): StorageReader {
  const source = sourceAt(context.sources, storage.source);
  const withView = source.withView?.bind(source);
  return {
    byteLength: storage.end - storage.start,
    readInto: (target, start) => source.readInto(target, storage.start + start, transfer(context)),
    ...(withView === undefined
      ? {}
      : { withView: (start, end, use) => withView(storage.start + start, storage.start + end, use) }),
  };
}

/** Random access to an inflated member: forwards as it comes, backwards by starting again. */
class InflatedReader implements StorageReader {
  readonly byteLength: number;
  #piece: InflatedPiece;
  #context: ReadContext;
  #chunks: AsyncIterator<Uint8Array> | undefined;
  #chunk = new Uint8Array(0);
  /** Of the first byte of `#chunk`, in the inflated member. */
  #position = 0;

  constructor(piece: InflatedPiece, context: ReadContext) {
    this.#piece = piece;
    this.#context = context;
    this.byteLength = piece.to - piece.from;
  }

  async readInto(target: Uint8Array, start: number): Promise<void> {
    let wanted = this.#piece.from + start;
    if (this.#chunks === undefined || wanted < this.#position) await this.#restart();
    let filled = 0;
    while (filled < target.length) {
      const inChunk = wanted - this.#position;
      if (inChunk < this.#chunk.length) {
        const part = this.#chunk.subarray(inChunk, inChunk + target.length - filled);
        target.set(part, filled);
        filled += part.length;
        wanted += part.length;
      } else {
        await this.#next();
      }
    }
  }

  async #restart(): Promise<void> {
    await this.#chunks?.return?.();
    this.#chunks = inflateMember(this.#piece, this.#context)[Symbol.asyncIterator]();
    this.#position = 0;
    this.#chunk = new Uint8Array(0);
  }

  async #next(): Promise<void> {
    const next = await this.#chunks?.next();
    this.#position += this.#chunk.length;
    if (next === undefined || next.done === true) throw new RangeError('a read past the end of an inflated member');
    this.#chunk = next.value as Uint8Array<ArrayBuffer>;
  }
}

/** The bytes [from, to) of a run of chunks. */
async function* cut(chunks: AsyncIterable<Uint8Array>, from: number, to: number): AsyncIterable<Uint8Array> {
  let position = 0;
  for await (const chunk of chunks) {
    const part = chunk.subarray(Math.max(0, from - position), Math.max(0, to - position));
    position += chunk.length;
    if (part.length > 0) yield part;
    if (position >= to) return;
  }
}

/** The same bytes in chunks of whole units: an inflater may cut anywhere. */
async function* inWholeUnits(chunks: AsyncIterable<Uint8Array>, unit: number): AsyncIterable<Uint8Array> {
  let rest = new Uint8Array(0);
  for await (const chunk of chunks) {
    const joined = new Uint8Array(rest.length + chunk.length);
    joined.set(rest);
    joined.set(chunk, rest.length);
    const whole = joined.length - (joined.length % unit);
    rest = joined.slice(whole);
    if (whole > 0) yield joined.subarray(0, whole);
  }
  if (rest.length > 0) yield rest;
}

/** The source of a piece. */
export function sourceAt(sources: readonly ByteSource[], index: number): ByteSource {
  const source = sources[index];
  if (source === undefined) throw new RangeError(`a piece names source ${index} of ${sources.length}`);
  return source;
}

function transfer(context: ReadContext): TransferOptions {
  return context.signal === undefined ? {} : { signal: context.signal };
}
