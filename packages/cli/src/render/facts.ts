/**
 * The facts of a finding in words: found and expected first, then the rest.
 */
import type { Code, Fact, Finding } from '@assay/core';
import { kindWords } from './container.ts';
import { cut, escapeName } from './escape.ts';
import { formatCount, plural, shortDigest } from './numbers.ts';

/** At most this many facts: the rest is in `--json`. */
const MOST = 5;

/** The facts that a person wants to see, without brackets; `''` where there are none. */
export function factWords({ code, args }: Pick<Finding, 'code' | 'args'>): string {
  const words: string[] = [];
  for (const name of ['found', 'expected']) {
    const fact = args[name];
    if (fact !== undefined && !isUnshown(code, name)) words.push(`${name} ${factText(code, fact)}${unitOf(code, fact)}`);
  }
  for (const [name, fact] of Object.entries(args)) {
    if (name === 'found' || name === 'expected' || isUnshown(code, name) || saysNothing(fact)) continue;
    words.push(phrases.get(name)?.(fact, code) ?? (fact === true ? nameWords(name) : `${nameWords(name)} ${factText(code, fact)}`));
  }
  return words.slice(0, MOST).join(', ');
}

function saysNothing(fact: Fact): boolean {
  return fact === null || fact === false || fact === '' || fact === 0 || (Array.isArray(fact) && fact.length === 0);
}

// Shown elsewhere in the sentence, or for programs only.
const UNSHOWN: ReadonlySet<string> = new Set(['specification', 'reference', 'origin', 'offset', 'start', 'end', 'path', 'tensor', 'tensorCount', 'member', 'index']);

// What the sentence of a code says already.
const saidAlready: readonly (readonly [prefix: string, names: readonly string[]])[] = [
  ['TORCH_TENSOR_', ['function']],
  ['TORCH_NAME', ['found', 'expected']],
  ['SOURCE_NOT_FOUND', ['system']],
  ['SOURCE_CHANGED', ['before', 'after']],
  ['CHECKSUM_CONFLICT', ['name']],
  ['CONVERT_NOTHING_TO_DO', ['format']],
  ['CONVERT_NO_TENSORS', ['leftOut']],
  ['SAFETENSORS_HEADER_TOO_LARGE', ['declared', 'limit']],
  ['FORMAT_EMPTY', ['found', 'expected', 'byteLength']],
  ['FORMAT_ZEROS', ['found', 'expected', 'wholeFileRead', 'bytesLookedAt']],
];

function isUnshown(code: Code, name: string): boolean {
  return UNSHOWN.has(name) || saidAlready.some(([prefix, names]) => code.startsWith(prefix) && names.includes(name));
}

/** Facts whose names are no words. */
const phrases: ReadonlyMap<string, (fact: Fact, code: Code) => string | undefined> = new Map<string, (fact: Fact, code: Code) => string | undefined>([
  ['byteLength', (fact) => counted(fact, 'byte')],
  ['storageByteLength', (fact) => around(fact, 'of ', 'byte', ' that are stored')],
  ['bytes', (fact) => counted(fact, 'byte')],
  ['missing', (fact) => around(fact, '', 'byte', ' missing')],
  ['extra', (fact) => around(fact, '', 'byte', ' too many')],
  ['whole', (fact) => around(fact, '', 'tensor', ' before it whole')],
  ['cut', (fact) => around(fact, '', 'tensor', ' cut')],
  ['declared', (fact, code) => `a header of ${factText(code, fact)} bytes stated`],
  ['members', (fact) => counted(fact, 'member')],
  ['tensors', (fact, code) => (Array.isArray(fact) ? `in ${listText(code, fact)}` : counted(fact, 'tensor'))],
  ['files', (fact) => counted(fact, 'file')],
  ['count', (fact) => (typeof fact === 'number' ? `${formatCount(fact)} of them` : undefined)],
  ['malformed', (fact) => counted(fact, 'malformed line')],
  ['first', (fact) => (typeof fact === 'number' ? `the first at byte ${formatCount(fact)}` : undefined)],
  ['what', (fact) => (typeof fact === 'string' ? `in the ${escapeName(fact)}` : undefined)],
  ['problem', (fact) => (typeof fact === 'string' ? escapeName(fact) : undefined)],
  ['zeros', () => 'its bytes are zeros'],
  ['zerosAtEnd', (fact) => around(fact, '', 'zero', ' at the end')],
  ['digests', (fact) => (Array.isArray(fact) ? `digests ${fact.map((one: Fact) => shortDigest(String(one))).join(' and ')}` : undefined)],
  ['lines', (fact) => (Array.isArray(fact) ? linesText(fact) : undefined)],
]);

function counted(fact: Fact, noun: string): string | undefined {
  return typeof fact === 'number' || typeof fact === 'bigint' ? plural(fact, noun) : undefined;
}

function around(fact: Fact, before: string, noun: string, after: string): string | undefined {
  const count = counted(fact, noun);
  return count === undefined ? undefined : before + count + after;
}

/** `line 4 (no digest), line 9 (bad escape)`, or of bare numbers `lines 1, 2`. */
function linesText(lines: readonly Fact[]): string {
  const shown = lines.slice(0, 6).map((one) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return String(one);
    const { line, reason } = one as { readonly line?: Fact; readonly reason?: Fact };
    return `line ${String(line)}${typeof reason === 'string' ? ` (${reason.replaceAll('-', ' ')})` : ''}`;
  });
  const bare = lines.every((one) => typeof one === 'number');
  return `${bare ? 'lines ' : ''}${shown.join(', ')}${lines.length > shown.length ? ', …' : ''}`;
}

function unitOf(code: Code, fact: Fact): string {
  return typeof fact === 'number' && (code === 'SIZE_MISMATCH' || code === 'TORCH_STORAGE_SIZE_MISMATCH') ? (fact === 1 ? ' byte' : ' bytes') : '';
}

function nameWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function factText(code: Code, fact: Fact): string {
  if (typeof fact === 'string') return textFact(code, fact);
  if (typeof fact === 'number' || typeof fact === 'bigint') return formatCount(fact);
  if (Array.isArray(fact)) return listText(code, fact);
  if (typeof fact === 'object' && fact !== null) {
    return Object.entries(fact).slice(0, 4).map(([name, value]) => `${nameWords(name)} ${factText(code, value)}`).join(' ');
  }
  return String(fact);
}

function textFact(code: Code, text: string): string {
  if (code === 'DIGEST_MISMATCH' && /^[0-9a-f]{32,}$/.test(text)) return shortDigest(text);
  return escapeName(cut(code.startsWith('FORMAT_') ? kindWords(text) : text));
}

function listText(code: Code, list: readonly Fact[]): string {
  return list.slice(0, 6).map((item) => factText(code, item)).join(', ') + (list.length > 6 ? ', …' : '');
}
