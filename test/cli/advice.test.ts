import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cliPath, fixtures, nodePath, runCli, temporaryFolder } from '../support/cli.ts';

const folder = temporaryFolder();

function place(name: string): string {
  const made = join(folder, name);
  mkdirSync(made);
  return made;
}

/** Runs the command that a hint shows after its colon, `assay` being ours. */
function follow(stderr: string, cwd: string): void {
  const command = /: ((?:assay|mkdir|gzip|unzip) .*)$/m.exec(stderr)?.[1];
  if (command === undefined) throw new Error(`no command in ${stderr}`);
  execFileSync('bash', ['-c', `assay() { "${nodePath}" "${cliPath}" "$@"; }; ${command}`], { cwd });
}

describe('the action that an error shows, followed to the letter', () => {
  it('gives a checkpoint under a .safetensors name an output of its own, whatever the name', async () => {
    const cwd = place('misnamed');
    mkdirSync(join(cwd, 'sub'));
    for (const name of ["it's a name.safetensors", 'sub/-x.safetensors', 'new\nline.safetensors']) {
      copyFileSync(join(fixtures, 'plain.pt'), join(cwd, name));
      const { code, stderr } = await runCli(['convert', name], { cwd });
      expect(code).toBe(1);
      follow(stderr, cwd);
    }
    expect(readdirSync(cwd).filter((name) => name.endsWith('-fixed.safetensors'))).toHaveLength(3);
  });

  it('makes the folder of the output', async () => {
    const cwd = place('no-folder');
    copyFileSync(join(fixtures, 'plain.pt'), join(cwd, 'a.pt'));
    for (const output of ['one two/a.safetensors', 'three/four/']) {
      const { code, stderr } = await runCli(['convert', 'a.pt', '-o', output], { cwd });
      expect(code).toBe(1);
      follow(stderr, cwd);
      expect((await runCli(['convert', 'a.pt', '-o', output], { cwd })).code).toBe(0);
    }
  });

  it('replaces an output with --force', async () => {
    const cwd = place('exists');
    copyFileSync(join(fixtures, 'plain.pt'), join(cwd, 'a.pt'));
    writeFileSync(join(cwd, 'a.safetensors'), 'old');
    expect((await runCli(['convert', 'a.pt'], { cwd })).stderr).toContain('--force');
    expect((await runCli(['convert', 'a.pt', '--dry-run'], { cwd })).stdout).toContain('--force');
    expect((await runCli(['convert', 'a.pt', '--dry-run', '--json'], { cwd })).stdout).toContain('"outputExists": true');
  });

  it('unpacks what is packed, from where the command ran', async () => {
    const cwd = place('packed');
    mkdirSync(join(cwd, 'in'));
    for (const name of ['in/a.pt.gz', 'in/b c.bin']) {
      writeFileSync(join(cwd, name), gzipSync(readFileSync(join(fixtures, 'plain.pt'))));
      follow((await runCli(['inspect', name], { cwd })).stderr, cwd);
    }
    for (const name of ['in/a.pt', 'unpacked']) expect((await runCli(['inspect', name], { cwd })).code).toBe(0);
  });

  it('names the option of a digest that was given as another', async () => {
    const file = join(fixtures, 'plain.pt');
    const { stderr } = await runCli(['verify', file, '--md5', 'a'.repeat(64)]);
    expect(stderr).toContain('--sha256');
    expect((await runCli(['verify', file, '--sha256', 'a'.repeat(40)])).stderr).toContain('assay sums FILE --algorithm sha1');
  });
});

describe('what an input is comes before where its output goes', () => {
  it('a safetensors file has nothing to convert, a damaged one is damaged, whatever their names', async () => {
    const cwd = place('tensors');
    const whole = readFileSync(join(fixtures, 'golden', 'plain.safetensors'));
    writeFileSync(join(cwd, 'whole.safetensors'), whole);
    writeFileSync(join(cwd, 'cut.safetensors'), whole.subarray(0, -5));
    writeFileSync(join(cwd, 'page.safetensors'), '<!DOCTYPE html><html></html>');
    const { code, stdout } = await runCli(['convert', 'whole.safetensors', 'cut.safetensors', 'page.safetensors', '--json'], { cwd });
    expect(code).toBe(1);
    const { files } = JSON.parse(stdout) as { files: { error: { code: string } }[] };
    expect(files.map(({ error }) => error.code)).toEqual(['CONVERT_NOTHING_TO_DO', 'SAFETENSORS_DATA_SHORT', 'FORMAT_HTML']);
  });
});

