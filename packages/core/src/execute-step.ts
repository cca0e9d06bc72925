/**
 * Does one copy step: reads, checks, transforms, writes.
 * The same code on one thread and in every worker.
 */
import { crc32FromHex } from './crc32.ts';
import type { CopyPart, CopyStep, InflatePart, StepPart, StepResult } from './copy-step.ts';
import type { Hasher, HasherProvider } from './hasher.ts';
import { pieceByteLength } from './pieces.ts';
import { inflateMember, readPiece, sourceAt, type ReadContext } from './read-pieces.ts';
import { applyTransform, transformUnit } from './transform.ts';

/** What a step needs around it. */
export interface StepContext extends ReadContext {
  readonly hashers: HasherProvider;
  /** Where the next chunk, or the next small parts together, are read to: at least `chunkBytes` long. */
  readonly buffer: () => Uint8Array;
  /** Bytes to read and write at a time: small enough to stay in the cache. At least 64 KiB. */
  readonly chunkBytes: number;
  /** Writes output bytes; the array is reused after it resolves. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Moves source bytes to the output unseen, where the platform can; says how many from `start` it moved. */
  readonly move?: (source: number, start: number, end: number, position: number) => Promise<number>;
}

/**
 * Executes a step.
 * @throws {AssayError} as `ByteSource.readInto`, `ByteSink.writeAt`; `ZIP_ENTRY_INFLATE_FAILED`
 */
export async function executeStep(step: CopyStep, context: StepContext): Promise<StepResult> {
  const crc32s: (number | undefined)[] = [];
  for (const parts of groupsOf(step.parts, context.chunkBytes)) {
    context.signal?.throwIfAborted();
    // One by one: a step of tiny tensors has more parts than a call may have arguments.
    if (parts.length > 1) for (const crc of await writeJoined(parts as Joinable[], context)) crc32s.push(crc);
    else for (const part of parts) crc32s.push(await executePart(part, context));
  }
  return { crc32s };
}

async function executePart(part: StepPart, context: StepContext): Promise<number | undefined> {
  switch (part.kind) {
    case 'copy':
      return copyPart(part, context);
    case 'inflate':
      return inflatePart(part, context);
    case 'check': {
      const { source, start, end } = part;
      const crc = await context.hashers.create('crc32');
      const chunks = readPiece({ kind: 'range', source, start, end }, chunked(context), 0, end - start);
      for await (const chunk of chunks) crc.update(chunk);
      return crc32FromHex(crc.digest());
    }
  }
}

async function copyPart(part: CopyPart, context: StepContext): Promise<number | undefined> {
  const { piece, at, check } = await afterMove(part, context);
  const crc = check === true ? await context.hashers.create('crc32') : undefined;
  // Checked bytes are the source's, so the transform comes after.
  const raw = piece.kind === 'range' && crc !== undefined ? withoutTransform(piece) : piece;
  const late = raw === piece || piece.kind === 'inline' ? undefined : piece.transform;
  let position = at;
  for await (const chunk of readPiece(raw, chunked(context, transformUnit(late)), 0, pieceByteLength(piece))) {
    crc?.update(chunk);
    if (late !== undefined) applyTransform(chunk, late);
    await context.write(chunk, position);
    position += chunk.length;
  }
  return crc === undefined ? undefined : crc32FromHex(crc.digest());
}

/** What is left of a part when its bytes that nothing has to see have been moved. */
async function afterMove(part: CopyPart, context: StepContext): Promise<CopyPart> {
  const { piece, at, check } = part;
  if (context.move === undefined || piece.kind !== 'range' || piece.transform !== undefined || check === true) return part;
  const moved = await context.move(piece.source, piece.start, piece.end, at);
  return { ...part, piece: { ...piece, start: piece.start + moved }, at: at + moved };
}

function withoutTransform<T extends { transform?: unknown }>(piece: T): Omit<T, 'transform'> {
  const { transform: _, ...rest } = piece;
  return rest;
}

