import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeLargeCheckpoint } from '../support/large-checkpoint.ts';
import { runCli, temporaryFolder } from '../support/cli.ts';

const folder = temporaryFolder();
const input = join(folder, 'large.bin');
writeLargeCheckpoint(input, { tensors: 12, megabytes: 24 });
const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function untilWriting(place: string): Promise<void> {
  for (let turn = 0; turn < 2000 && readdirSync(place).length === 0; turn += 1) await pause(2);
}

describe('a conversion that is stopped', () => {
  it('by Ctrl-C exits 130 and removes its temporary file', async () => {
    const place = join(folder, 'sigint');
    mkdirSync(place);
    const { code, stderr } = await runCli(['convert', input, '-o', join(place, 'x.safetensors')], {
      onStart: (child) => void untilWriting(place).then(() => child.kill('SIGINT')),
    });
    expect([code, stderr.split('\n').length]).toEqual([130, 2]);
    expect(readdirSync(place)).toEqual([]);
  });

  it('by SIGKILL at any moment leaves the old file or the whole new one', async () => {
    const place = join(folder, 'sigkill');
    mkdirSync(place);
    const output = join(place, 'x.safetensors');
    expect((await runCli(['convert', input, '-o', output])).code).toBe(0);
    const whole = sha256(output);
    for (let after = 60; after <= 700; after += 80) {
      writeFileSync(output, 'old');
      await runCli(['convert', input, '-o', output, '--force'], { onStart: (child) => void pause(after).then(() => child.kill('SIGKILL')) });
      const left = statSync(output).size === 3 ? 'old' : sha256(output);
      expect(['old', whole]).toContain(left);
    }
    expect((await runCli(['convert', input, '-o', output, '--force'])).code).toBe(0);
    expect(readdirSync(place)).toEqual(['x.safetensors']);
  });

  it('by an output that appears meanwhile refuses to replace it', async () => {
    const place = join(folder, 'appears');
    mkdirSync(place);
    const output = join(place, 'x.safetensors');
    const { code, stderr } = await runCli(['convert', input, '-o', output], {
      onStart: () => void untilWriting(place).then(() => writeFileSync(output, 'mine')),
    });
    expect([code, readFileSync(output, 'utf8')], stderr).toEqual([1, 'mine']);
    expect(readdirSync(place)).toEqual(['x.safetensors']);
  });

  it.each(['pread', 'mmap'])('by a source that is cut while it is read (%s) exits 2 and leaves nothing', async (reader) => {
    const place = join(folder, `cut-${reader}`);
    mkdirSync(place);
    const source = join(folder, `cut-${reader}.bin`);
    writeLargeCheckpoint(source, { tensors: 12, megabytes: 24 });
    const output = join(place, 'x.safetensors');
    const { code, stderr } = await runCli(['convert', source, '-o', output, '--reader', reader], {
      onStart: () => void untilWriting(place).then(() => truncateSync(source, 1 << 20)),
    });
    expect(code, stderr).toBe(2);
    expect(stderr).toMatch(/^assay: .+\n {7}\S/);
    expect(existsSync(output)).toBe(false);
    expect(readdirSync(place)).toEqual([]);
  });
});
