import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cliPath, fixtures, nodePath, runCli, temporaryFolder } from '../support/cli.ts';
import { writeLargeCheckpoint } from '../support/large-checkpoint.ts';

const folder = temporaryFolder();

/** As somebody whom permissions bind: tests may run as root, who then gives its privileges up. */
const ordinary = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];

function runOrdinary(args: readonly string[], cwd: string): { readonly status: number | null; readonly stderr: string } {
  const [command = nodePath, ...rest] = [...ordinary, nodePath, cliPath, ...args];
  return spawnSync(command, rest, { encoding: 'utf8', cwd });
}

describe('when the world is in the way', () => {
  it('a full disk is exit 2, with nothing left behind', () => {
    const place = join(folder, 'full');
    mkdirSync(place);
    const input = join(folder, 'large.bin');
    writeLargeCheckpoint(input, { tensors: 4, megabytes: 8 });
    // A limit on the size of files stands in for a disk that fills up half-way; it is given in blocks of 1 KiB.
    const command = `ulimit -f 16384; exec "${nodePath}" "${cliPath}" convert "${input}" -o x.safetensors`;
    const { status, stderr, stdout } = spawnSync('bash', ['-c', command], { encoding: 'utf8', cwd: place });
    expect([status, stdout], stderr).toEqual([2, '']);
    expect(stderr).toMatch(/^assay: .+\n {7}\S/);
    expect(readdirSync(place)).toEqual([]);
  });

  it('a file that may not be read is exit 2, for every command', () => {
    const place = join(folder, 'unreadable');
    mkdirSync(place);
    copyFileSync(join(fixtures, 'plain.pt'), join(place, 'secret.bin'));
    chmodSync(join(place, 'secret.bin'), 0o000);
    for (const args of [['inspect', 'secret.bin'], ['convert', 'secret.bin', '-o', 'x.safetensors'], ['verify', 'secret.bin', '--structure'], ['sums', 'secret.bin']]) {
      const { status, stderr } = runOrdinary(args, place);
      expect([args[0], status], stderr).toEqual([args[0], 2]);
    }
    expect(readdirSync(place)).toEqual(['secret.bin']);
  });

  it('a folder that may not be written is exit 2, with nothing left behind', () => {
    const place = join(folder, 'closed');
    mkdirSync(place);
    copyFileSync(join(fixtures, 'plain.pt'), join(place, 'model.bin'));
    chmodSync(place, 0o555);
    const { status, stderr } = runOrdinary(['convert', 'model.bin'], place);
    expect(status, stderr).toBe(2);
    expect(readdirSync(place)).toEqual(['model.bin']);
    chmodSync(place, 0o755);
  });

  it('one unreadable file of a list does not hide the others: damage found elsewhere is exit 1, else it is exit 2', async () => {
    const place = join(folder, 'list');
    mkdirSync(place);
    for (const name of ['a', 'b']) writeFileSync(join(place, name), name);
    const { stdout } = await runCli(['sums', 'a', 'b'], { cwd: place });
    writeFileSync(join(place, 'SHA256SUMS'), stdout);
    chmodSync(join(place, 'a'), 0o000);
    expect(runOrdinary(['verify', '-c', 'SHA256SUMS'], place).status).toBe(2);
    writeFileSync(join(place, 'b'), 'changed');
    expect(runOrdinary(['verify', '-c', 'SHA256SUMS'], place).status).toBe(1);
  });
});