async function inflatePart(part: InflatePart, context: StepContext): Promise<number> {
  const crc = await context.hashers.create('crc32');
  // Last to begin first: each chunk meets only the targets that it reaches, however many there are.
  const waiting = part.targets.toSorted((a, b) => b.from - a.from);
  let open: InflateTarget[] = [];
  let position = 0;
  for await (const chunk of inflateMember(part, context)) {
    context.signal?.throwIfAborted();
    crc.update(chunk);
    const end = position + chunk.length;
    while ((waiting.at(-1)?.from ?? end) < end) open.push(new InflateTarget(waiting.pop() as InflatePart['targets'][number]));
    for (const target of open) await target.take(chunk, position, context);
    open = open.filter(({ to }) => to > end);
    position = end;
  }
  return crc32FromHex(crc.digest());
}

/** Picks its bytes out of an inflating member and writes them in whole transform units. */
class InflateTarget {
  #target: InflatePart['targets'][number];
  #unit: number;
  #rest: Uint8Array = new Uint8Array(0);
  #at: number;

  constructor(target: InflatePart['targets'][number]) {
    this.#target = target;
    this.#unit = transformUnit(target.transform);
    this.#at = target.at;
  }

  get to(): number {
    return this.#target.to;
  }

  async take(chunk: Uint8Array, position: number, context: StepContext): Promise<void> {
    const { from, to, transform } = this.#target;
    const part = chunk.subarray(Math.max(0, from - position), Math.max(0, to - position));
    if (part.length === 0) return;
    // Copied: targets may overlap, and each changes its own bytes.
    const bytes = new Uint8Array(this.#rest.length + part.length);
    bytes.set(this.#rest);
    bytes.set(part, this.#rest.length);
    const whole = bytes.length - (bytes.length % this.#unit);
    this.#rest = bytes.slice(whole);
    const ready = bytes.subarray(0, whole);
    if (transform !== undefined) applyTransform(ready, transform);
    if (whole > 0) await context.write(ready, this.#at);
    this.#at += whole;
  }
}

type Joinable = CopyPart & { readonly piece: Exclude<CopyPart['piece'], { kind: 'strided' }> };

/** Runs of neighbouring small parts that fit in one buffer, to be written at once; every other part alone. */
function* groupsOf(parts: readonly StepPart[], room: number): Iterable<StepPart[]> {
  let group: StepPart[] = [];
  let total = 0;
  let next: number | undefined;
  for (const part of parts) {
    const length = joinableLength(part);
    const at = part.kind === 'copy' ? part.at : undefined;
    if (group.length > 0 && (length === undefined || at !== next || total + length > room)) {
      yield group;
      [group, total] = [[], 0];
    }
    group.push(part);
    total += length ?? Number.POSITIVE_INFINITY;
    next = at === undefined ? undefined : at + (length ?? 0);
  }
  if (group.length > 0) yield group;
}

function joinableLength(part: StepPart): number | undefined {
  return part.kind === 'copy' && part.piece.kind !== 'strided' ? pieceByteLength(part.piece) : undefined;
}

async function writeJoined(parts: readonly Joinable[], context: StepContext): Promise<(number | undefined)[]> {
  const crc32s: (number | undefined)[] = [];
  const buffer = context.buffer();
  let filled = 0;
  for (const { piece, check } of parts) {
    const bytes = buffer.subarray(filled, filled + pieceByteLength(piece));
    filled += bytes.length;
    if (piece.kind === 'inline') bytes.set(piece.bytes);
    else if (bytes.length > 0) await sourceAt(context.sources, piece.source).readInto(bytes, piece.start);
    crc32s.push(check === true ? await crc32Of(bytes, context.hashers) : undefined);
    if (piece.kind === 'range' && piece.transform !== undefined) applyTransform(bytes, piece.transform);
  }
  await context.write(buffer.subarray(0, filled), parts[0]?.at ?? 0);
  return crc32s;
}

async function crc32Of(bytes: Uint8Array, hashers: HasherProvider): Promise<number> {
  const crc: Hasher = await hashers.create('crc32');
  crc.update(bytes);
  return crc32FromHex(crc.digest());
}

/** The context with buffers of one chunk, in whole units. */
function chunked(context: StepContext, unit = 1): ReadContext {
  const size = context.chunkBytes - (context.chunkBytes % unit);
  return { ...context, buffer: () => context.buffer().subarray(0, size) };
}
