/**
 * What `assay inspect` prints of one file.
 */
import type { Finding, TensorInfo } from '@assay/core';
import type { Console } from '../console.ts';
import type { InspectReport } from '../jobs/inspect.ts';
import { escapeName, showName } from './escape.ts';
import { leftOutLine, remarkable, renderFindings } from './finding.ts';
import { formatBytes, formatCount, formatShape, longest, plural } from './numbers.ts';
import { renderContainer } from './container.ts';

const SHOWN = 20;

/** The lines for stdout. */
export function renderInspection(report: InspectReport, console: Console, { all }: { readonly all: boolean }): readonly string[] {
  if (report.error !== undefined) {
    return [`${escapeName(report.path)}   ${console.paint('bad', 'NOT OPENED')}   ${formatBytes(report.byteLength)}, ${renderContainer(report)}`];
  }
  const { tensors } = report;
  const size = tensors.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const head = [renderContainer(report), plural(tensors.length, 'tensor'), formatBytes(size)].join(', ');
  return [
    `${escapeName(report.path)}   ${head}`,
    ...metadataLines(report.metadata, console),
    ...tensorTable(tensors, all ? tensors.length : SHOWN, console),
    ...leftOutLines(report.leftOut, console),
    ...renderFindings(report.findings, { shown: SHOWN, indent: '  ', console }),
    ...verdict(report),
  ];
}

function metadataLines(metadata: ReadonlyMap<string, string>, console: Console): readonly string[] {
  return [...metadata].slice(0, SHOWN).map(([key, value]) => {
    const text = value.length > 200 ? `${value.slice(0, 200)}…` : value;
    return console.paint('dim', `  ${escapeName(key)} = ${escapeName(text)}`);
  });
}

function tensorTable(tensors: readonly TensorInfo[], shown: number, console: Console): readonly string[] {
  if (tensors.length === 0) return [];
  const rows = tensors.slice(0, shown).map(({ dtype, shape, name }) => [dtype, formatShape(shape), showName(name)] as const);
  const [first, second] = [0, 1].map((column) => longest(rows.map((row) => row[column] ?? ''), 5));
  const line = ([dtype, shape, name]: readonly [string, string, string]): string =>
    `  ${dtype.padEnd(first ?? 0)}  ${shape.padEnd(second ?? 0)}  ${name}`;
  const rest = tensors.length - rows.length;
  return [
    console.paint('dim', line(['DTYPE', 'SHAPE', 'NAME'])),
    ...rows.map(line),
    ...(rest > 0 ? [`  … ${formatCount(rest)} more   (--all lists them)`] : []),
  ];
}

function leftOutLines(leftOut: readonly Finding[], console: Console): readonly string[] {
  const notWeights = remarkable(leftOut).filter(({ severity }) => severity !== 'error');
  const refused = leftOut.filter(({ severity }) => severity === 'error');
  return [
    ...(notWeights.length > 0 ? [`  beside them: ${leftOutLine(notWeights, SHOWN)}`] : []),
    ...renderFindings(refused, { shown: SHOWN, indent: '  ', console, label: 'cannot be converted' }),
  ];
}

function verdict({ kind, leftOut }: InspectReport): readonly string[] {
  if (kind === 'safetensors') return [];
  const refused = leftOut.some(({ severity }) => severity === 'error');
  return [refused ? '  not all of it can be converted' : '  can be converted: assay convert never runs what a pickle asks for'];
}
