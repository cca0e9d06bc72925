/**
 * Findings in words: the only place that has them.
 * What was found comes from the table of codes, its facts from the finding, what to do from the table of remedies.
 */
import { codes, type Code, type Fact, type Finding } from '@assay/core';
import type { Console, Tone } from '../console.ts';
import { escapeName } from './escape.ts';
import { formatBytes, formatCount, plural, shortDigest } from './numbers.ts';
import { remedyFor } from './remedies.ts';

/** How findings are listed. */
export interface FindingListOptions {
  /** Show at most this many. */
  readonly shown?: number;
  readonly indent?: string;
  readonly console?: Console;
  /** False where an action is shown anyway. */
  readonly remedies?: boolean;
}

const tones: Readonly<Record<Finding['severity'], Tone>> = { error: 'bad', warning: 'doubt', info: 'dim' };

/** A line for each finding, then its remedy after the last of a run of equal codes. Lists of classes become one line. */
export function renderFindings(findings: readonly Finding[], options: FindingListOptions = {}): readonly string[] {
  const { shown = findings.length, indent = '', console, remedies = true } = options;
  const single = findings.filter(({ code }) => code !== 'TORCH_CLASS_NOT_BUILT');
  const lines: string[] = [];
  for (const [index, one] of single.slice(0, shown).entries()) {
    const severity = console === undefined ? one.severity : console.paint(tones[one.severity], one.severity);
    lines.push(`${indent}${severity}  ${findingWords(one)}`);
    const remedy = single[index + 1]?.code === one.code ? undefined : remedyFor(one);
    if (remedies && remedy !== undefined) lines.push(`${indent}       ${remedy}`);
  }
  const rest = single.length - shown;
  if (rest > 0) lines.push(`${indent}… ${formatCount(rest)} more   (--json has them all)`);
  return [...lines, ...unbuiltLine(findings, indent)];
}

function unbuiltLine(findings: readonly Finding[], indent: string): readonly string[] {
  const classes = findings.filter(({ code }) => code === 'TORCH_CLASS_NOT_BUILT').map(({ args }) => args['class']);
  const names = classes.filter((name) => typeof name === 'string').map(escapeName);
  if (names.length === 0) return [];
  const rest = names.length > 5 ? ` and ${formatCount(names.length - 5)} more` : '';
  return [`${indent}named in it, never looked up or called: ${names.slice(0, 5).join(', ')}${rest}`];
}

/** One finding as a sentence: where, what, the facts. */
export function findingWords({ code, subject, args }: Finding): string {
  const where = subject.tensor ?? subject.member;
  const named = where === undefined ? '' : `${escapeName(where)}: `;
  const facts = factWords(code, args);
  return `${named}${codes.get(code)?.summary ?? code}${facts === '' ? '' : ` (${facts})`}${placeWords(subject)}`;
}

function placeWords({ start, end }: Finding['subject']): string {
  if (start === undefined) return '';
  return end === undefined || end === start ? `, at byte ${formatCount(start)}` : `, bytes ${formatCount(start)} - ${formatCount(end)}`;
}

// Shown elsewhere in the sentence, or for programs only.
const UNSHOWN: ReadonlySet<string> = new Set(['specification', 'reference', 'origin', 'offset', 'start', 'end', 'path']);

function factWords(code: Code, args: Finding['args']): string {
  const words: string[] = [];
  if (args['found'] !== undefined) words.push(`found ${factText(code, args['found'])}`);
  if (args['expected'] !== undefined) words.push(`expected ${factText(code, args['expected'])}`);
  for (const [name, fact] of Object.entries(args)) {
    if (name === 'found' || name === 'expected' || UNSHOWN.has(name) || fact === null || fact === false) continue;
    words.push(fact === true ? nameWords(name) : `${nameWords(name)} ${factText(code, fact)}`);
  }
  return words.slice(0, 5).join(', ');
}

function nameWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function factText(code: Code, fact: Fact): string {
  if (typeof fact === 'string') return code === 'DIGEST_MISMATCH' && /^[0-9a-f]{32,}$/.test(fact) ? shortDigest(fact) : escapeName(cut(fact));
  if (typeof fact === 'number' && code === 'SIZE_MISMATCH') return formatBytes(fact);
  if (typeof fact === 'number' || typeof fact === 'bigint') return formatCount(fact);
  if (Array.isArray(fact)) return `[${fact.slice(0, 6).map((item: Fact) => factText(code, item)).join(', ')}${fact.length > 6 ? ', …' : ''}]`;
  if (typeof fact === 'object' && fact !== null) {
    return Object.entries(fact).slice(0, 4).map(([name, value]) => `${nameWords(name)} ${factText(code, value)}`).join(' ');
  }
  return String(fact);
}

function cut(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

/** What a person wants to hear of what was left out: not the attributes that PyTorch hangs on every state dict. */
export function remarkable(leftOut: readonly Finding[]): readonly Finding[] {
  return leftOut.filter(({ args }) => args['attribute'] !== true);
}

/** What was left out, in one line: `epoch, optimizer_states (2), hyper_parameters`. */
export function leftOutLine(leftOut: readonly Finding[], shown = 6): string {
  const words = leftOut.slice(0, shown).map(({ subject, args }) => {
    const name = [subject.tensor, args['path'], args['class'], args['name']].find((text) => typeof text === 'string') ?? 'a value';
    const count = args['count'];
    return typeof count === 'number' && count > 1 ? `${escapeName(name)} (${formatCount(count)})` : escapeName(name);
  });
  const rest = leftOut.length - words.length;
  return words.join(', ') + (rest > 0 ? ` and ${plural(rest, 'more').replace('mores', 'more')}` : '');
}
