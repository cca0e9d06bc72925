/**
 * What `assay verify` prints.
 */
import type { Console, Tone } from '../console.ts';
import type { FileVerification, VerificationReport } from '../jobs/verify.ts';
import { exitCodeOf } from '../exit-code.ts';
import { escapeName } from './escape.ts';
import { renderFindings } from './finding.ts';
import { shortDigest } from './numbers.ts';

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
  return [head.trimEnd(), ...renderFindings(unexplained(file), { shown: SHOWN, indent: '  ', console })];
}

function verdictOf(file: FileVerification): readonly [Tone, string] {
  const notWeights = file.findings.some(({ code, severity }) => code.startsWith('FORMAT_') && severity === 'error');
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

/** The first digest that differs is in the file's own line; with several, and with its remedy, all are listed. */
function unexplained({ findings }: FileVerification): FileVerification['findings'] {
  return findings.filter(({ severity, code }) => severity !== 'info' || code !== 'VERIFY_NO_EXPECTATION');
}

function sumLine(report: VerificationReport): readonly string[] {
  const wrong = report.files.filter(({ status }) => status !== 'ok').length;
  if (report.files.length < 2) return [];
  if (wrong === 0 && report.ok) return [`${report.files.length} of ${report.files.length} ok`];
  return [`${wrong} of ${report.files.length} not ok`.padEnd(60) + `exit ${exitCodeOf(report)}`];
}
