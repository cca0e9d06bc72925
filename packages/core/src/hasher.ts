/**
 * The port of hashing: one algorithm over bytes in order.
 */

/** Algorithms that a platform provides. */
export type HashAlgorithm = 'sha256' | 'md5' | 'sha1' | 'crc32';

/** A running hash. Not used again after `digest`. */
export interface Hasher {
  update(bytes: Uint8Array): void;
  /** Lower-case hexadecimal; CRC-32 as 8 digits, most significant first. */
  digest(): string;
}

/** Makes hashers: `node:crypto` on Node, WASM elsewhere. */
export interface HasherProvider {
  create(algorithm: HashAlgorithm): Promise<Hasher>;
}
