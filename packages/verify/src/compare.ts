/**
 * Comparison of what was found with what was expected, as findings.
 */
import { finding, type DigestAlgorithm, type Digests, type Finding } from '@assay/core';

/** Whose bytes are compared, and where the expectation comes from. */
export interface Compared {
  readonly path: string;
  readonly origin: string;
}

/** A digest that is not the expected one; both in lower-case hex. */
export interface DigestDifference {
  readonly algorithm: DigestAlgorithm;
  readonly expected: string;
  readonly found: string;
}

/** Each expected digest that was not found; the case of hex digits does not matter. */
export function differingDigests(expected: ReadonlyMap<DigestAlgorithm, string>, found: Digests): DigestDifference[] {
  const pairs = [...expected].map(([algorithm, digest]): DigestDifference => {
    const computed = found.get(algorithm);
    if (computed === undefined) throw new TypeError(`${algorithm} was not computed`);
    return { algorithm, expected: digest.toLowerCase(), found: computed.toLowerCase() };
  });
  return pairs.filter((pair) => pair.expected !== pair.found);
}

/** One `DIGEST_MISMATCH` for each difference. */
export function digestFindings(differences: readonly DigestDifference[], compared: Compared): Finding[] {
  const { path, origin } = compared;
  return differences.map((difference) => finding('DIGEST_MISMATCH', 'error', { path }, { ...difference, origin }));
}

/** `SIZE_MISMATCH` where the sizes, in bytes, differ. */
export function compareSizes(expected: number, found: number, compared: Compared): Finding[] {
  if (expected === found) return [];
  const args = { expected, found, [found < expected ? 'missing' : 'extra']: Math.abs(found - expected), origin: compared.origin };
  return [finding('SIZE_MISMATCH', 'error', { path: compared.path }, args)];
}
