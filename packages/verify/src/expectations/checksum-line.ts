/**
 * One line of a checksum file, as GNU coreutils reads it (`digest.c`, 9.1).
 * Knows nothing of files or of neighbouring lines, but for the one rule that needs them.
 */
import { digestAlgorithms, digestFacts, type DigestAlgorithm } from '@assay/core';
import { algorithmsOfLength } from '../digest-text.ts';

/** Why a line is no checksum line. */
export type MalformedReason =
  | 'no-digest'
  | 'digest-length'
  | 'other-algorithm'
  | 'no-name'
  | 'bad-escape'
  | 'mixed-formats'
  | 'nul-in-name'
  | 'not-utf-8';

/** What a line says. */
export interface ParsedLine {
  readonly ok: true;
  readonly algorithm: DigestAlgorithm;
  /** Lower-case hex. */
  readonly digest: string;
  readonly name: string;
  /** Marked with `*`: the same bytes on every system of today. */
  readonly binary: boolean;
}

/** A line that says nothing. */
export interface RefusedLine {
  readonly ok: false;
  readonly reason: MalformedReason;
}

/** What the lines of one file have in common. */
export interface LineDialect {
  /** The only algorithm that counts; absent: the tag or the digest's length says. */
  readonly algorithm?: DigestAlgorithm | undefined;
  /**
   * `reversed` is the old BSD form with one blank, `<hex> <name>`. The first line decides: were both allowed,
   * a name that starts with a blank could stand for another file.
   */
  separator?: 'standard' | 'reversed';
}

/**
 * Reads a line without its line end.
 * Sets `dialect.separator` at the first untagged line.
 */
export function parseChecksumLine(text: string, dialect: LineDialect): ParsedLine | RefusedLine {
  if (text.includes('\0')) return refused('nul-in-name');
  let at = skipBlanks(text, 0);
  const escaped = text[at] === '\\';
  if (escaped) at += 1;
  const tagged = parseTagged(text, at, dialect);
  return unescaped(tagged ?? parseUntagged(text, at, dialect), escaped);
}

/** `SHA256 (name) = hex`, and OpenSSL's `SHA256(name)= hex`; `undefined` where no tag starts. */
function parseTagged(text: string, start: number, dialect: LineDialect): ParsedLine | RefusedLine | undefined {
  const open = text.indexOf('(', start);
  // The longest tags and their blank are 9 characters: a later parenthesis belongs to a name.
  if (open === -1 || open - start > 9) return undefined;
  const word = text.slice(start, open);
  const algorithm = tags.get(word.endsWith(' ') ? word.slice(0, -1) : word);
  if (algorithm === undefined) return undefined;
  const close = text.lastIndexOf(')');
  if (close <= open) return refused('no-name');
  let at = skipBlanks(text, close + 1);
  if (text[at] !== '=') return refused('no-digest');
  at = skipBlanks(text, at + 1);
  if (dialect.algorithm !== undefined && dialect.algorithm !== algorithm) return refused('other-algorithm');
  const digest = text.slice(at);
  if (hexRun(digest, 0) !== digest.length) return refused('no-digest');
  if (digest.length !== digestFacts(algorithm).hexLength) return refused('digest-length');
  return { ok: true, algorithm, digest: digest.toLowerCase(), name: text.slice(open + 1, close), binary: false };
}

/** `<hex>  name`, `<hex> *name`, and the reversed `<hex> name`. */
function parseUntagged(text: string, start: number, dialect: LineDialect): ParsedLine | RefusedLine {
  const end = hexRun(text, start);
  if (end === start || (end < text.length && !isBlank(text[end]))) return refused('no-digest');
  const digest = text.slice(start, end).toLowerCase();
  const algorithm = algorithmOf(digest, dialect.algorithm);
  if (algorithm === undefined) return refused(untaggedOf(digest) === undefined ? 'digest-length' : 'other-algorithm');
  const mark = text[end + 1];
  if (mark === undefined) return refused('no-name');
  if (text.length - end === 2 || (mark !== ' ' && mark !== '*')) {
    if (dialect.separator === 'standard') return refused('mixed-formats');
    dialect.separator = 'reversed';
  } else {
    dialect.separator ??= 'standard';
  }
  const standard = dialect.separator === 'standard';
  // All that follows belongs to the name, blanks at its ends too.
  return { ok: true, algorithm, digest, name: text.slice(standard ? end + 2 : end + 1), binary: standard && mark === '*' };
}

function algorithmOf(digest: string, expected: DigestAlgorithm | undefined): DigestAlgorithm | undefined {
  if (expected === undefined) return untaggedOf(digest);
  return digestFacts(expected).hexLength === digest.length ? expected : undefined;
}

/** Of a bare digest: 40 digits mean SHA-1 where nothing says otherwise; 8 are too few to be meant as a digest. */
function untaggedOf(digest: string): DigestAlgorithm | undefined {
  return algorithmsOfLength(digest.length).find((algorithm) => algorithm !== 'crc32');
}

/** OpenSSL 3 writes `SHA2-256(name)= hex`. */
const tags: ReadonlyMap<string, DigestAlgorithm> = new Map([
  ...digestAlgorithms.map((algorithm): [string, DigestAlgorithm] => [digestFacts(algorithm).tag, algorithm]),
  ['SHA2-256', 'sha256'],
]);

function unescaped(line: ParsedLine | RefusedLine, escaped: boolean): ParsedLine | RefusedLine {
  if (!line.ok || !escaped) return line;
  const name = unescapeName(line.name);
  return name === undefined ? refused('bad-escape') : { ...line, name };
}

/** `undefined` for a backslash that is not followed by `n`, `r` or a backslash. */
function unescapeName(name: string): string | undefined {
  const parts: string[] = [];
  for (let from = 0; ; ) {
    const backslash = name.indexOf('\\', from);
    if (backslash === -1) return parts.join('') + name.slice(from);
    const letter = escapes.get(name[backslash + 1] ?? '');
    if (letter === undefined) return undefined;
    parts.push(name.slice(from, backslash), letter);
    from = backslash + 2;
  }
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['\\', '\\'],
]);

function hexRun(text: string, start: number): number {
  let at = start;
  while (isHexDigit(text.charCodeAt(at))) at += 1;
  return at;
}

function isHexDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (isBlank(text[at])) at += 1;
  return at;
}

function isBlank(letter: string | undefined): boolean {
  return letter === ' ' || letter === '\t';
}

function refused(reason: MalformedReason): RefusedLine {
  return { ok: false, reason };
}
