/**
 * Checksum files: `SHA256SUMS`, `model.md5` and their like, with the semantics of `sha256sum -c`.
 * One pass over bounded bytes; opens nothing, resolves no name.
 */
import {
  finding,
  limitExceeded,
  resolveLimits,
  type DigestAlgorithm,
  type Fact,
  type Finding,
  type Limits,
} from '@assay/core';
import { parseChecksumLine, type LineDialect, type MalformedReason, type ParsedLine } from './checksum-line.ts';

/** A well-formed line. */
export interface ChecksumLine extends Omit<ParsedLine, 'ok'> {
  /** From 1. */
  readonly line: number;
}

/** A line that says nothing. Offsets are bytes of the checksum file. */
export interface MalformedLine {
  /** From 1. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly reason: MalformedReason;
}

/** What a checksum file says. */
export interface ChecksumFile {
  /** As the user named it. */
  readonly name: string;
  /** In file order, without those that were refused. */
  readonly lines: readonly ChecksumLine[];
  /** The first 1,000. */
  readonly malformed: readonly MalformedLine[];
  readonly malformedCount: number;
  /** Nothing of severity `error` here: the file can be used. */
  readonly findings: readonly Finding[];
}

/** Options of `parseChecksumFile`. */
export interface ChecksumFileOptions {
  /** The file's name; `SHA256SUMS`, `model.md5` and the like say which algorithm is meant. */
  readonly name: string;
  /** The only algorithm that counts, as if `<algorithm>sum -c` read the file. */
  readonly algorithm?: DigestAlgorithm;
  /** True for a file that the user names: its absolute and `..` names are allowed. */
  readonly trusted?: boolean;
  readonly limits?: Partial<Limits>;
}

const KEPT_MALFORMED = 1000;
/** Malformed lines listed in the finding itself. */
const LISTED_MALFORMED = 20;
/** A CRC-32, a blank and a name of one letter, escaped or not; anything shorter is no checksum line. */
const SHORTEST_LINE = 10;

/**
 * Reads a checksum file; all that is wrong with it is in `findings`.
 * @throws {AssayError} `LIMIT_EXCEEDED` above `limits.maxTextBytes`
 * @example parseChecksumFile(`${sha256}  model.safetensors\n`, { name: 'SHA256SUMS' }).lines[0]?.name
 */
export function parseChecksumFile(content: string | Uint8Array, options: ChecksumFileOptions): ChecksumFile {
  const { name, trusted = false } = options;
  const { maxTextBytes } = resolveLimits(options.limits);
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  if (bytes.length > maxTextBytes) {
    throw limitExceeded('maxTextBytes', { where: name, found: bytes.length, allowed: maxTextBytes });
  }
  const encoding = utf16Of(bytes);
  if (encoding !== undefined) {
    const findings = [finding('CHECKSUM_UTF16', 'error', { path: name, start: 0, end: bytes.length }, { encoding })];
    return { name, lines: [], malformed: [], malformedCount: 0, findings };
  }
  const findings: Finding[] = [];
  const bom = startsWithBom(bytes);
  if (bom) findings.push(finding('CHECKSUM_BOM', 'warning', { path: name, start: 0, end: 3 }));
  const read = readLines(bytes, bom ? 3 : 0, { algorithm: options.algorithm ?? algorithmOfName(name) });
  findings.push(...malformedFindings(name, read), ...emptyFindings(name, read));
  const allowed = withoutRefusedNames(name, read.lines, trusted, findings);
  const lines = withoutConflicts(name, allowed, findings);
  return { name, lines, malformed: read.malformed, malformedCount: read.malformedCount, findings };
}

/** The algorithm that a checksum file's name promises: `SHA256SUMS`, `md5sums.txt`, `model.bin.sha1`. */
export function algorithmOfName(name: string): DigestAlgorithm | undefined {
  const last = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1).toLowerCase();
  const found = /^(sha256|sha1|md5)sums?(?:$|[._-])/.exec(last) ?? /\.(sha256|sha1|md5)(?:sums?)?(?:\.txt)?$/.exec(last);
  return found?.[1] as 'sha256' | 'sha1' | 'md5' | undefined;
}

