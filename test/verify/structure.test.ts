import { readFileSync } from 'node:fs';
import { createMemorySource, wasmHashers, type ByteSource } from '@assay/core';
import { defaultKernels } from '@assay/formats';
import { checkStructure, type StructureReport } from '@assay/verify';
import { describe, expect, it } from 'vitest';

const fixture = (name: string): Uint8Array => readFileSync(new URL(`../fixtures/${name}`, import.meta.url));
const fixtures = JSON.parse(Buffer.from(fixture('fixtures.json')).toString()) as { file: string; expect: string; golden?: string; tensors?: number }[];
const check = (content: Uint8Array, name = 'file'): Promise<StructureReport> => checkSource(createMemorySource(content, name));
const checkSource = (source: ByteSource, onBytes?: (count: number) => void): Promise<StructureReport> =>
  checkStructure(source, { hashers: wasmHashers, kernels: defaultKernels, ...(onBytes && { onBytes }) });
const errors = ({ findings }: StructureReport): string[] => findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);

describe('the structure is proven', () => {
  const converted = fixtures.filter((entry) => entry.expect === 'converts');

  it.each(converted.map(({ file }) => file))('of %s', async (file) => {
    const report = await check(fixture(file), file);
    expect(report).toMatchObject({ ok: true, complete: true, kind: 'torch-zip' });
    expect(report.tensors).toBeGreaterThan(0);
    expect(report.members).toBeGreaterThan(0);
  });

  it.each(converted.flatMap(({ golden }) => (golden === undefined ? [] : [golden])))('of %s', async (golden) => {
    expect(await check(fixture(golden), golden)).toMatchObject({ ok: true, complete: true, kind: 'safetensors' });
  });

  it('also where no CRC-32 was ever written, with a warning', async () => {
    const report = await check(fixture('no-crc.pt'));
    expect(report.findings.map(({ code, severity }) => [code, severity])).toContainEqual(['ZIP_CRC_NEVER_WRITTEN', 'warning']);
    expect(report.ok).toBe(true);
  });

  it('of what surrounds weights that are not looked into, which are warnings', async () => {
    const report = await check(fixture('sparse-beside-dense.pt'));
    expect(report).toMatchObject({ ok: true });
    const unproven = report.findings.filter(({ severity }) => severity === 'warning');
    expect(unproven.map(({ code, subject }) => [code, subject.tensor])).toEqual(['coo', 'csc', 'bsr'].map((name) => ['TORCH_TENSOR_SPARSE', name]));
  });

  it('reading every byte of the members once for its CRC-32', async () => {
    const content = fixture('wide.pt');
    let checked = 0;
    await checkSource(createMemorySource(content), (count) => void (checked += count));
    expect(checked).toBeGreaterThan(content.length / 2);
    expect(checked).toBeLessThanOrEqual(content.length);
  });
});

describe('the structure is refused', () => {
  it.each([
    ['crc-one-wrong.pt', 'ZIP_CRC_MISMATCH'],
    ['truncated.pt', 'ZIP_DIRECTORY_MISSING'],
    ['short-storage.pt', 'TORCH_STORAGE_SIZE_MISMATCH'],
    ['missing-storage.pt', 'TORCH_STORAGE_MISSING'],
    ['bad-byteorder.pt', 'TORCH_BYTE_ORDER_UNKNOWN'],
    ['bzip2-entries.pt', 'ZIP_ENTRY_METHOD'],
  ])('of %s: %s', async (file, code) => {
    const report = await check(fixture(file), file);
    expect(report.ok).toBe(false);
    expect(errors(report)).toContain(code);
    expect(new Set(report.findings.map((one) => JSON.stringify(one))).size).toBe(report.findings.length);
  });

  it('of a safetensors file that is cut or longer', async () => {
    const model = fixture('golden/plain.safetensors');
    expect(errors(await check(model.subarray(0, -1)))).toEqual(['SAFETENSORS_DATA_SHORT']);
    expect(errors(await check(Buffer.concat([model, Buffer.of(0)])))).toEqual(['SAFETENSORS_DATA_TRAILING']);
  });

  it('of what is no weights, which is named', async () => {
    const cases: [Uint8Array, string, string][] = [
      [new Uint8Array(0), 'empty', 'FORMAT_EMPTY'],
      [new Uint8Array(100_000), 'zeros', 'FORMAT_ZEROS'],
      [Buffer.from('<html><body>404</body></html>'), 'html', 'FORMAT_HTML'],
      [Buffer.from('{"error":"no"}'), 'json', 'FORMAT_JSON'],
      [Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 5\n`), 'git-lfs-pointer', 'FORMAT_GIT_LFS_POINTER'],
    ];
    for (const [content, kind, code] of cases) {
      const report = await check(content);
      expect(report).toMatchObject({ ok: false, complete: true, kind, tensors: 0 });
      expect(errors(report)).toEqual([code]);
    }
  });

  it('of a file that changed meanwhile', async () => {
    let version = 0;
    const source: ByteSource = { ...createMemorySource(fixture('golden/plain.safetensors')), identity: async () => `version ${(version += 1)}` };
    const outcome = await checkSource(source).catch((error: unknown) => error);
    // Safetensors' own check may see it first, and throws.
    const code = 'findings' in (outcome as object) && 'kind' in (outcome as object) ? (outcome as StructureReport).findings.at(-1)?.code : (outcome as { code?: string }).code;
    expect(code).toBe('SOURCE_CHANGED');
  });

  it('at whatever byte the file is cut', async () => {
    for (const name of ['golden/plain.safetensors', 'plain.pt']) {
      const whole = fixture(name);
      for (let length = 0; length < whole.length; length += Math.max(1, Math.floor(whole.length / 400))) {
        expect(errors(await check(whole.subarray(0, length)))).not.toEqual([]);
      }
    }
  });
});
