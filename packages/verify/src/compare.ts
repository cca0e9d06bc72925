/**
 * Comparison of what was found with what was expected, as findings.
 */
import { finding, type DigestAlgorithm, type Digests, type Finding } from '@assay/core';

/** Whose bytes are compared, and where the expectation comes from. */
export interface Compared {
  readonly path: string;
  readonly origin: string;
}

/** One `DIGEST_MISMATCH` for each expected digest that was not found; the case of hex digits does not matter. */
export function compareDigests(expected: ReadonlyMap<DigestAlgorithm, string>, found: Digests, compared: Compared): Finding[] {
  const findings: Finding[] = [];
  for (const [algorithm, digest] of expected) {
    const computed = found.get(algorithm);
    if (computed === undefined) throw new TypeError(`${algorithm} was not computed`);
    if (computed.toLowerCase() === digest.toLowerCase()) continue;
    const args = { algorithm, expected: digest.toLowerCase(), found: computed, origin: compared.origin };
    findings.push(finding('DIGEST_MISMATCH', 'error', { path: compared.path }, args));
  }
  return findings;
}

/** `SIZE_MISMATCH` where the sizes, in bytes, differ. */
export function compareSizes(expected: number, found: number, compared: Compared): Finding[] {
  if (expected === found) return [];
  const args = { expected, found, [found < expected ? 'missing' : 'extra']: Math.abs(found - expected), origin: compared.origin };
  return [finding('SIZE_MISMATCH', 'error', { path: compared.path }, args)];
}
