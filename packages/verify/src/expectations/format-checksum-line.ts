/**
 * Checksum lines as GNU coreutils writes them (9.1), for `sha256sum -c` and for us.
 */
import { digestFacts, type DigestAlgorithm } from '@assay/core';
import { parseDigest } from '../digest-text.ts';

/** What a line says. */
export interface ChecksumEntry {
  readonly name: string;
  readonly algorithm: DigestAlgorithm;
  /** In hex. */
  readonly digest: string;
}

/**
 * One line, without its line end: `<hex>  <name>`, or with `tag` `SHA256 (<name>) = <hex>`.
 * A backslash before the line says that backslash, line feed and carriage return are escaped in the name.
 * @throws {TypeError} for a name that no checksum file can hold (empty, NUL, lone surrogate)
 * @throws {AssayError} as `parseDigest`
 */
export function formatChecksumLine(entry: ChecksumEntry, options: { readonly tag?: boolean } = {}): string {
  const { algorithm, name } = entry;
  const digest = parseDigest(algorithm, entry.digest);
  if (name === '' || name.includes('\0') || /\p{Surrogate}/u.test(name)) {
    throw new TypeError(`${JSON.stringify(name)} cannot be written to a checksum file`);
  }
  const escaped = name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  const mark = escaped === name ? '' : '\\';
  if (options.tag !== true) return `${mark}${digest}  ${escaped}`;
  return `${mark}${digestFacts(algorithm).tag} (${escaped}) = ${digest}`;
}
