/**
 * The readmes are true: their JavaScript runs, and their sessions print what they show.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommand } from './commands.ts';
import { packages, root } from './workspace.ts';

// Below the tests, so that packages are found by name.
const cache = join(root, 'test/node_modules/.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'readme-'));
afterAll(() => rmSync(folder, { recursive: true }));

const readmes = ['README.md', ...packages.map((one) => `packages/${one.folder}/README.md`)];
const blocksOf = (readme: string, language: string): string[] =>
  [...readFileSync(join(root, readme), 'utf8').matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);

const programs = readmes.flatMap((readme) => blocksOf(readme, 'js').map((text, index) => ({ readme, index, text })));
const sessions = blocksOf('README.md', 'console').map((text, index) => ({ index, text }));

/** An empty folder with the checkpoints that the readmes speak of. */
function makeFolder(name: string): string {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  copyFileSync(join(root, 'test/fixtures/plain.pt'), join(cwd, 'plain.pt'));
  for (const file of ['pytorch_model.bin', 'SHA256SUMS', 'model.safetensors.sha256']) {
    copyFileSync(join(root, 'examples/checkpoint', file), join(cwd, file));
  }
  return cwd;
}

it('every package and the repository show code that runs', () => {
  expect([...new Set(programs.map(({ readme }) => readme))]).toEqual(readmes);
});

describe.each(programs)('$readme, program $index', ({ readme, index, text }) => {
  it('runs and prints what its comments say', async () => {
    const cwd = makeFolder(`program-${readmes.indexOf(readme)}-${index}`);
    writeFileSync(join(cwd, 'program.mjs'), text);
    const outcome = await runCommand(process.execPath, ['program.mjs'], { cwd });
    expect(outcome, outcome.stderr).toMatchObject({ code: 0, stderr: '' });
    const printed = text.split('\n').flatMap((line) => /^ *console\.log\(.*\); \/\/ (?!before)(.*)$/.exec(line)?.[1] ?? []);
    for (const comment of printed) {
      for (const part of comment.split('…').map((piece) => piece.trim())) expect(outcome.stdout.replaceAll('\n', ' ').replaceAll(/ +/g, ' ')).toContain(part);
    }
  });
});

// One folder for all: a session goes on where the last one ended. ASSAY_UPDATE_README=1 writes what is printed into README.md.
describe.skipIf(process.platform !== 'linux')('the sessions of README.md, by a shell and coreutils', () => {
  const cwd = makeFolder('session');
  const assay = join(root, 'packages/cli/bin/assay.js');
  const update = process.env['ASSAY_UPDATE_README'] !== undefined;

  it.each(sessions)('session $index prints what it shows', async ({ text }) => {
    let printed = '';
    for (const [, command = '', shown = ''] of text.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
      const outcome = await runCommand('sh', ['-c', `{ ${command.replaceAll(/\bassay /g, `"${process.execPath}" "${assay}" `)}; } 2>&1`], { cwd });
      printed += `$ ${command}\n${outcome.stdout}`;
      if (!update) expect(outcome.stdout, command).toMatch(patternOf(shown));
    }
    if (update) {
      const readme = readFileSync(join(root, 'README.md'), 'utf8');
      writeFileSync(join(root, 'README.md'), readme.replace(text, () => printed));
    }
  });
});

/** What is shown, with `…` for anything. */
function patternOf(shown: string): RegExp {
  const escaped = shown.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*?')}$`, 's');
}