interface ReadLines {
  readonly lines: ChecksumLine[];
  readonly malformed: MalformedLine[];
  readonly malformedCount: number;
}

function readLines(bytes: Uint8Array, from: number, dialect: LineDialect): ReadLines {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const lines: ChecksumLine[] = [];
  const malformed: MalformedLine[] = [];
  let malformedCount = 0;
  for (let start = from, line = 1; start < bytes.length; line += 1) {
    const feed = bytes.indexOf(0x0a, start);
    const next = feed === -1 ? bytes.length : feed + 1;
    let end = feed === -1 ? bytes.length : feed;
    if (end > start && bytes[end - 1] === 0x0d) end -= 1;
    if (end > start && bytes[start] !== 0x23) {
      const parsed = parseBytes(bytes.subarray(start, end), decoder, dialect);
      if (typeof parsed === 'string') {
        malformedCount += 1;
        if (malformed.length < KEPT_MALFORMED) malformed.push({ line, start, end, reason: parsed });
      } else {
        const { algorithm, digest, name, binary } = parsed;
        lines.push({ line, name, algorithm, digest, binary });
      }
    }
    start = next;
  }
  return { lines, malformed, malformedCount };
}

function parseBytes(bytes: Uint8Array, decoder: TextDecoder, dialect: LineDialect): ParsedLine | MalformedReason {
  if (bytes.length < SHORTEST_LINE) return 'no-digest';
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return 'not-utf-8';
  }
  const parsed = parseChecksumLine(text, dialect);
  return parsed.ok ? parsed : parsed.reason;
}

function malformedFindings(path: string, { malformed, malformedCount }: ReadLines): Finding[] {
  if (malformedCount === 0) return [];
  const lines: Fact[] = malformed.slice(0, LISTED_MALFORMED).map(({ line, reason }) => ({ line, reason }));
  return [finding('CHECKSUM_LINES_MALFORMED', 'warning', { path }, { count: malformedCount, lines })];
}

function emptyFindings(path: string, { lines, malformedCount }: ReadLines): Finding[] {
  return lines.length > 0 ? [] : [finding('CHECKSUM_EMPTY', 'error', { path }, { malformed: malformedCount })];
}

function withoutRefusedNames(path: string, lines: readonly ChecksumLine[], trusted: boolean, findings: Finding[]): readonly ChecksumLine[] {
  if (trusted) return lines;
  const refused = lines.filter(({ name }) => leavesFolder(name));
  for (const { line, name } of refused) findings.push(finding('CHECKSUM_NAME_REFUSED', 'error', { path }, { line, name }));
  return refused.length === 0 ? lines : lines.filter(({ name }) => !leavesFolder(name));
}

/** Judged for every system: a backslash or a drive letter leaves the folder on Windows only. */
function leavesFolder(name: string): boolean {
  return name === '' || name.startsWith('/') || name.includes('\\') || /^[A-Za-z]:/.test(name) || name.split('/').includes('..');
}

function withoutConflicts(path: string, lines: readonly ChecksumLine[], findings: Finding[]): readonly ChecksumLine[] {
  const first = new Map<string, ChecksumLine>();
  const conflicts = new Set<string>();
  for (const line of lines) {
    const key = keyOf(line);
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, line);
    else if (earlier.digest !== line.digest && !conflicts.has(key)) {
      conflicts.add(key);
      const { name, algorithm } = line;
      const args = { name, algorithm, lines: [earlier.line, line.line], digests: [earlier.digest, line.digest] };
      findings.push(finding('CHECKSUM_CONFLICT', 'error', { path }, args));
    }
  }
  return conflicts.size === 0 ? lines : lines.filter((line) => !conflicts.has(keyOf(line)));
}

function keyOf({ algorithm, name }: ChecksumLine): string {
  return `${algorithm} ${name}`;
}

function startsWithBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** PowerShell 5's `>` writes UTF-16 with a byte order mark; without one, the zero half of ASCII tells. */
function utf16Of(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [a, b, c, d] = bytes;
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  if (bytes.length < 4) return undefined;
  if (b === 0 && d === 0 && a !== 0 && c !== 0) return 'utf-16le';
  return a === 0 && c === 0 && b !== 0 && d !== 0 ? 'utf-16be' : undefined;
}
