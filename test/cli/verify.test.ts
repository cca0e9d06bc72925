import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixtures, runCli, temporaryFolder } from '../support/cli.ts';

const folder = temporaryFolder();
const hash = (algorithm: string, bytes: Uint8Array): string => createHash(algorithm).update(bytes).digest('hex');
const bytes = readFileSync(join(fixtures, 'plain.pt'));
const sha256 = hash('sha256', bytes);

function place(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  copyFileSync(join(fixtures, 'plain.pt'), join(path, 'model.bin'));
  return path;
}

describe('assay verify', () => {
  it('exits 0 for the right digest in any case, 1 for a wrong one with both shown', async () => {
    const cwd = place('digest');
    const right = await runCli(['verify', 'model.bin', '--sha256', sha256.toUpperCase()], { cwd });
    expect([right.code, right.stderr]).toEqual([0, '']);
    expect((await runCli(['verify', 'model.bin', '--md5', hash('md5', bytes)], { cwd })).code).toBe(0);
    const wrong = await runCli(['verify', 'model.bin', '--sha256', 'f'.repeat(64)], { cwd });
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toContain(sha256.slice(0, 8));
    expect(wrong.stdout).toContain('ffffffff');
    const { findings } = JSON.parse((await runCli(['verify', 'model.bin', '--sha256', 'f'.repeat(64), '--json'], { cwd })).stdout) as {
      findings: { code: string; args: { found: string; expected: string } }[];
    };
    expect(findings[0]).toMatchObject({ code: 'DIGEST_MISMATCH', args: { found: sha256, expected: 'f'.repeat(64) } });
  });

  it('says UNVERIFIED and exits 1 without any expectation, 0 with --structure', async () => {
    const cwd = place('structure');
    const alone = await runCli(['verify', 'model.bin'], { cwd });
    expect(alone.code).toBe(1);
    expect(alone.stdout).toContain('UNVERIFIED');
    expect((await runCli(['verify', 'model.bin', '--structure'], { cwd })).code).toBe(0);
  });

  it('refuses a digest that is none, and one of another algorithm', async () => {
    const cwd = place('malformed');
    for (const digest of ['zz', sha256.slice(1), hash('sha1', bytes)]) {
      expect((await runCli(['verify', 'model.bin', '--sha256', digest], { cwd })).code).toBe(1);
    }
  });

  it('reads standard input', async () => {
    expect((await runCli(['verify', '-', '--sha256', sha256], { stdin: bytes })).code).toBe(0);
    expect((await runCli(['verify', '-', '--sha256', sha256], { stdin: bytes.subarray(1) })).code).toBe(1);
    expect((await runCli(['sums', '-'], { stdin: bytes })).stdout).toBe(`${sha256}  -\n`);
  });

  it('compares with another copy, and with a checksum file that lists the path', async () => {
    const cwd = place('against');
    writeFileSync(join(cwd, 'copy.bin'), bytes);
    writeFileSync(join(cwd, 'other.bin'), bytes.subarray(0, -1));
    expect((await runCli(['verify', 'model.bin', '--against', 'copy.bin'], { cwd })).code).toBe(0);
    expect((await runCli(['verify', 'model.bin', '--against', 'other.bin'], { cwd })).code).toBe(1);
    writeFileSync(join(cwd, 'SHA256SUMS'), `${sha256}  model.bin\n`);
    expect((await runCli(['verify', 'model.bin', '--against', 'SHA256SUMS'], { cwd })).code).toBe(0);
    expect((await runCli(['verify', 'copy.bin', '--against', 'SHA256SUMS'], { cwd })).code).toBe(1);
  });

  it('agrees with sha256sum in both directions', async () => {
    const cwd = place('both');
    writeFileSync(join(cwd, 'odd\nname\\.bin'), 'odd');
    writeFileSync(join(cwd, ' blank .bin'), 'blank');
    const { stdout } = await runCli(['sums', 'model.bin', 'odd\nname\\.bin', ' blank .bin'], { cwd });
    writeFileSync(join(cwd, 'SHA256SUMS'), stdout);
    execFileSync('sha256sum', ['-c', '--strict', '--status', 'SHA256SUMS'], { cwd });
    expect(stdout).toBe(execFileSync('sha256sum', ['model.bin', 'odd\nname\\.bin', ' blank .bin'], { cwd, encoding: 'utf8' }));
    expect((await runCli(['verify', '-c', 'SHA256SUMS'], { cwd })).code).toBe(0);
    const tagged = await runCli(['sums', 'model.bin', '--algorithm', 'md5', '--tag'], { cwd });
    expect(tagged.stdout).toBe(execFileSync('md5sum', ['--tag', 'model.bin'], { cwd, encoding: 'utf8' }));
    writeFileSync(join(cwd, 'model.bin'), 'changed');
    expect(spawnSync('sha256sum', ['-c', '--status', 'SHA256SUMS'], { cwd }).status).toBe(1);
    const failed = await runCli(['verify', '-c', 'SHA256SUMS'], { cwd });
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain('1 of 3');
  });

  it('finds listed files beside the checksum file when it is run from elsewhere', async () => {
    const cwd = place('elsewhere');
    writeFileSync(join(cwd, 'SHA256SUMS'), `${sha256}  model.bin\n`);
    expect((await runCli(['verify', '-c', join(cwd, 'SHA256SUMS')], { cwd: folder })).code).toBe(0);
  });

  it('exits 1 when a listed file is missing, and when nothing was verified', async () => {
    const cwd = place('missing');
    writeFileSync(join(cwd, 'SHA256SUMS'), `${sha256}  model.bin\n${sha256}  gone.bin\n`);
    const missing = await runCli(['verify', '-c', 'SHA256SUMS'], { cwd });
    expect(missing.code).toBe(1);
    expect(missing.stdout).toContain('MISSING');
    expect((await runCli(['verify', '-c', 'SHA256SUMS', '--ignore-missing'], { cwd })).code).toBe(0);
    writeFileSync(join(cwd, 'NONE'), `${sha256}  gone.bin\n`);
    expect((await runCli(['verify', '-c', 'NONE', '--ignore-missing'], { cwd })).code).toBe(1);
    writeFileSync(join(cwd, 'EMPTY'), '');
    expect((await runCli(['verify', '-c', 'EMPTY'], { cwd })).code).toBe(1);
  });

  it('digests every file below a folder, in order', async () => {
    const cwd = place('tree');
    mkdirSync(join(cwd, 'sub'));
    for (const name of ['b', 'a']) writeFileSync(join(cwd, 'sub', name), name);
    const { stdout, code } = await runCli(['sums', '.'], { cwd });
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.slice(66))).toEqual(['model.bin', 'sub/a', 'sub/b', '']);
  });
});
