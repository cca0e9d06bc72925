/**
 * What is published: every package is packed, looked through, and installed in an empty folder by npm.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, runNpm, runTool, type Outcome } from './commands.ts';
import { filesBelow, packages, readManifest, root, type Manifest } from './workspace.ts';

const folder = mkdtempSync(join(tmpdir(), 'assay-pack-'));
afterAll(() => rmSync(folder, { recursive: true }));

const tarballOf = ({ name, version }: Manifest): string =>
  join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
const named = packages.map((one) => ({ name: one.manifest.name, one }));

beforeAll(async () => {
  const { packageManager = '' } = readManifest(root);
  const args = ['--recursive', '--filter', './packages/*', 'pack', '--pack-destination', folder];
  const { code, stderr, stdout } = await runNpm(['exec', '--yes', '--prefer-offline', '--', packageManager, ...args], { cwd: root });
  if (code !== 0) throw new Error(`pnpm pack failed:\n${stdout}\n${stderr}`);
}, 120_000);

describe.each(named)('the tarball of $name', ({ one: { path, manifest } }) => {
  it('holds the source, its build and nothing else', () => {
    const source = filesBelow(join(path, 'src'));
    expect(source.filter((name) => !name.endsWith('.ts') || name.includes('.test.'))).toEqual([]);
    // A file of dist without its source is a leftover: npm run clean removes it.
    const built = source.flatMap((name) => ['.js', '.js.map', '.d.ts', '.d.ts.map'].map((end) => name.replace(/\.ts$/, end)));
    const expected = [
      'LICENSE',
      'README.md',
      'package.json',
      ...Object.values(manifest.bin ?? {}),
      ...source.map((name) => `src/${name}`),
      ...built.map((name) => `dist/${name}`),
    ];
    expect([...readTar(tarballOf(manifest)).keys()].sort()).toEqual(expected.sort());
  });

  it('depends on our other packages by their exact version', () => {
    const packed = JSON.parse(readTar(tarballOf(manifest)).get('package.json')?.toString() ?? '') as Manifest;
    const ours = new Set(packages.map((one) => one.manifest.name));
    for (const [name, range] of Object.entries(packed.dependencies ?? {})) {
      if (ours.has(name)) expect(range, name).toBe(manifest.version);
      expect(range).not.toContain('workspace:');
    }
  });

  it('pleases publint', async () => {
    const bytes = readFileSync(tarballOf(manifest));
    const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    expect((await publint({ pack: { tarball }, strict: true })).messages).toEqual([]);
  });

  it('has types that every ES module user resolves', async () => {
    const outcome = await runTool('@arethetypeswrong/cli', [tarballOf(manifest), '--profile', 'esm-only', '--no-definitely-typed', '--no-color']);
    expect(outcome, outcome.stdout).toMatchObject({ code: 0 });
  });
});

describe('the packages, installed by npm in an empty folder', () => {
  const project = join(folder, 'project');
  const assay = (...args: string[]): Promise<Outcome> =>
    runCommand(process.execPath, [join(project, 'node_modules/assay/bin/assay.js'), ...args], { cwd: project });

  beforeAll(async () => {
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    const flags = ['--prefer-offline', '--no-audit', '--no-fund'];
    const { code, stderr } = await runNpm(['install', ...flags, ...packages.map(({ manifest }) => tarballOf(manifest))], { cwd: project });
    if (code !== 0) throw new Error(`npm install failed:\n${stderr}`);
  }, 300_000);

  it('answer `npx assay --version`', async () => {
    const outcome = await runNpm(['exec', '--no', '--', 'assay', '--version'], { cwd: project });
    expect(outcome).toMatchObject({ code: 0, stdout: `${packages[0]?.manifest.version}\n` });
  });

  it('convert a checkpoint to its golden', async () => {
    copyFileSync(join(root, 'test/fixtures/plain.pt'), join(project, 'plain.pt'));
    const outcome = await assay('convert', 'plain.pt', '-o', 'plain.safetensors', '--no-progress');
    expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    expect(sha256(join(project, 'plain.safetensors'))).toBe(sha256(join(root, 'test/fixtures/golden/plain.safetensors')));
    expect(readdirSync(project).sort()).toEqual(['node_modules', 'package-lock.json', 'package.json', 'plain.pt', 'plain.safetensors']);
  });

  it('can be imported by name', async () => {
    const imports = packages.map(({ manifest }, index) => `import * as package${index} from '${manifest.name}';`);
    const sizes = packages.map((_, index) => `Object.keys(package${index}).length > 0`);
    writeFileSync(join(project, 'all.js'), `${imports.join('\n')}\nconsole.log([${sizes.join(', ')}].every(Boolean));\n`);
    expect(await runCommand(process.execPath, ['all.js'], { cwd: project })).toMatchObject({ code: 0, stdout: 'true\n', stderr: '' });
  });
});

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** The files of a packed package, without the folder that npm puts around them. */
function readTar(path: string): Map<string, Buffer> {
  const bytes = gunzipSync(readFileSync(path));
  const files = new Map<string, Buffer>();
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0; ) {
    const text = (from: number, to: number): string => bytes.toString('utf8', at + from, at + to).replace(/\0.*$/s, '');
    const prefix = text(345, 500);
    const name = prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`;
    const size = Number.parseInt(text(124, 136), 8);
    const isFile = text(156, 157) === '0' || text(156, 157) === '';
    if (!isFile) throw new Error(`${basename(path)} holds ${name}, which is no plain file`);
    files.set(name.replace(/^package\//, ''), bytes.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
