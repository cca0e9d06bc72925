/**
 * What `assay convert` prints of one file.
 */
import type { ConversionPlan } from '@assay/convert';
import type { Console } from '../console.ts';
import type { FileConversion } from '../jobs/convert.ts';
import { renderContainerShortly } from './container.ts';
import { escapeName, showName } from './escape.ts';
import { leftOutLine, remarkable, renderFindings } from './finding.ts';
import { formatBytes, formatCount, formatShape, longest, plural, shortDigest } from './numbers.ts';

const SHOWN = 6;

/** The lines for stdout: what it was, what it became, what is not in it. */
export function renderConversion(conversion: FileConversion, console: Console): readonly string[] {
  const { input, output, plan, report, facts, inputByteLength } = conversion;
  const container = renderContainerShortly({ kind: plan.input.format, facts });
  const names = plural(plan.output.tensors.length + plan.aliases.length, 'tensor');
  const before = `${escapeName(input)}   ${container}, ${names}, ${formatBytes(inputByteLength)}`;
  const findings = renderFindings(report?.findings ?? plan.findings, { shown: SHOWN, indent: '  ', console });
  if (report === undefined) return [before, ...renderPlan(conversion, console), ...findings];
  const digest = report.digests.get('sha256');
  const proof = digest === undefined ? '' : `, sha256 ${shortDigest(digest)}`;
  const after = `${escapeName(output)}   ${formatBytes(report.byteLength)}, ${plural(report.tensors, 'tensor')}${proof}`;
  return [before, after, ...aliasLines(plan), ...leftOutLines(plan, '(--dry-run lists them)'), ...findings];
}

function renderPlan({ output, outputExists = false, plan }: FileConversion, console: Console): readonly string[] {
  const { byteLength, tensors } = plan.output;
  const verb = plan.ok ? 'would write' : console.paint('bad', 'would not write');
  const there = outputExists ? '   (is there already: --force replaces it)' : '';
  const width = longest(tensors.map(({ shape }) => formatShape(shape)), 5);
  const lines = tensors.map(({ dtype, shape, name }) => `  ${dtype.padEnd(6)} ${formatShape(shape).padEnd(width)}  ${showName(name)}`);
  const refused = plan.leftOut.filter(({ severity }) => severity === 'error');
  return [
    `${verb} ${escapeName(output)}   ${formatBytes(byteLength)}, ${plural(tensors.length, 'tensor')}${there}`,
    ...lines,
    ...aliasLines(plan, plan.aliases.length),
    ...plan.leftOut.filter(({ severity }) => severity !== 'error').map((one) => `  left out: ${leftOutLine([one])}${kindOf(one.args)}`),
    ...renderFindings(refused, { indent: '  ', console }),
  ];
}

function kindOf(args: Readonly<Record<string, unknown>>): string {
  const kind = args['class'] ?? args['kind'];
  return typeof kind === 'string' ? `   ${escapeName(kind)}` : '';
}

function aliasLines({ aliases }: ConversionPlan, shown = SHOWN): readonly string[] {
  const lines = aliases
    .slice(0, shown)
    .map(({ name, keptAs }) => `  ${showName(name)} is ${showName(keptAs)}: stored once, recorded as an alias`);
  const rest = aliases.length - lines.length;
  return rest > 0 ? [...lines, `  … ${formatCount(rest)} more names of stored tensors   (--json has them all)`] : lines;
}

function leftOutLines({ leftOut }: ConversionPlan, more: string): readonly string[] {
  const remarked = remarkable(leftOut);
  return remarked.length === 0 ? [] : [`  left out: ${leftOutLine(remarked)}   ${more}`];
}
