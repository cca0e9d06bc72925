import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixtures, runCli, temporaryFolder } from '../support/cli.ts';

const folder = temporaryFolder();
const plain = readFileSync(join(fixtures, 'plain.pt'));
const tuple = readFileSync(join(fixtures, 'tuple.pt'));
const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('standard input', () => {
  it('that is another file is a mismatch with both digests', async () => {
    const { code, stdout } = await runCli(['verify', '-', '--sha256', digest(plain)], { stdin: tuple });
    expect(code).toBe(1);
    expect(stdout).toContain(digest(plain).slice(0, 8));
    expect(stdout).toContain(digest(tuple).slice(0, 8));
  });

  it('that is empty is said to be', async () => {
    const { code, stdout } = await runCli(['verify', '-', '--sha256', digest(plain), '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ findings: [{ code: 'DIGEST_MISMATCH' }, { code: 'FORMAT_EMPTY' }] });
  });

  it('is summed, and verified against those sums', async () => {
    const { stdout } = await runCli(['sums', '-'], { stdin: plain });
    writeFileSync(join(folder, 'SUMS'), stdout);
    expect((await runCli(['verify', '-c', 'SUMS'], { cwd: folder, stdin: plain })).code).toBe(0);
    expect((await runCli(['verify', '-c', 'SUMS'], { cwd: folder, stdin: tuple })).code).toBe(1);
  });

  it('may be the checksum file', async () => {
    writeFileSync(join(folder, 'plain.pt'), plain);
    expect((await runCli(['verify', '-c', '-'], { cwd: folder, stdin: `${digest(plain)}  plain.pt\n` })).code).toBe(0);
    expect((await runCli(['verify', '-c', '-'], { cwd: folder, stdin: `${digest(tuple)}  plain.pt\n` })).code).toBe(1);
  });

  it('is read once: what needs it twice, or from its end, is a usage error', async () => {
    for (const args of [['-', '-'], ['-', '-c', '-'], ['-', '--structure']]) {
      expect((await runCli(['verify', ...args], { stdin: plain })).code).toBe(64);
    }
    expect((await runCli(['convert', join(fixtures, 'plain.pt'), '-o', '-'], { cwd: folder })).code).toBe(64);
  });
});
