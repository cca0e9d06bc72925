/**
 * What every package.json promises: its layer, its dependencies, what it ships, and one version for all.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { layers, packages, readManifest, root } from './workspace.ts';

/** Every dependency that is not ours, and why it is worth having. */
const allowed: ReadonlyMap<string, readonly { readonly name: string; readonly why: string }[]> = new Map([
  ['core', [{ name: 'hash-wasm', why: 'digests where there is no native one, and digests that can be suspended' }]],
  [
    'node',
    [
      { name: 'piscina', why: 'a pool of worker threads that survives the death of one' },
      { name: 'koffi', why: 'mmap and copy_file_range; optional, everything works without it' },
    ],
  ],
  [
    'cli',
    [
      { name: 'commander', why: 'parsing of the command line' },
      { name: 'cli-progress', why: 'progress bars' },
    ],
  ],
]);

const ours = new Map(packages.map((one) => [one.manifest.name, one]));
const license = readFileSync(join(root, 'LICENSE'), 'utf8');
const rootManifest = readManifest(root);
const named = packages.map((one) => ({ name: one.manifest.name, one }));

describe('all packages', () => {
  it('have a layer, and every layer has its package', () => {
    expect(packages.map(({ folder }) => folder)).toEqual([...layers.keys()].sort());
  });

  it('share one version', () => {
    expect([...new Set(packages.map(({ manifest }) => manifest.version))]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+/)]);
  });

  it('are named after their folder, but for two', () => {
    const names = new Map([
      ['safetensors', 'safetensors-js'],
      ['cli', 'assay'],
    ]);
    for (const { folder, manifest } of packages) expect(manifest.name).toBe(names.get(folder) ?? `@assay/${folder}`);
  });

  it('have their version in the changelog', () => {
    const [{ manifest } = { manifest: rootManifest }] = packages;
    expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toContain(`## ${manifest.version}`);
  });
});

describe.each(named)('$name', ({ one: { folder, path, layer, manifest } }) => {
  const own = Object.entries(manifest.dependencies ?? {}).filter(([name]) => ours.has(name));
  const foreign = [...Object.entries(manifest.dependencies ?? {}), ...Object.entries(manifest.optionalDependencies ?? {})].filter(
    ([name]) => !ours.has(name),
  );

  it('depends on lower layers only, each by the exact version of this workspace', () => {
    for (const [name, range] of own) {
      expect(ours.get(name)?.layer, name).toBeLessThan(layer ?? -1);
      expect(range).toBe('workspace:*');
    }
  });

  it('depends on what is on the list only, by exact versions', () => {
    expect(foreign.map(([name]) => name).sort()).toEqual((allowed.get(folder) ?? []).map(({ name }) => name).sort());
    for (const [, range] of foreign) expect(range).toMatch(/^\d+\.\d+\.\d+$/);
    expect(manifest.peerDependencies).toBeUndefined();
  });

  it('is built after what it depends on', () => {
    const { references } = JSON.parse(readFileSync(join(path, 'tsconfig.json'), 'utf8')) as { references: { path: string }[] };
    expect(references.map((reference) => reference.path).sort()).toEqual(own.map(([name]) => `../${ours.get(name)?.folder}`).sort());
  });

  it('is an ES module for Node 20.19 and later, without side effects', () => {
    expect(manifest).toMatchObject({ type: 'module', sideEffects: false, engines: { node: '>=20.19' } });
    expect(rootManifest.engines).toEqual(manifest.engines);
  });

  it('runs nothing when it is installed', () => {
    expect(manifest.scripts ?? {}).toEqual({});
  });

  it('is published openly under Apache-2.0, with the licence, a readme and a description', () => {
    expect(manifest).toMatchObject({ license: 'Apache-2.0', publishConfig: { access: 'public', provenance: true } });
    expect(manifest.private).toBeUndefined();
    expect(manifest.description).toMatch(/^[A-Z].{20,}[^.]$/);
    expect(readFileSync(join(path, 'LICENSE'), 'utf8')).toBe(license);
    expect(existsSync(join(path, 'README.md'))).toBe(true);
  });

  it('exports one entry, with types, and its source by the condition that the tests use', () => {
    expect(Object.entries(manifest.exports ?? {})).toEqual([
      ['.', { '@assay/source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' }],
      ['./package.json', './package.json'],
    ]);
    // Conditions match in their order.
    expect(Object.keys(manifest.exports?.['.'] ?? {})).toEqual(['@assay/source', 'types', 'default']);
  });

  it('ships dist and src, and a command only where it has one', () => {
    const command = folder === 'cli' ? ['bin'] : [];
    expect(manifest.files).toEqual([...command, 'dist', 'src', '!dist/.tsbuildinfo']);
    expect(manifest.bin).toEqual(folder === 'cli' ? { assay: 'bin/assay.js' } : undefined);
  });
});

describe('the root', () => {
  it('pins one pnpm, by which the commands install', () => {
    expect(rootManifest.packageManager).toMatch(/^pnpm@\d+\.\d+\.\d+$/);
    expect(rootManifest.scripts?.['setup']).toContain(`npx --yes --prefer-offline ${rootManifest.packageManager} install --frozen-lockfile`);
  });

  it('uses tools by exact versions', () => {
    for (const [name, range] of Object.entries(rootManifest.devDependencies ?? {})) {
      expect(range, name).toMatch(/^(\d+\.\d+\.\d+|workspace:\*)$/);
    }
  });

  it('builds every package, and type-checks what is around them', () => {
    const referencesOf = (file: string): string[] =>
      (JSON.parse(readFileSync(join(root, file), 'utf8')) as { references: { path: string }[] }).references.map(({ path }) => path);
    expect(referencesOf('tsconfig.json').sort()).toEqual(packages.map(({ folder }) => `packages/${folder}`).sort());
    expect(referencesOf('tsconfig.check.json')).toEqual(['./tsconfig.json', 'test', 'examples', 'benchmarks']);
  });
});
