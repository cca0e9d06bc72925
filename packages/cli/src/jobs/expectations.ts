/**
 * What files should be, from a checksum file or from another copy.
 */
import { basename, resolve } from 'node:path';
import { digestSource, resolveLimits, type DigestAlgorithm, type Limits } from '@assay/core';
import { nodeHashers, openFile } from '@assay/node';
import { parseChecksumFile, type ChecksumFile, type Expectation } from '@assay/verify';
import { listedPaths } from './listed-file.ts';
import { readStandardInput } from './standard-input.ts';

/** Larger than any checksum file of a model repository, smaller than weights: what is read to see whether it is one. */
const PROBE_BYTES = 1 << 20;

/**
 * Reads a checksum file that the user names; `-` is standard input.
 * @throws {AssayError} `SOURCE_NOT_FOUND`, `SOURCE_NOT_A_FILE`, `IO_FAILED`, `LIMIT_EXCEEDED`
 */
export async function readChecksumFile(path: string, limits?: Partial<Limits>): Promise<ChecksumFile>;
/** With `orNothing`, a file too large or without one checksum line is `undefined`. */
export async function readChecksumFile(
  path: string,
  limits: Partial<Limits> | undefined,
  options: { readonly orNothing: true },
): Promise<ChecksumFile | undefined>;
export async function readChecksumFile(
  path: string,
  limits?: Partial<Limits>,
  { orNothing = false }: { readonly orNothing?: boolean } = {},
): Promise<ChecksumFile | undefined> {
  const { maxTextBytes } = resolveLimits(limits);
  const bytes = await firstBytes(path, orNothing ? PROBE_BYTES : maxTextBytes);
  if (orNothing && bytes.length > PROBE_BYTES) return undefined;
  const list = parseChecksumFile(bytes, { name: path, trusted: true, ...(limits === undefined ? {} : { limits }) });
  const isList = list.lines.length > 0 || list.findings.some(({ code }) => code === 'CHECKSUM_CONFLICT');
  return orNothing && !isList ? undefined : list;
}

/** A byte more than `most` where there are more. */
async function firstBytes(path: string, most: number): Promise<Uint8Array> {
  if (path === '-') return readStandardInput(most);
  await using source = await openFile(path);
  const bytes = new Uint8Array(Math.min(source.size, most + 1));
  if (bytes.length > 0) await source.readInto(bytes, 0);
  return bytes;
}

/** What a checksum file says of one path: its line by the path as written, by the place it leads to, or by its base name. */
export function expectationsFor(list: ChecksumFile, path: string): Expectation | undefined {
  const place = resolve(path);
  const lines =
    firstNonEmpty(
      list.lines.filter(({ name }) => name === path),
      list.lines.filter(({ name }) => listedPaths(name, list.name).includes(place)),
      list.lines.filter(({ name }) => basename(name) === basename(path)),
    ) ?? [];
  if (lines.length === 0) return undefined;
  const digests = new Map<DigestAlgorithm, string>(lines.map(({ algorithm, digest }) => [algorithm, digest]));
  return { digests, origin: `${list.name} line ${lines[0]?.line ?? 0}` };
}

function firstNonEmpty<T>(...lists: readonly (readonly T[])[]): readonly T[] | undefined {
  return lists.find((list) => list.length > 0);
}

/** What a file should be if it is to equal another copy. @throws {AssayError} as `openFile` and its reads */
export async function referenceCopy(path: string, { signal }: { readonly signal?: AbortSignal }): Promise<Expectation> {
  await using source = await openFile(path);
  const digests = await digestSource(source, ['sha256'], { hashers: nodeHashers, ...(signal === undefined ? {} : { signal }) });
  return { digests, byteLength: source.size, origin: path };
}
