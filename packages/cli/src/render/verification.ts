/**
 * What `assay verify` prints.
 */
import { blameOf, type Finding } from '@assay/core';
import type { Console, Tone } from '../console.ts';
import type { FileVerification, VerificationReport } from '../jobs/verify.ts';
import { exitCodeOf } from '../exit-code.ts';
import { escapeName } from './escape.ts';
import { renderFindings } from './finding.ts';
import { shortDigest } from './numbers.ts';
import { remedyFor } from './remedies.ts';

const verdicts: Readonly<Record<FileVerification['status'], readonly [Tone, string]>> = {
  ok: ['good', 'ok'],
  mismatch: ['bad', 'DAMAGED'],
  missing: ['bad', 'MISSING'],
  unreadable: ['bad', 'UNREADABLE'],
  unverified: ['doubt', 'UNVERIFIED'],
};
const SHOWN = 10;

/** The lines for stdout: a line a file, why, then the sum. */
export function renderVerification(report: VerificationReport, console: Console): readonly string[] {
  const width = Math.min(48, Math.max(0, ...report.files.map(({ name }) => escapeName(name).length)));
  const lines = report.files.flatMap((file) => fileLines(file, width, console));
  const own = new Set(report.files.flatMap(({ findings }) => findings));
  const rest = report.findings.filter((one) => !own.has(one));
  return [...lines, ...renderFindings(rest, { shown: SHOWN, console }), ...sumLine(report)];
}

function fileLines(file: FileVerification, width: number, console: Console): readonly string[] {
  const [tone, word] = verdictOf(file);
  const head = `${escapeName(file.name).padEnd(width)}   ${console.paint(tone, word.padEnd(10))}  ${reason(file)}`;
  const inHead = inHeadLine(file);
  const rest = file.findings.filter((one) => one !== inHead && (one.severity !== 'info' || file.status === 'mismatch'));
  // What a wrong file really is tells better what to do than that it is wrong.
  const explained = rest.find(({ code }) => code.startsWith('FORMAT_')) ?? (rest.length === 0 ? inHead : undefined);
  const remedy = explained === undefined || explained.severity === 'error' && explained !== inHead ? undefined : remedyFor({ ...explained, severity: 'error' });
  return [
    head.trimEnd(),
    ...renderFindings(rest, { shown: SHOWN, indent: '  ', console }),
    ...(remedy === undefined ? [] : [`  ${remedy}`]),
  ];
}

/** What the file's own line says already: the first digest that differs, or that there is nothing to compare with. */
function inHeadLine({ findings }: FileVerification): Finding | undefined {
  return findings.find(({ code, severity }) => code === 'DIGEST_MISMATCH' || (code === 'VERIFY_NO_EXPECTATION' && severity === 'error'));
}

function verdictOf(file: FileVerification): readonly [Tone, string] {
  const notWeights = file.status === 'mismatch' && file.findings.some(({ code }) => code.startsWith('FORMAT_') && blameOf(code) === 'input');
  return notWeights ? ['bad', 'NOT WEIGHTS'] : verdicts[file.status];
}

function reason({ status, expected, digests, structure }: FileVerification): string {
  const [first] = expected.digests;
  if (first === undefined) return structure?.ok === true ? 'its structure is whole; nothing to compare its content with' : '';
  const [algorithm, wanted] = first;
  if (status === 'ok') return `${[...expected.digests.keys()].join(', ')}, from ${escapeName(expected.origin)}`;
  const found = digests.get(algorithm);
  return found === undefined ? '' : `${algorithm} ${found.length > 40 ? shortDigest(found) : found} expected ${shortDigest(wanted)}`;
}

function sumLine(report: VerificationReport): readonly string[] {
  const wrong = report.files.filter(({ status }) => status !== 'ok').length;
  if (report.files.length < 2) return [];
  if (wrong === 0 && report.ok) return [`${report.files.length} of ${report.files.length} ok`];
  return [`${wrong} of ${report.files.length} not ok`.padEnd(60) + `exit ${exitCodeOf(report)}`];
}
