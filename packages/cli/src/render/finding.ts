/**
 * Findings in words: the only place that has them.
 * What was found comes from the table of codes, what its facts say from `facts`, what to do from the table of remedies.
 */
import { codes, type Code, type Finding } from '@assay/core';
import type { Console, Tone } from '../console.ts';
import { escapeName, showName } from './escape.ts';
import { factWords } from './facts.ts';
import { formatCount } from './numbers.ts';
import { remedyFor } from './remedies.ts';

/** How findings are listed. */
export interface FindingListOptions {
  /** Show at most this many. */
  readonly shown?: number;
  readonly indent?: string;
  readonly console?: Console;
  /** False where an action is shown anyway. */
  readonly remedies?: boolean;
  /** Instead of the severity, where it is no error to find this. */
  readonly label?: string;
}

const tones: Readonly<Record<Finding['severity'], Tone>> = { error: 'bad', warning: 'doubt', info: 'dim' };

/** A line for each finding, or for a run of one code its sentence and a line for each place; then what to do. Lists of classes become one line. */
export function renderFindings(findings: readonly Finding[], options: FindingListOptions = {}): readonly string[] {
  const { shown = findings.length, indent = '', remedies = true } = options;
  const single = findings.filter(({ code }) => code !== 'TORCH_CLASS_NOT_BUILT');
  const lines: string[] = [];
  const runs = runsOfOneCode(single.slice(0, shown));
  for (const [index, run] of runs.entries()) {
    for (const line of runLines(run, options)) lines.push(line);
    const [remedy, next] = [run, runs[index + 1]].map((of) => (of?.[0] === undefined ? undefined : remedyFor(of[0])));
    if (remedies && remedy !== undefined && remedy !== next) lines.push(`${indent}       ${remedy}`);
  }
  const rest = single.length - shown;
  if (rest > 0) lines.push(`${indent}… ${formatCount(rest)} more   (--json has them all)`);
  return [...lines, ...unbuiltLine(findings, indent)];
}

function runsOfOneCode(findings: readonly Finding[]): Finding[][] {
  const runs: Finding[][] = [];
  for (const one of findings) {
    const last = runs.at(-1);
    if (last?.[0]?.code === one.code && last[0].severity === one.severity) last.push(one);
    else runs.push([one]);
  }
  return runs;
}

function runLines(run: readonly Finding[], { indent = '', console, label }: FindingListOptions): readonly string[] {
  const [first] = run;
  if (first === undefined) return [];
  const { severity, code } = first;
  const word = label ?? severity;
  const start = `${indent}${console === undefined ? word : console.paint(tones[severity], word)}  `;
  if (run.length === 1) return [start + findingWords(first)];
  return [start + summaryOf(code), ...placesOf(run, `${indent}       `)];
}

/** A line for each place of findings of one code: where, and the facts. */
export function placesOf(run: readonly Finding[], indent: string): readonly string[] {
  return run.map((one) => {
    const facts = factWords(one);
    const { tensor, member, path } = one.subject;
    const name = tensor ?? member;
    const where = name === undefined ? escapeName(path ?? 'the file') : showName(name);
    return `${indent}${where}${facts === '' ? '' : ` (${facts})`}${placeWords(one.subject)}`;
  });
}

function unbuiltLine(findings: readonly Finding[], indent: string): readonly string[] {
  const classes = findings.filter(({ code }) => code === 'TORCH_CLASS_NOT_BUILT').map(({ args }) => args['class']);
  const names = classes.filter((name) => typeof name === 'string').map(escapeName);
  if (names.length === 0) return [];
  const rest = names.length > 5 ? ` and ${formatCount(names.length - 5)} more` : '';
  return [`${indent}named in it, never looked up or called: ${names.slice(0, 5).join(', ')}${rest}`];
}

/** What a code stands for, in one sentence. */
export function summaryOf(code: Code): string {
  return codes.get(code)?.summary ?? code;
}

/** One finding as a sentence: where, what, the facts. */
export function findingWords({ code, subject, args }: Finding): string {
  const where = subject.tensor ?? subject.member;
  const named = where === undefined ? '' : `${showName(where)}: `;
  const facts = factWords({ code, args });
  return `${named}${summaryOf(code)}${facts === '' ? '' : ` (${facts})`}${placeWords(subject)}`;
}

function placeWords({ start, end }: Finding['subject']): string {
  if (start === undefined) return '';
  return end === undefined || end === start ? `, at byte ${formatCount(start)}` : `, bytes ${formatCount(start)} - ${formatCount(end)}`;
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
    return typeof count === 'number' && count > 1 ? `${showName(name)} (${formatCount(count)})` : showName(name);
  });
  const rest = leftOut.length - words.length;
  return words.join(', ') + (rest > 0 ? ` and ${formatCount(rest)} more` : '');
}
