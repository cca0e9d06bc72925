/**
 * Looks at a whole file but its data: length, header, layout. What `open` and `check` have in common.
 */
import {
  AssayError,
  readBytes,
  resolveLimits,
  type ByteSource,
  type Finding,
  type Limits,
  type TensorInfo,
  type TransferOptions,
} from '@assay/core';
import type { HeaderEntry } from './header-entry.ts';
import { readHeader } from './header.ts';
import { proveLayout } from './layout.ts';
import { OddityList, type Rules } from './oddities.ts';
import { HUB_MAX_HEADER_BYTES, REFERENCE_MAX_HEADER_BYTES } from './reference-facts.ts';

/** Options of every reader of safetensors. */
export interface SafetensorsOptions {
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  /** `strict` by default; `reference` accepts whatever safetensors 0.8.0 does. */
  readonly rules?: Rules;
}

/** What is known of a file when its header has been read. */
export interface Examination {
  /** Of the JSON with its padding, without the 8 bytes before it. */
  readonly headerByteLength?: number;
  /** In the order of their data; only those whose bytes are understood. */
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  /** The first byte of each of them in the file, in the same order. */
  readonly starts: readonly number[];
  readonly metadata: ReadonlyMap<string, string>;
  /** False when something could not be looked at. */
  readonly complete: boolean;
  /** In file order. */
  readonly findings: readonly Finding[];
}

const LENGTH_BYTES = 8;
const nothing = { tensors: new Map<string, TensorInfo>(), starts: [], metadata: new Map<string, string>() };

/**
 * Reads 8 bytes, then the header, in two reads; allocates no more than the file holds.
 * @throws {AssayError} `SOURCE_CHANGED`; as `ByteSource.readInto`
 */
export async function examine(source: ByteSource, options: SafetensorsOptions = {}): Promise<Examination> {
  const { signal, rules = 'strict' } = options;
  if (rules !== 'strict' && rules !== 'reference') throw new TypeError(`rules is "strict" or "reference", not ${String(rules)}`);
  const limits = resolveLimits(options.limits);
  signal?.throwIfAborted();
  const oddities = new OddityList(source.name, rules);
  const transfer: TransferOptions = signal === undefined ? {} : { signal };
  const identity = await source.identity();
  const declared = await readLength(source, transfer);
  if (declared === undefined) {
    oddities.add('SAFETENSORS_TOO_SHORT', { start: 0, end: source.size }, { found: source.size, expected: LENGTH_BYTES });
    return { ...nothing, complete: false, findings: oddities.inFileOrder() };
  }
  const headerByteLength = checkLength(declared, source.size, limits, oddities);
  if (headerByteLength === undefined) return { ...nothing, complete: false, findings: oddities.inFileOrder() };
  const dataStart = LENGTH_BYTES + headerByteLength;
  const bytes = await readBytes(source, LENGTH_BYTES, dataStart, transfer);
  if ((await source.identity()) !== identity) throw changed(source);
  const header = readHeader(bytes, LENGTH_BYTES, limits, oddities);
  const bounds = { start: dataStart, end: source.size };
  const sound = header.complete ? proveLayout(header.entries.values(), bounds, oddities) : [];
  return {
    headerByteLength,
    ...placed(sound, dataStart),
    metadata: header.metadata,
    complete: header.complete,
    findings: oddities.inFileOrder(),
  };
}

async function readLength(source: ByteSource, transfer: TransferOptions): Promise<bigint | undefined> {
  if (source.size < LENGTH_BYTES) return undefined;
  const bytes = await readBytes(source, 0, LENGTH_BYTES, transfer);
  return new DataView(bytes.buffer).getBigUint64(0, true);
}

/** The header's length as a number, where it can be read at all. */
function checkLength(declared: bigint, size: number, limits: Limits, oddities: OddityList): number | undefined {
  const where = { start: 0, end: LENGTH_BYTES };
  const { maxHeaderBytes } = limits;
  const limit = oddities.rules === 'reference' ? Math.min(maxHeaderBytes, REFERENCE_MAX_HEADER_BYTES) : maxHeaderBytes;
  const verdict = declared > REFERENCE_MAX_HEADER_BYTES ? ('rejects' as const) : ('accepts' as const);
  if (declared === 0n) {
    oddities.add('SAFETENSORS_HEADER_EMPTY', where, { declared, expected: 2 });
  } else if (declared > limit) {
    const facts = { declared, found: declared, limit, expected: limit };
    oddities.add('SAFETENSORS_HEADER_TOO_LARGE', where, facts, { specification: verdict, reference: verdict, isFatal: true });
  } else if (declared > size - LENGTH_BYTES) {
    oddities.add('SAFETENSORS_HEADER_PAST_END', where, { declared, found: size, expected: Number(declared) + LENGTH_BYTES });
  } else {
    if (declared > HUB_MAX_HEADER_BYTES) {
      const facts = { found: declared, expected: HUB_MAX_HEADER_BYTES };
      oddities.add('SAFETENSORS_HEADER_LARGE', where, facts, { reference: verdict });
    }
    return Number(declared);
  }
  return undefined;
}

function changed(source: ByteSource): AssayError {
  return new AssayError('SOURCE_CHANGED', {
    message: `${source.name}: changed while its header was read`,
    hint: 'Try again when nothing writes to the file.',
    context: { offset: 0 },
  });
}

function placed(entries: readonly HeaderEntry[], dataStart: number): Pick<Examination, 'tensors' | 'starts'> {
  const tensors = new Map<string, TensorInfo>();
  const starts: number[] = [];
  for (const { name, dtype, shape, begin, end } of entries) {
    if (dtype === undefined || shape === undefined || typeof begin !== 'number' || typeof end !== 'number') continue;
    tensors.set(name, { name, dtype, shape, byteLength: end - begin });
    starts.push(dataStart + begin);
  }
  return { tensors, starts };
}
