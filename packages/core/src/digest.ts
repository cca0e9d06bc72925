/**
 * Digests that the field publishes, several over one read.
 * The algorithms themselves are a `HasherProvider`'s.
 */
import type { HashAlgorithm, Hasher, HasherProvider } from './hasher.ts';
import type { ByteSource } from './source.ts';

/** A digest by name. `git-blob-sha1` is SHA-1 over "blob <length>\0" and the bytes: the Hub's for files outside LFS. */
export type DigestAlgorithm = 'sha256' | 'md5' | 'sha1' | 'git-blob-sha1' | 'crc32';

/** What is known of a digest algorithm. */
export interface DigestFacts {
  /** Length of the printed digest in hex digits. */
  readonly hexLength: number;
  /** As BSD-style checksum lines name it; `GIT-BLOB` is ours, there is no other. */
  readonly tag: string;
  readonly hash: HashAlgorithm;
}

const table: Readonly<Record<DigestAlgorithm, DigestFacts>> = {
  sha256: { hexLength: 64, tag: 'SHA256', hash: 'sha256' },
  md5: { hexLength: 32, tag: 'MD5', hash: 'md5' },
  sha1: { hexLength: 40, tag: 'SHA1', hash: 'sha1' },
  'git-blob-sha1': { hexLength: 40, tag: 'GIT-BLOB', hash: 'sha1' },
  crc32: { hexLength: 8, tag: 'CRC32', hash: 'crc32' },
};

/** All digest algorithms. */
export const digestAlgorithms: readonly DigestAlgorithm[] = Object.keys(table) as DigestAlgorithm[];

/** The facts of a digest algorithm. */
export function digestFacts(algorithm: DigestAlgorithm): DigestFacts {
  return table[algorithm];
}

/** True for the lower-case name of an algorithm. */
export function isDigestAlgorithm(text: string): text is DigestAlgorithm {
  return digestAlgorithms.includes(text as DigestAlgorithm);
}

/** Lower-case hex by algorithm. */
export type Digests = ReadonlyMap<DigestAlgorithm, string>;

/** Several running digests over the same bytes. */
export interface MultiHasher {
  update(bytes: Uint8Array): void;
  digests(): Digests;
}

/**
 * Starts several digests over the same bytes.
 * @param byteLength how many bytes will come; `git-blob-sha1` hashes it first
 * @throws {TypeError} when `git-blob-sha1` is asked for without `byteLength`
 */
export async function createMultiHasher(
  hashers: HasherProvider,
  algorithms: readonly DigestAlgorithm[],
  byteLength?: number,
): Promise<MultiHasher> {
  const running: [DigestAlgorithm, Hasher][] = [];
  for (const algorithm of new Set(algorithms)) {
    const hasher = await hashers.create(table[algorithm].hash);
    if (algorithm === 'git-blob-sha1') hasher.update(gitBlobPrefix(byteLength));
    running.push([algorithm, hasher]);
  }
  return {
    update(bytes) {
      for (const [, hasher] of running) hasher.update(bytes);
    },
    digests: () => new Map(running.map(([algorithm, hasher]) => [algorithm, hasher.digest()])),
  };
}

function gitBlobPrefix(byteLength: number | undefined): Uint8Array {
  if (byteLength === undefined) throw new TypeError('git-blob-sha1 needs the byte length before the bytes');
  return new TextEncoder().encode(`blob ${byteLength}\0`);
}

/** Options of `digestSource`. Offsets are bytes of the source. */
export interface DigestSourceOptions {
  readonly hashers: HasherProvider;
  readonly start?: number;
  readonly end?: number;
  readonly signal?: AbortSignal;
  /** Called with the number of bytes read since the last call. */
  readonly onBytes?: (count: number) => void;
  /** Read in pieces of this many bytes. */
  readonly chunkBytes?: number;
}

/**
 * Several digests of a source, or of its bytes [start, end), in one read and constant memory.
 * @throws {AssayError} as `ByteSource.readInto`
 */
export async function digestSource(
  source: ByteSource,
  algorithms: readonly DigestAlgorithm[],
  options: DigestSourceOptions,
): Promise<Digests> {
  const { hashers, start = 0, end = source.size, signal, onBytes, chunkBytes = 1 << 20 } = options;
  const hasher = await createMultiHasher(hashers, algorithms, end - start);
  const buffer = new Uint8Array(Math.min(chunkBytes, Math.max(1, end - start)));
  for (let position = start; position < end; position += buffer.length) {
    signal?.throwIfAborted();
    const chunk = buffer.subarray(0, Math.min(buffer.length, end - position));
    await source.readInto(chunk, position, signal === undefined ? {} : { signal });
    hasher.update(chunk);
    onBytes?.(chunk.length);
  }
  return hasher.digests();
}