describe('a refused tensor', () => {
  it.each([
    ['bits.pt', 'bits8', 'tensor.to('],
    ['sparse-coo.pt', 'torch.sparse_coo', 'to_dense()'],
    ['quantized-per-tensor.pt', 'quantised', 'dequantize()'],
    ['meta.pt', 'ghost', 'after its weights were loaded'],
    ['metadata-name.pt', '__metadata__', 'Rename'],
  ])('of %s is named with its kind, its place and a remedy for it', async (name, kind, remedy) => {
    const { code, stderr } = await runCli(['convert', join(fixtures, name), '-o', join(folder, 'never.safetensors')]);
    expect(code).toBe(1);
    expect(stderr).toContain(kind);
    expect(stderr).toMatch(/at byte \d/);
    expect(stderr).toContain(remedy);
    expect(stderr).not.toMatch(/--select|_rebuild_|[a-z][A-Z][a-z]+ \d/);
    expect(existsSync(join(folder, 'never.safetensors'))).toBe(false);
  });

  it('does not make an inspection fail, nor call itself an error there', async () => {
    const { code, stdout } = await runCli(['inspect', join(fixtures, 'bits.pt')]);
    expect(code).toBe(0);
    expect(stdout).toContain('cannot be converted');
    expect(stdout).not.toContain('error');
  });
});

describe('several files of which one is wrong', () => {
  it('inspect has every file in its document', async () => {
    const { code, stdout } = await runCli(['inspect', join(fixtures, 'plain.pt'), join(folder, 'nothing'), '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      complete: true,
      findings: [{ code: 'SOURCE_NOT_FOUND' }],
      files: [{ ok: true }, { ok: false, error: { code: 'SOURCE_NOT_FOUND' } }],
    });
  });

  it('sums names the file that it complains of, and an empty folder', async () => {
    const cwd = place('sums');
    mkdirSync(join(cwd, 'empty'));
    symlinkSync('nowhere', join(cwd, 'dangling'));
    writeFileSync(join(cwd, 'a'), 'a');
    const { code, stdout, stderr } = await runCli(['sums', '.', 'empty', 'nothing'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^[0-9a-f]{64} {2}a\n$/);
    for (const name of ['dangling', 'empty', 'nothing']) expect(stderr).toContain(`assay: ${name}: `);
  });

  it('--quiet shows the files that are not ok, and only those', async () => {
    const cwd = place('quiet');
    writeFileSync(join(cwd, 'a'), 'a');
    writeFileSync(join(cwd, 'SUMS'), (await runCli(['sums', 'a'], { cwd })).stdout + `${'0'.repeat(64)}  b\n`);
    const { code, stdout } = await runCli(['verify', '-c', 'SUMS', '--quiet'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^b +MISSING/);
    expect(stdout).not.toMatch(/^a /m);
  });
});

describe('a checksum file that contradicts itself or lists something else', () => {
  it('says so of a named path too, also as --against', async () => {
    const cwd = place('conflict');
    writeFileSync(join(cwd, 'a'), 'a');
    writeFileSync(join(cwd, 'SUMS'), `${'0'.repeat(64)}  a\n${'1'.repeat(64)}  a\n`);
    writeFileSync(join(cwd, 'OTHER'), `${'0'.repeat(64)}  b\nnonsense\n`);
    for (const option of ['-c', '--against']) {
      const conflict = JSON.parse((await runCli(['verify', 'a', option, 'SUMS', '--json'], { cwd })).stdout) as { findings: { code: string }[] };
      expect(conflict.findings.map(({ code }) => code)).toContain('CHECKSUM_CONFLICT');
    }
    copyFileSync(join(fixtures, 'plain.pt'), join(cwd, 'plain.pt'));
    const { code, stdout } = await runCli(['verify', 'plain.pt', '-c', 'OTHER'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain('not listed in OTHER');
    expect(stdout).toContain('line 2 (no digest)');
  });

  it.each(['md5', 'sha1', 'git-blob-sha1', 'crc32'])('is none when sums has written it with %s', async (algorithm) => {
    const cwd = place(algorithm);
    writeFileSync(join(cwd, 'a'), 'a');
    writeFileSync(join(cwd, 'LIST'), (await runCli(['sums', 'a', '--algorithm', algorithm], { cwd })).stdout);
    expect((await runCli(['verify', '-c', 'LIST'], { cwd })).code).toBe(0);
  });
});

describe('more tensors than a call takes arguments', () => {
  it('are listed', async () => {
    const cwd = place('many');
    const names = Array.from({ length: 150_000 }, (_, at) => `t${at}`);
    const header = Buffer.from(`{${names.map((name, at) => `"${name}":{"dtype":"U8","shape":[1],"data_offsets":[${at},${at + 1}]}`).join(',')}}`);
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    writeFileSync(join(cwd, 'many.safetensors'), Buffer.concat([length, header, Buffer.alloc(names.length)]));
    const { code, stdout } = await runCli(['inspect', 'many.safetensors', '--all'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain('t149999');
  });
});
