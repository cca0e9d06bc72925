/**
 * What `assay verify` prints.
 */
import { blameOf, type Fact, type Finding } from '@assay/core';
import type { DetectedKind, Refusal, refusalWords } from '@assay/formats';
import type { Console, Tone } from '../console.ts';
import type { FileVerification, VerificationReport } from '../jobs/verify.ts';
import { exitCodeOf } from '../exit-code.ts';
import { escapeName, showName } from './escape.ts';
import { renderFindings } from './finding.ts';
import { formatBytes, longest, shortDigest } from './numbers.ts';
import { remedyFor } from './remedies.ts';

const verdicts: Readonly<Record<FileVerification['status'], readonly [Tone, string]>> = {
  ok: ['good', 'ok'],
  mismatch: ['bad', 'DAMAGED'],
  missing: ['bad', 'MISSING'],
  unreadable: ['bad', 'UNREADABLE'],
  unverified: ['doubt', 'UNVERIFIED'],
};
const SHOWN = 10;

/** The lines for stdout: a line a file, why, then the sum. With `quiet` only of files that are not ok. */
export async function renderVerification(report: VerificationReport, console: Console): Promise<readonly string[]> {
  const words = await wordsFor(report);
  const files = console.quiet ? report.files.filter(({ status }) => status !== 'ok') : report.files;
  const width = Math.min(48, longest(files.map(({ name }) => pathName(name)), 0));
  const lines = files.flatMap((file) => fileLines(file, width, console, words));
  const own = new Set(report.files.flatMap(({ findings }) => findings));
  const rest = report.findings.filter((one) => !own.has(one) && !(console.quiet && one.severity !== 'error'));
  return [...lines, ...renderFindings(rest, { shown: SHOWN, console }), ...(console.quiet ? [] : sumLine(report))];
}

/** The words of `@assay/formats` for what a file is instead; loaded only where a file is something else. */
type Words = typeof refusalWords;

async function wordsFor({ findings }: VerificationReport): Promise<Words | undefined> {
  return findings.some(isTelling) ? (await import('@assay/formats')).refusalWords : undefined;
}

function fileLines(file: FileVerification, width: number, console: Console, words: Words | undefined): readonly string[] {
  const other = otherThing(file, words);
  const [tone, word] = other !== undefined && file.status === 'mismatch' ? (['bad', 'NOT WEIGHTS'] as const) : verdicts[file.status];
  const head = `${pathName(file.name).padEnd(width)}   ${console.paint(tone, word.padEnd(10))}  ${reason(file, other)}`.trimEnd();
  const inHead = file.findings.find((one) => isInHead(one) || (other !== undefined && one === other.finding && digestOf(file) === ''));
  const rest = file.findings.filter((one) => one !== inHead && one !== other?.finding && (one.severity !== 'info' || file.status === 'mismatch'));
  const told = inHead === undefined || rest.some(({ severity }) => severity === 'error');
  const action = other?.hint ?? (told ? undefined : remedyFor({ ...inHead, severity: 'error' }));
  return [
    head,
    ...(other === undefined || digestOf(file) === '' ? [] : [`  it is ${whatItIs(file, other)}`]),
    ...renderFindings(rest, { shown: SHOWN, indent: '  ', console }),
    ...(action === undefined ? [] : [`  ${escapeName(action)}`]),
  ];
}

/** A path as the user or a list wrote it; a list may name anything. */
function pathName(name: string): string {
  return name.length > 1000 ? showName(name) : escapeName(name);
}

/** What the file's own line says already: the first digest that differs, or that there is nothing to compare with. */
function isInHead({ code, severity }: Finding): boolean {
  return code === 'DIGEST_MISMATCH' || (code === 'VERIFY_NO_EXPECTATION' && severity === 'error');
}

interface OtherThing extends Refusal {
  readonly finding: Finding;
}

/** What a wrong file really is tells better what to do than that it is wrong. */
function otherThing({ name, findings }: FileVerification, words: Words | undefined): OtherThing | undefined {
  const telling = findings.find(isTelling);
  if (telling === undefined) return undefined;
  const refusal = words?.({ kind: telling.args['found'] as DetectedKind, facts: telling.args }, name);
  return refusal === undefined ? undefined : { ...refusal, finding: telling };
}

function isTelling({ code, args }: Finding): boolean {
  return code.startsWith('FORMAT_') && blameOf(code) === 'input' && typeof args['found'] === 'string';
}

function whatItIs({ byteLength }: FileVerification, { is, finding: { args } }: OtherThing): string {
  const size: Fact | undefined = args['size'];
  const sized = typeof size === 'number' ? is.replace(`${size} bytes`, formatBytes(size)) : is;
  const words = args['oidIsExpected'] === true ? `${sized}, the one that was expected` : sized;
  return byteLength === undefined || byteLength === 0 ? escapeName(words) : `${formatBytes(byteLength)}, ${escapeName(words)}`;
}

function reason(file: FileVerification, other: OtherThing | undefined): string {
  const { status, expected, digests, structure } = file;
  if (expected.digests.size === 0) {
    if (other !== undefined) return whatItIs(file, other);
    const list = file.findings.find(({ code }) => code === 'VERIFY_NO_EXPECTATION')?.args['unlistedIn'];
    const nothing = typeof list === 'string' ? `not listed in ${escapeName(list)}` : 'nothing to compare its content with';
    return structure?.ok === true ? `its structure is whole; ${nothing}` : '';
  }
  if (status === 'ok') return `${[...expected.digests.keys()].join(', ')}, from ${escapeName(expected.origin)}`;
  return digests.size === 0 && other !== undefined ? whatItIs(file, other) : digestOf(file);
}

/** The digest that differs and the one that was expected; empty where none was computed. */
function digestOf({ expected, digests }: FileVerification): string {
  const wrong = [...expected.digests].find(([algorithm, wanted]) => digests.get(algorithm)?.toLowerCase() !== wanted.toLowerCase());
  const found = wrong === undefined ? undefined : digests.get(wrong[0]);
  if (wrong === undefined || found === undefined) return '';
  return `${wrong[0]} ${shortDigest(found)} expected ${shortDigest(wrong[1])}`;
}

function sumLine(report: VerificationReport): readonly string[] {
  const wrong = report.files.filter(({ status }) => status !== 'ok').length;
  if (report.files.length < 2) return [];
  if (wrong === 0 && report.ok) return [`${report.files.length} of ${report.files.length} ok`];
  return [`${wrong} of ${report.files.length} not ok`.padEnd(60) + `exit ${exitCodeOf(report)}`];
}
