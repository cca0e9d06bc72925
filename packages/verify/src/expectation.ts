/**
 * What a file should be, wherever that was published.
 */
import { isDigestAlgorithm, type DigestAlgorithm } from '@assay/core';
import { parseDigest } from './digest-text.ts';

/** What a file should be: any number of digests, and its size where that is known. */
export interface Expectation {
  /** Hex by algorithm; the case of the letters does not matter. */
  readonly digests: ReadonlyMap<DigestAlgorithm, string>;
  readonly byteLength?: number;
  /** Where this was learned, for a person to read: "command line", "SHA256SUMS line 3". */
  readonly origin: string;
}

/** Digests as a caller writes them. */
export type GivenDigests = Readonly<Partial<Record<DigestAlgorithm, string>>>;

/**
 * An expectation from given digests, each checked for its form.
 * @throws {AssayError} `DIGEST_MALFORMED`, `DIGEST_OTHER_ALGORITHM`
 * @throws {TypeError} for an unknown algorithm or a size that is no whole number of bytes
 */
export function createExpectation(
  digests: GivenDigests,
  options: { readonly byteLength?: number; readonly origin?: string } = {},
): Expectation {
  const { byteLength, origin = 'given' } = options;
  if (byteLength !== undefined) checkByteLength(byteLength);
  return {
    digests: parseGivenDigests(digests),
    origin,
    ...(byteLength === undefined ? {} : { byteLength }),
  };
}

/**
 * Given digests by algorithm, in lower case.
 * @throws as `createExpectation`
 */
export function parseGivenDigests(given: GivenDigests): Map<DigestAlgorithm, string> {
  const digests = new Map<DigestAlgorithm, string>();
  for (const [algorithm, text] of Object.entries(given)) {
    if (!isDigestAlgorithm(algorithm)) throw new TypeError(`${algorithm} is not a digest algorithm`);
    if (text !== undefined) digests.set(algorithm, parseDigest(algorithm, text));
  }
  return digests;
}

/** @throws {TypeError} for anything but a whole number of bytes that is exact */
export function checkByteLength(byteLength: number): void {
  if (!Number.isSafeInteger(byteLength) || byteLength < 0) throw new TypeError(`${byteLength} is not a number of bytes`);
}
