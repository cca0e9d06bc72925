import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { createMemorySource, createOneThreadTaskRunner, wasmHashers, type Finding } from '@assay/core';
import { createExpectation, explainMismatch, verifyFiles, type GivenDigests } from '@assay/verify';
import { describe, expect, it } from 'vitest';

const fixture = (name: string): Uint8Array => readFileSync(new URL(`../fixtures/${name}`, import.meta.url));
const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

function explain(content: Uint8Array, options: { name?: string; digests?: GivenDigests; byteLength?: number } = {}): Promise<Finding[]> {
  const { name = 'model.safetensors', digests = {}, byteLength } = options;
  const expected = createExpectation(digests, byteLength === undefined ? {} : { byteLength });
  return explainMismatch(createMemorySource(content, name), { expected });
}
const codes = (findings: readonly Finding[]): string[] => findings.map(({ code }) => code);

describe('a mismatch is explained by', () => {
  const model = fixture('golden/plain.safetensors');
  const html = text('<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in</body></html>');
  const json = text('{"error":"Repository not found"}');

  it('a file that is empty', async () => {
    expect(codes(await explain(new Uint8Array(0)))).toEqual(['FORMAT_EMPTY']);
  });

  it('zeros', async () => {
    expect(codes(await explain(new Uint8Array(300_000)))).toEqual(['FORMAT_ZEROS']);
  });

  it('a Git LFS pointer, and whether it points to what was expected', async () => {
    const pointer = text(`version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(model)}\nsize ${model.length}\n`);
    const [right] = await explain(pointer, { digests: { sha256: sha256(model).toUpperCase() }, byteLength: model.length }).then((all) => all.filter(({ code }) => code.startsWith('FORMAT')));
    expect(right).toMatchObject({ code: 'FORMAT_GIT_LFS_POINTER', severity: 'info', args: { oid: sha256(model), oidIsExpected: true, sizeIsExpected: true } });
    const [wrong] = await explain(pointer, { digests: { sha256: sha256(html) } });
    expect(wrong).toMatchObject({ code: 'FORMAT_GIT_LFS_POINTER', args: { oidIsExpected: false } });
    const [other] = await explain(pointer, { digests: { md5: '0'.repeat(32) } });
    expect(other?.args).not.toHaveProperty('oidIsExpected');
  });

  it('a web page, a JSON error', async () => {
    expect(codes(await explain(html))).toEqual(['FORMAT_HTML']);
    expect(codes(await explain(json))).toEqual(['FORMAT_JSON']);
  });

  it('compression', async () => {
    expect(codes(await explain(gzipSync(model)))).toEqual(['FORMAT_ARCHIVE']);
  });

  it('a safetensors file that was cut, with what is missing', async () => {
    const findings = await explain(model.subarray(0, -10), { byteLength: model.length });
    expect(codes(findings)).toEqual(['SIZE_MISMATCH', 'SAFETENSORS_DATA_SHORT']);
    expect(findings[0]?.args).toMatchObject({ expected: model.length, found: model.length - 10, missing: 10 });
  });

  it('bytes behind a safetensors file', async () => {
    const findings = await explain(Buffer.concat([model, text('more')]), { byteLength: model.length });
    expect(codes(findings)).toEqual(['SIZE_MISMATCH', 'SAFETENSORS_DATA_TRAILING']);
    expect(findings[0]?.args).toMatchObject({ extra: 4 });
  });

  it('a zip that was cut', async () => {
    expect(codes(await explain(fixture('truncated.pt'), { name: 'pytorch_model.bin' }))).toEqual(['ZIP_DIRECTORY_MISSING']);
  });

  it('nothing where the file is sound, or what its name promises', async () => {
    expect(await explain(model)).toEqual([]);
    expect(await explain(fixture('plain.pt'), { name: 'pytorch_model.bin' })).toEqual([]);
    expect(await explain(json, { name: 'dir.bin/config.json' })).toEqual([]);
    expect(await explain(html, { name: 'index.html' })).toEqual([]);
    expect(await explain(gzipSync(json), { name: 'data.json.gz' })).toEqual([]);
  });

  it('facts of severity info, beside the mismatch itself', async () => {
    const source = createMemorySource(html, 'model.bin');
    const tasks = createOneThreadTaskRunner(wasmHashers);
    const report = await verifyFiles([{ source, expected: createExpectation({ sha256: '0'.repeat(64) }, { byteLength: 7 }) }], { tasks });
    expect(report.findings.map(({ code, severity, subject }) => [code, severity, subject.path])).toEqual([
      ['SIZE_MISMATCH', 'error', 'model.bin'],
      ['FORMAT_HTML', 'info', 'model.bin'],
    ]);
  });

  it('something, or nothing, for a file cut at any byte', async () => {
    for (const name of ['golden/plain.safetensors', 'plain.pt']) {
      const whole = fixture(name);
      for (let length = 0; length < whole.length; length += Math.max(1, Math.floor(whole.length / 400))) {
        const findings = await explain(whole.subarray(0, length), { name: 'model', byteLength: whole.length });
        expect(findings[0]).toMatchObject({ code: 'SIZE_MISMATCH', args: { missing: whole.length - length } });
      }
    }
  });
});
