import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixtures, runCli, temporaryFolder } from '../support/cli.ts';

const folder = temporaryFolder();
const oid = 'a'.repeat(64);

const bad: readonly (readonly [name: string, bytes: Uint8Array | string, code: string])[] = [
  ['empty.bin', '', 'FORMAT_EMPTY'],
  ['zeros.bin', new Uint8Array(100_000), 'FORMAT_ZEROS'],
  ['pointer.bin', `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 9976576152\n`, 'FORMAT_GIT_LFS_POINTER'],
  ['page.bin', '<!DOCTYPE html><html><head><title>Sign in</title></head><body>no</body></html>', 'FORMAT_HTML'],
  ['error.bin', '{"error":"Repository not found"}', 'FORMAT_JSON'],
  ['packed.bin', gzipSync('weights'), 'FORMAT_ARCHIVE'],
  ['seven.bin', Uint8Array.of(0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c, 0, 4, 1, 2, 3, 4), 'FORMAT_ARCHIVE'],
  ['model.gguf', Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(60, 1)]), 'FORMAT_UNSUPPORTED'],
  ['noise.bin', Uint8Array.from({ length: 500 }, (_, i) => (i * 7919 + 13) % 256), 'FORMAT_UNKNOWN'],
];

describe('what is not weights', () => {
  it.each(bad)('%s: convert, inspect and verify say what it is, and exit 1', async (name, bytes, code) => {
    const place = join(folder, `${name}.d`);
    mkdirSync(place);
    writeFileSync(join(place, name), bytes);
    const converted = await runCli(['convert', name, '-o', 'out.safetensors', '--json'], { cwd: place });
    expect(converted.code).toBe(1);
    expect(JSON.parse(converted.stdout)).toMatchObject({ ok: false, findings: [{ code }] });
    expect(converted.stderr).toMatch(/^assay: .+\n {7}\S/);
    const inspected = await runCli(['inspect', name, '--json'], { cwd: place });
    expect(inspected.code).toBe(1);
    expect(JSON.parse(inspected.stdout)).toMatchObject({ findings: [{ code }] });
    const verified = await runCli(['verify', name], { cwd: place });
    expect(verified.code).toBe(1);
    expect(verified.stdout).toContain('NOT WEIGHTS');
    expect(readdirSync(place)).toEqual([name]);
  });

  it('names the size and digest that an LFS pointer stands for', async () => {
    const { stdout } = await runCli(['verify', join(folder, 'pointer.bin.d', 'pointer.bin')]);
    expect(stdout).toContain('git lfs pull');
  });
});

describe('what is damaged', () => {
  it('a checkpoint cut anywhere is refused by name and leaves no output', async () => {
    const place = join(folder, 'cut');
    mkdirSync(place);
    const whole = readFileSync(join(fixtures, 'plain.pt'));
    for (const share of [0.01, 0.3, 0.6, 0.9, 0.999]) {
      writeFileSync(join(place, 'cut.bin'), whole.subarray(0, Math.floor(whole.length * share)));
      const { code, stdout, stderr } = await runCli(['convert', 'cut.bin', '-o', 'x.safetensors', '--json'], { cwd: place });
      expect([share, code], stderr).toEqual([share, 1]);
      expect((JSON.parse(stdout) as { findings: unknown[] }).findings.length).toBeGreaterThan(0);
      expect(readdirSync(place)).toEqual(['cut.bin']);
    }
  });

  it('one flipped byte of a tensor is a CRC mismatch that names the member', async () => {
    const place = join(folder, 'flip');
    mkdirSync(place);
    const bytes = readFileSync(join(fixtures, 'plain.pt'));
    const at = bytes.indexOf('/data/0') + 200;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(join(place, 'flip.bin'), bytes);
    const converted = await runCli(['convert', 'flip.bin', '-o', 'x.safetensors', '--json'], { cwd: place });
    expect(converted.code).toBe(1);
    expect(JSON.stringify(JSON.parse(converted.stdout))).toContain('CRC_MISMATCH');
    expect(readdirSync(place)).toEqual(['flip.bin']);
    expect((await runCli(['verify', 'flip.bin', '--structure'], { cwd: place })).code).toBe(1);
  });

  it('a safetensors file cut, lengthened or with a broken header is told apart', async () => {
    const place = join(folder, 'tensors');
    mkdirSync(place);
    const file = join(place, 'm.safetensors');
    const whole = readFileSync(join(fixtures, 'golden', 'plain.safetensors'));
    const codes = new Set<string>();
    for (const bytes of [whole.subarray(0, -5), Buffer.concat([whole, Buffer.alloc(3)]), whole.subarray(0, 40)]) {
      writeFileSync(file, bytes);
      const { code, stdout } = await runCli(['verify', file, '--structure', '--json']);
      expect(code).toBe(1);
      codes.add((JSON.parse(stdout) as { findings: { code: string }[] }).findings[0]?.code ?? '');
    }
    expect(codes.size).toBe(3);
  });

  it('a sparse file of zeros as large as a model is read in bounded time', async () => {
    const file = join(folder, 'hole.bin');
    writeFileSync(file, '');
    truncateSync(file, 3 * 2 ** 30);
    const started = Date.now();
    const { code, stdout } = await runCli(['inspect', file, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ findings: [{ code: 'FORMAT_ZEROS' }] });
    expect(Date.now() - started).toBeLessThan(30_000);
  });
});

describe('what is no file', () => {
  it('a missing file is exit 1, and a folder or a pipe is refused without waiting', async () => {
    expect((await runCli(['inspect', join(folder, 'nothing.bin')])).code).toBe(1);
    expect((await runCli(['convert', folder])).code).toBe(1);
    const pipe = join(folder, 'pipe.bin');
    execFileSync('mkfifo', [pipe]);
    for (const command of ['inspect', 'convert', 'verify', 'sums']) {
      expect([command, (await runCli([command, pipe])).code]).toEqual([command, 1]);
    }
  });
});
