import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixtures, runCli, temporaryFolder } from '../support/cli.ts';

interface Fixture {
  readonly file: string;
  readonly expect: 'converts' | 'refused';
  readonly golden?: string;
}

const list = JSON.parse(readFileSync(join(fixtures, 'fixtures.json'), 'utf8')) as Fixture[];
const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
const folder = temporaryFolder();
const plain = join(fixtures, list.find(({ expect: wanted }) => wanted === 'converts')?.file ?? '');

function freshFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

describe('assay convert', () => {
  it('turns fixtures into their goldens, byte for byte, one run each', async () => {
    const out = freshFolder('goldens');
    const converts = list.filter(({ expect: wanted }) => wanted === 'converts');
    expect(converts.length).toBeGreaterThan(80);
    const differing: string[] = [];
    for (const [index, { file, golden }] of converts.entries()) {
      const output = join(out, `${index}.safetensors`);
      // All of them are in the next test: a process for each would take a minute.
      if (index % 6 !== 0) continue;
      const { code, stderr } = await runCli(['convert', join(fixtures, file), '-o', output]);
      if (code !== 0 || sha256(output) !== sha256(join(fixtures, golden ?? ''))) differing.push(`${file}: ${code} ${stderr}`);
    }
    expect(differing).toEqual([]);
  });

  it('turns all fixtures into their goldens in one run', async () => {
    const out = freshFolder('many');
    const converts = list.filter(({ expect: wanted }) => wanted === 'converts');
    const byOutput = new Map(converts.map((fixture) => [basename(fixture.file).replace(/\.[^.]+$/, ''), fixture]));
    const inputs = [...byOutput.values()].map(({ file }) => join(fixtures, file));
    const { code, stderr, stdout } = await runCli(['convert', ...inputs, '-o', out, '--json']);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const { files } = JSON.parse(stdout) as { files: { input: string; output: string }[] };
    const differing = files.filter(({ input, output }) => {
      const golden = converts.find(({ file }) => file === basename(input))?.golden ?? '';
      return sha256(output) !== sha256(join(fixtures, golden));
    });
    expect(differing).toEqual([]);
    expect(files.length).toBe(inputs.length);
  });

  it('refuses what cannot be converted with exit 1, two lines and nothing left behind', async () => {
    const out = freshFolder('refused');
    for (const { file } of list.filter(({ expect: wanted }) => wanted === 'refused')) {
      const { code, stdout, stderr } = await runCli(['convert', join(fixtures, file), '-o', join(out, 'x.safetensors')]);
      expect([file, code], stderr).toEqual([file, 1]);
      expect(stderr, file).toMatch(/^assay: .+\n {7}\S/);
      expect(stderr, file).not.toMatch(/\n\s+at /);
      expect(stdout).toBe('');
      expect(readdirSync(out), file).toEqual([]);
    }
  });

  it('names the output after the habits of the field, beside the input', async () => {
    const place = freshFolder('names');
    copyFileSync(plain, join(place, 'pytorch_model.bin'));
    const { code, stdout } = await runCli(['convert', 'pytorch_model.bin'], { cwd: place });
    expect(code).toBe(0);
    expect(stdout).toContain('model.safetensors');
    expect(readdirSync(place).sort()).toEqual(['model.safetensors', 'pytorch_model.bin']);
  });

  it('leaves an existing output alone without --force, and replaces it with', async () => {
    const place = freshFolder('existing');
    const output = join(place, 'x.safetensors');
    writeFileSync(output, 'mine');
    const refused = await runCli(['convert', plain, '-o', output, '--json']);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({ ok: false, findings: [{ code: 'SINK_EXISTS' }] });
    expect(readFileSync(output, 'utf8')).toBe('mine');
    expect((await runCli(['convert', plain, '-o', output, '--force'])).code).toBe(0);
    expect(readFileSync(output).length).toBeGreaterThan(4);
    expect(readdirSync(place)).toEqual(['x.safetensors']);
  });

  it('never writes over an input, whatever name or link it is given by', async () => {
    const place = freshFolder('input');
    const input = join(place, 'a.bin');
    copyFileSync(plain, input);
    linkSync(input, join(place, 'hard.safetensors'));
    symlinkSync('a.bin', join(place, 'soft.safetensors'));
    const before = sha256(input);
    for (const output of ['a.bin', 'hard.safetensors', 'soft.safetensors']) {
      const { code, stderr } = await runCli(['convert', input, '-o', join(place, output), '--force']);
      expect([output, code], stderr).toEqual([output, 1]);
    }
    expect(sha256(input)).toBe(before);
    expect(readdirSync(place).sort()).toEqual(['a.bin', 'hard.safetensors', 'soft.safetensors']);
  });

  it('shows its plan as JSON and writes nothing on a dry run', async () => {
    const place = freshFolder('dry');
    copyFileSync(plain, join(place, 'model.bin'));
    const { code, stdout } = await runCli(['convert', 'model.bin', '--dry-run', '--json'], { cwd: place });
    expect(code).toBe(0);
    const { plan, schema } = JSON.parse(stdout) as { schema: string; plan: { output: { tensors: { start: number; end: number }[] } } };
    expect(schema).toBe('assay.convert/1');
    expect(plan.output.tensors.length).toBeGreaterThan(0);
    expect(readdirSync(place)).toEqual(['model.bin']);
  });

  it('opens a pickle named .safetensors as what it is, and asks where to write', async () => {
    const place = freshFolder('misnamed');
    copyFileSync(plain, join(place, 'model.safetensors'));
    const refused = await runCli(['convert', 'model.safetensors'], { cwd: place });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('-o model-fixed.safetensors');
    const done = await runCli(['convert', 'model.safetensors', '-o', 'model-fixed.safetensors'], { cwd: place });
    expect(done.code).toBe(0);
    expect(readdirSync(place).sort()).toEqual(['model-fixed.safetensors', 'model.safetensors']);
  });

  it('says that there is nothing to convert in a safetensors file named .bin', async () => {
    const place = freshFolder('nothing');
    const golden = list.find(({ golden: path }) => path !== undefined)?.golden ?? '';
    copyFileSync(join(fixtures, golden), join(place, 'model.bin'));
    const { code, stdout } = await runCli(['convert', 'model.bin', '--json'], { cwd: place });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ findings: [{ code: 'CONVERT_NOTHING_TO_DO' }] });
    expect(readdirSync(place)).toEqual(['model.bin']);
    expect((await runCli(['verify', 'model.bin', '--structure'], { cwd: place })).code).toBe(0);
    expect((await runCli(['inspect', 'model.bin'], { cwd: place })).stdout).toContain('safetensors');
  });

  it('wants an output of its own for an input inside a download cache', async () => {
    const place = join(freshFolder('cache'), 'models--org--name', 'snapshots', 'abc');
    mkdirSync(place, { recursive: true });
    copyFileSync(plain, join(place, 'pytorch_model.bin'));
    const { code, stderr } = await runCli(['convert', join(place, 'pytorch_model.bin')]);
    expect(code).toBe(1);
    expect(stderr).toContain('-o');
    expect(readdirSync(place)).toEqual(['pytorch_model.bin']);
  });

  it('refuses outputs whose names collide before anything is written', async () => {
    const place = freshFolder('collide');
    for (const name of ['a.bin', 'a.pt']) copyFileSync(plain, join(place, name));
    const out = join(place, 'out');
    mkdirSync(out);
    const { code, stdout } = await runCli(['convert', 'a.bin', 'a.pt', '-o', 'out', '--json'], { cwd: place });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'CONVERT_OUTPUT_COLLISION' } });
    expect(readdirSync(out)).toEqual([]);
  });

  it('converts what it can of several inputs and exits 1 for the one that it cannot', async () => {
    const out = freshFolder('several');
    const bad = join(folder, 'empty.bin');
    writeFileSync(bad, '');
    const { code, stderr } = await runCli(['convert', bad, plain, '-o', out]);
    expect(code).toBe(1);
    expect(stderr).toContain('empty');
    expect(readdirSync(out).length).toBe(1);
  });

  it('reports a folder that is not there as the output', async () => {
    const { code } = await runCli(['convert', plain, '-o', join(folder, 'no', 'such', 'x.safetensors')]);
    expect(code).not.toBe(0);
    expect(existsSync(join(folder, 'no'))).toBe(false);
  });

  it('streams events with --ndjson, the last of them the result', async () => {
    const output = join(freshFolder('events'), 'x.safetensors');
    const { stdout } = await runCli(['convert', plain, '-o', output, '--ndjson']);
    const events = stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as { event: string; ok?: boolean });
    expect(events.at(-1)).toMatchObject({ event: 'result', ok: true, schema: 'assay.convert/1' });
    expect(events.some(({ event }) => event === 'file')).toBe(true);
  });
});
