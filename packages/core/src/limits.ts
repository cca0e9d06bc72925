/**
 * The limits of every reader, each with its reason.
 * Passing one is `LIMIT_EXCEEDED` with the limit's name, never a crash.
 */
import { AssayError } from './errors.ts';

const table = {
  /** The reference reader's cap on a safetensors header (`tensor.rs`, MAX_HEADER_SIZE). */
  maxHeaderBytes: 100_000_000,
  /** serde_json's depth cap; a real header nests 3 deep. */
  maxJsonDepth: 128,
  /** A rank above this is accepted with a warning; PyTorch itself stops at 64. */
  maxUnremarkedRank: 64,
  /** Metadata above this is no longer a note beside the weights. */
  maxMetadataBytes: 10_000_000,
  /** Shards named by one index; huggingface.js has the same cap. */
  maxShards: 10_000,
  /** A shard index: 250 MB is huggingface.js' cap. */
  maxIndexBytes: 250_000_000,
  /** Zip entries: the largest real checkpoints have some 200,000 storages. */
  maxZipEntries: 1_000_000,
  /** A central directory: a million entries of 256 bytes. */
  maxZipDirectoryBytes: 256_000_000,
  /** Bytes inflated for each compressed byte; deflate itself ends at 1032, real weights stay below 4. */
  maxInflateRatio: 1000,
  /** A pickle stream without its storages: 1.29 million tensors make 126 MB of header, a pickle is of that order. */
  maxPickleBytes: 512_000_000,
  /** Opcodes of one pickle: a million-tensor model has some 40 million. */
  maxPickleOpcodes: 100_000_000,
  /** Memo slots of one pickle. */
  maxPickleMemo: 50_000_000,
  /** Digits or bytes of one integer in a pickle: no shape or offset needs more. */
  maxPickleIntegerBytes: 4096,
  /** Values visited while a pickled object is walked for tensors; aliases make a small file a large tree. */
  maxWalkedValues: 20_000_000,
  /** Nesting of containers inside a checkpoint. */
  maxNesting: 1_000,
  /** Logical bytes written for each byte of the source: expanded strides and overlapping views amplify. */
  maxExpansionRatio: 64,
  /** Logical bytes that may always be written, however small the source. */
  freeExpansionBytes: 67_108_864,
  /** Bytes of a small text or JSON file that is read whole (checksum files, configurations). */
  maxTextBytes: 67_108_864,
} as const;

/** The name of a limit. */
export type LimitName = keyof typeof table;

/** All limits, each a count or a number of bytes. */
export type Limits = Readonly<Record<LimitName, number>>;

/** The limits that hold where the caller gives none. */
export const defaultLimits: Limits = table;

/**
 * The caller's limits over the defaults.
 * @throws {TypeError} for a limit that is not a positive number
 */
export function resolveLimits(given: Partial<Limits> = {}): Limits {
  for (const [name, value] of Object.entries(given)) {
    if (!(name in table)) throw new TypeError(`limits.${name} is not a limit`);
    if (typeof value !== 'number' || !(value >= 0)) throw new TypeError(`limits.${name} must be a number of at least 0`);
  }
  return { ...table, ...given };
}

/** The error for a passed limit; `where` names the file and place. */
export function limitExceeded(
  limit: LimitName,
  facts: { readonly where: string; readonly found: number | bigint; readonly allowed: number; readonly offset?: number },
): AssayError {
  const { where, found, allowed, offset } = facts;
  return new AssayError('LIMIT_EXCEEDED', {
    message: `${where}: asks for ${found}${unitOf(limit)}, ${allowed} are allowed (the limit ${limit})`,
    hint: `Weights do not need this much. For a file you trust, raise limits.${limit}.`,
    context: { limit, found, allowed, ...(offset === undefined ? {} : { offset }) },
  });
}

/** What is counted: a ratio bounds bytes too. */
function unitOf(limit: LimitName): string {
  return /Bytes$|Ratio$/.test(limit) ? ' bytes' : '';
}
