/**
 * Each rule about imports and forbidden words fires on a file that breaks it, and only there.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTool } from './commands.ts';
import { layers, packages, root } from './workspace.ts';

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

const folder = mkdtempSync(join(tmpdir(), 'assay-lint-'));
afterAll(() => rmSync(folder, { recursive: true }));

const layerOf = ({ folder: name }: { readonly folder: string }): number => layers.get(name) ?? Number.NaN;
/** What `node` could import by its layer, but must not: it only implements ports. */
const notForNode = ['safetensors', 'verify', 'convert'];

const imports = (name: string): string => `import * as it from '${name}';\nexport default it;\n`;
const uses = (name: string): string => `console.log(${name});\n`;

/** Every pair of packages, with whether the first may import the second. */
const pairs = packages.flatMap((from) =>
  packages.map((to) => ({
    from: from.folder,
    to: to.manifest.name,
    allowed: layerOf(to) < layerOf(from) && !(from.folder === 'node' && notForNode.includes(to.folder)),
  })),
);

const rooms = ['core', 'safetensors', 'formats', 'verify', 'convert'];
const all = [...layers.keys()];
const outside = ['test', 'benchmarks', 'examples'];

/** A rule, the text that breaks it and where. */
const violations: readonly { rule: string; where: readonly string[]; what: string; text: string }[] = [
  ...['./index.ts', '../index.ts', '../../index.ts'].map((what) => ({ rule: 'no-restricted-imports', where: all, what, text: imports(what) })),
  ...['../../formats/src/detect.ts', '../../../core/src/index.ts'].map((what) => ({ rule: 'no-restricted-imports', where: all, what, text: imports(what) })),
  ...['node:fs', 'node:fs/promises', 'fs', 'some-stranger'].map((what) => ({ rule: 'no-restricted-imports', where: rooms, what, text: imports(what) })),
  { rule: 'no-restricted-imports', where: all, what: 'a re-export of a stranger', text: `export * from 'some-stranger';\n` },
  { rule: 'no-restricted-imports', where: all, what: 'a dynamic import of a stranger', text: `export const it = import('some-stranger');\n` },
  { rule: 'no-restricted-imports', where: outside, what: 'a relative path into a package', text: imports('../packages/core/src/codes.ts') },
  { rule: 'no-restricted-imports', where: [...outside, 'node', 'cli'], what: 'openAsBlob by name', text: `import { openAsBlob } from 'node:fs';\nexport default openAsBlob;\n` },
  { rule: 'no-restricted-properties', where: [...outside, 'node', 'cli'], what: 'fs.openAsBlob', text: `import * as fs from 'node:fs';\nexport default fs.openAsBlob;\n` },
  ...['Buffer', 'process', 'document', 'window'].map((what) => ({ rule: 'no-restricted-globals', where: rooms, what, text: uses(what) })),
  ...['DisposableStack', 'AsyncDisposableStack', 'SuppressedError'].flatMap((what) => [
    { rule: 'no-restricted-globals', where: [...all, ...outside], what: `new ${what}`, text: uses(`new ${what}()`) },
    { rule: 'no-restricted-types', where: [...all, ...outside], what: `the type ${what}`, text: `export declare const it: ${what};\n` },
  ]),
  { rule: 'no-explicit-any', where: [...all, ...outside], what: 'any', text: 'export declare const it: any;\n' },
  { rule: 'no-floating-promises', where: [...all, ...outside], what: 'a promise that nobody awaits', text: 'Promise.resolve(1);\n' },
  { rule: 'no-namespace', where: all, what: 'a namespace', text: 'export namespace It { export const value = 1; }\n' },
  { rule: 'no-default-export', where: all, what: 'a default export', text: 'export default 1;\n' },
  { rule: 'max-lines', where: all, what: 'more than 400 lines', text: '// A line.\n'.repeat(401) },
];

const cases = violations.flatMap(({ where, ...violation }) => where.map((place) => ({ place, ...violation })));
const fileOf = (place: string, index: number | string): string =>
  outside.includes(place) ? `${place}/broken-${index}.ts` : `packages/${place}/src/broken-${index}.ts`;

/** Rules broken by file. */
const broken = new Map<string, string[]>();

beforeAll(async () => {
  cpSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: join(root, 'tsconfig.base.json') }));
  const files = [
    ...cases.map(({ place, text }, index) => [fileOf(place, index), text] as const),
    ...pairs.map(({ from, to }) => [fileOf(from, `pair-${to.replace('/', '-')}`), imports(to)] as const),
  ];
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { stdout } = await runTool('oxlint', ['--format', 'json'], { cwd: folder });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] };
  for (const { code, filename } of diagnostics) {
    const path = filename.replaceAll('\\', '/');
    broken.set(path, [...(broken.get(path) ?? []), code]);
  }
});

const rulesBrokenBy = (path: string): string[] => (broken.get(path) ?? []).map((code) => /\(([^)]*)\)$/.exec(code)?.[1] ?? code);

describe('the layers', () => {
  it.each(pairs.filter(({ allowed }) => !allowed))('$from may not import $to', ({ from, to }) => {
    expect(rulesBrokenBy(fileOf(from, `pair-${to.replace('/', '-')}`))).toContain('no-restricted-imports');
  });
  it.each(pairs.filter(({ allowed }) => allowed))('$from may import $to', ({ from, to }) => {
    expect(rulesBrokenBy(fileOf(from, `pair-${to.replace('/', '-')}`))).not.toContain('no-restricted-imports');
  });
});

describe('the rules', () => {
  it.each(cases.map((one, index) => ({ ...one, index })))('$place may not contain $what ($rule)', ({ place, index, rule }) => {
    expect(rulesBrokenBy(fileOf(place, index))).toContain(rule);
  });
});

describe('the compiler', () => {
  it('refuses what a platform alone has, in layers 0 to 3', async () => {
    const probe = join(folder, 'probe');
    mkdirSync(probe);
    writeFileSync(join(probe, 'package.json'), '{ "type": "module" }');
    const missing = ['Buffer.from([])', 'process.exit()', 'document.title', 'window.name', `import('node:fs')`, `import('@assay/node')`];
    missing.forEach((expression, index) => writeFileSync(join(probe, `missing-${index}.ts`), `export const it: unknown = ${expression};\n`));
    writeFileSync(join(probe, 'there.ts'), 'export const it: unknown = [AbortSignal, TextDecoder, TransformStream, Blob, structuredClone];\nexport type Gpu = GPUDevice;\n');
    writeFileSync(join(probe, 'tsconfig.json'), JSON.stringify({ extends: join(root, 'tsconfig.base.json'), compilerOptions: { noEmit: true, composite: false } }));
    const { stdout } = await runTool('typescript', ['--project', probe], { cwd: probe });
    const refused = [...stdout.matchAll(/^([\w-]+)\.ts\(/gm)].map(([, name = '']) => name);
    expect([...new Set(refused)].sort()).toEqual(missing.map((_, index) => `missing-${index}`));
  });
});
