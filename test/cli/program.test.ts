import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cliPath, fixtures, nodePath, runCli, temporaryFolder } from '../support/cli.ts';

const folder = temporaryFolder();

describe('the command line', () => {
  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(join(cliPath, '../../package.json'), 'utf8')) as { version: string };
    expect(await runCli(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect((await runCli(['-V'])).stdout).toBe(`${version}\n`);
  });

  it('exits 64 for what it does not understand', async () => {
    for (const args of [['frobnicate'], ['convert'], ['convert', 'x', '--no-such'], ['convert', 'x', '--reader', 'telepathy'], ['sums', 'x', '--algorithm', 'rot13'], ['convert', 'x', '--threads', '0'], ['verify'], ['verify', 'a', 'b', '--sha256', 'f'.repeat(64)]]) {
      const { code, stdout, stderr } = await runCli(args);
      expect([args.join(' '), code], stderr).toEqual([args.join(' '), 64]);
      expect(stdout).toBe('');
      expect(stderr).not.toBe('');
    }
  });

  it('shows help that ends in examples', async () => {
    for (const args of [['--help'], ['convert', '--help'], ['verify', '--help'], ['inspect', '--help'], ['sums', '--help']]) {
      const { code, stdout } = await runCli(args);
      expect(code).toBe(0);
      expect(stdout).toContain('Examples:\n  $ assay');
      for (const option of args.length > 1 ? ['--json', '--ndjson', '--quiet', '--no-progress', '--color'] : []) expect(stdout).toContain(option);
    }
  });

  it('shows help when it is called with nothing', async () => {
    const { code, stdout, stderr } = await runCli([]);
    expect(code).toBe(64);
    expect(stdout + stderr).toContain('Usage: assay');
  });

  it('ends quietly when its reader goes away', () => {
    const command = `"${nodePath}" "${cliPath}" inspect --all "${join(fixtures, 'wide.pt')}" | head -n 1`;
    const { status, stdout, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout.split('\n').length).toBe(2);
  });

  it('escapes what a name could do to a terminal, in text, and keeps it exact in JSON', async () => {
    const path = join(folder, 'evil\u001b[31m\u202e.bin');
    writeFileSync(path, '');
    const { stderr, stdout } = await runCli(['inspect', path]);
    expect(stderr + stdout).not.toMatch(/[\u001b\u202e]/);
    const names = await runCli(['inspect', join(fixtures, 'odd-names.pt'), '--all']);
    expect(names.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    const { files } = JSON.parse((await runCli(['inspect', path, '--json'])).stdout) as { files: { path: string }[] };
    expect(files[0]?.path).toBe(path);
  });

  it('prints nothing on stdout with --quiet, and colours only when told to', async () => {
    const golden = join(fixtures, 'golden', 'plain.safetensors');
    expect((await runCli(['inspect', golden, '--quiet'])).stdout).toBe('');
    expect((await runCli(['inspect', golden])).stdout).not.toContain('\u001b');
    expect((await runCli(['inspect', golden, '--color', 'always'])).stdout).toContain('\u001b');
  });

  it('keeps every digit of a dimension above 2^53 in JSON', async () => {
    const header = '{"x":{"dtype":"F32","shape":[0,9007199254740993],"data_offsets":[0,0]}}';
    const path = join(folder, 'wide.safetensors');
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    writeFileSync(path, Buffer.concat([length, Buffer.from(header)]));
    const { code, stdout } = await runCli(['inspect', path, '--json']);
    expect(code).toBe(0);
    expect(stdout).toContain('9007199254740993');
  });
});
