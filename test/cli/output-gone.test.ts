import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cliPath, fixtures, nodePath, temporaryFolder } from '../support/cli.ts';
import { writeLargeCheckpoint } from '../support/large-checkpoint.ts';

const folder = temporaryFolder();

/** In a shell, where `assay` is the built command line. */
function shell(command: string): { code: number | null; stdout: string; stderr: string } {
  const script = `assay() { "${nodePath}" "${cliPath}" "$@"; }; ${command}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: folder, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

describe('a result that nobody takes', () => {
  it.each(['--version', '--help', `inspect "${fixtures}plain.pt"`, `sums "${fixtures}plain.pt" --json`])(
    'because the disk behind it is full is exit 2, without a stack trace: %s',
    (args) => {
      const { code, stderr } = shell(`assay ${args} > /dev/full`);
      expect(code).toBe(2);
      expect(stderr).not.toMatch(/ at |node:/);
    },
  );

  it('because a pipe is closed ends quietly', () => {
    const { code, stdout, stderr } = shell(`assay inspect "${fixtures}wide.pt" --all | head -1; exit \${PIPESTATUS[0]}`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('wide.pt');
  });

  it('because standard error is closed or full changes no exit code', () => {
    expect(shell('assay inspect nothing 2>&-').code).toBe(1);
    expect(shell('assay inspect nothing 2>/dev/full').code).toBe(1);
  });

  it('in the middle of a conversion leaves no temporary file', () => {
    writeLargeCheckpoint(join(folder, 'large.bin'), { tensors: 12, megabytes: 24 });
    for (const sink of ['| head -c 1', '> /dev/full']) {
      mkdirSync(join(folder, 'out'), { recursive: true });
      shell(`assay convert large.bin -o out/x.safetensors --ndjson --force ${sink}`);
      expect(readdirSync(join(folder, 'out')).filter((name) => name !== 'x.safetensors')).toEqual([]);
    }
  });
});
