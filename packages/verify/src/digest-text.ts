/**
 * A published digest as text: is it what its algorithm writes?
 * Knows lengths and letters only; the bytes are somebody else's.
 */
import { AssayError, digestAlgorithms, digestFacts, type DigestAlgorithm } from '@assay/core';

/** A digest in lower case, or what is wrong with the text. */
export type ParsedDigest =
  | { readonly ok: true; readonly digest: string }
  | { readonly ok: false; readonly error: AssayError };

/**
 * The digest in lower case; blanks around it are dropped.
 * @throws {AssayError} `DIGEST_MALFORMED` for anything but whole hexadecimal,
 * `DIGEST_OTHER_ALGORITHM` (with `context.candidates`) for the length of another algorithm
 * @example parseDigest('md5', 'D41D8CD98F00B204E9800998ECF8427E') // 'd41d8cd98f00b204e9800998ecf8427e'
 */
export function parseDigest(algorithm: DigestAlgorithm, text: string): string {
  const parsed = tryParseDigest(algorithm, text);
  if (!parsed.ok) throw parsed.error;
  return parsed.digest;
}

/** As `parseDigest`, with the error as a value. */
export function tryParseDigest(algorithm: DigestAlgorithm, text: string): ParsedDigest {
  const digest = text.trim().toLowerCase();
  const { hexLength } = digestFacts(algorithm);
  if (!isHex(digest)) return { ok: false, error: malformed(algorithm, digest, 'not-hex') };
  if (digest.length === hexLength) return { ok: true, digest };
  const candidates = algorithmsOfLength(digest.length);
  if (candidates.length > 0) return { ok: false, error: otherAlgorithm(algorithm, digest, candidates) };
  return { ok: false, error: malformed(algorithm, digest, digest.length % 2 === 1 ? 'odd-length' : 'length') };
}

/** The algorithms whose printed digest has `length` hex digits, the field's usual one first. */
export function algorithmsOfLength(length: number): DigestAlgorithm[] {
  return digestAlgorithms.filter((algorithm) => digestFacts(algorithm).hexLength === length);
}

function isHex(text: string): boolean {
  return /^[0-9a-f]+$/.test(text);
}

function malformed(algorithm: DigestAlgorithm, text: string, reason: 'not-hex' | 'odd-length' | 'length'): AssayError {
  const expected = digestFacts(algorithm).hexLength;
  return new AssayError('DIGEST_MALFORMED', {
    message: `${JSON.stringify(text.slice(0, 80))} is no ${algorithm}: ${expected} hex digits were expected, found ${text.length} characters`,
    hint: 'Copy the whole digest again from where it is published.',
    context: { algorithm, reason, found: text.length, expected, text: text.slice(0, 80) },
  });
}

function otherAlgorithm(algorithm: DigestAlgorithm, text: string, candidates: readonly DigestAlgorithm[]): AssayError {
  const expected = digestFacts(algorithm).hexLength;
  const names = candidates.join(' or ');
  return new AssayError('DIGEST_OTHER_ALGORITHM', {
    message: `${text} has ${text.length} hex digits, a ${algorithm} has ${expected}: it looks like ${names}`,
    hint: `Compare it as ${names}, or copy the ${algorithm} from where it is published.`,
    context: { algorithm, found: text.length, expected, text, candidates },
  });
}
