import { readFileSync } from 'node:fs';
import { createMemorySource, wasmHashers } from '@assay/core';
import { checkZip, readZipMember, locateZipMembers, readZipDirectory, type ZipCheck } from '@assay/formats';
import { describe, expect, it } from 'vitest';
import { buildZip, torchLikeZip, type BuiltEntry } from '../support/zip-builder.ts';

const check = (bytes: Uint8Array): Promise<ZipCheck> => checkZip(createMemorySource(bytes, 'checked.pt'), { hashers: wasmHashers });
const fixture = (name: string): Uint8Array => readFileSync(new URL(`../fixtures/${name}`, import.meta.url));

/** Three members with a large one between, so that some are read together and one alone. */
const members: BuiltEntry[] = [
  { name: 'a/0', data: 'first' },
  { name: 'a/1', data: new Uint8Array(700_000).map((_, i) => i * 7) },
  { name: 'a/2', data: 'third '.repeat(500), deflate: true },
  { name: 'a/3', data: '' },
];

const withCrc = (at: number, crc32: number): BuiltEntry[] =>
  members.map((entry, index) => (index === at ? { ...entry, local: { crc32 }, central: { crc32 } } : entry));

describe('checkZip', () => {
  it('finds nothing in a sound archive, and says how many CRCs matched', async () => {
    expect(await check(buildZip(members))).toEqual({ ok: true, complete: true, findings: [], members: 4, crcMatched: 4, crcWrong: 0 });
    expect(await check(torchLikeZip())).toMatchObject({ ok: true, complete: true, findings: [], members: 4, crcMatched: 4 });
  });

  it.each([0, 1, 2])('finds the wrong CRC of member %i', async (at) => {
    const report = await check(buildZip(withCrc(at, 0x1234_5678)));
    expect(report).toMatchObject({ ok: false, complete: true, crcMatched: 3, crcWrong: 1 });
    expect(report.findings).toEqual([
      expect.objectContaining({
        code: 'ZIP_CRC_MISMATCH',
        severity: 'error',
        subject: expect.objectContaining({ path: 'checked.pt', member: `a/${at}` }),
        args: expect.objectContaining({ expected: '12345678', zeros: false }),
      }),
    ]);
  });

  it('warns where every CRC is wrong: none was computed', async () => {
    const report = await check(fixture('no-crc.pt'));
    expect(report).toMatchObject({ ok: true, crcMatched: 1, crcWrong: 9 });
    expect(report.findings).toMatchObject([{ code: 'ZIP_CRC_NEVER_WRITTEN', severity: 'warning' }]);
  });

  it('says that storages with a wrong CRC are zeros', async () => {
    const { findings } = await check(fixture('skip-data.pt'));
    expect(findings.map(({ code, subject, args }) => [code, subject.member, args['zeros']])).toEqual([
      ['ZIP_CRC_MISMATCH', 'skip-data/data/0', true],
      ['ZIP_CRC_MISMATCH', 'skip-data/data/1', true],
    ]);
  });

  it('finds one turned bit', async () => {
    const { findings } = await check(fixture('crc-one-wrong.pt'));
    expect(findings).toMatchObject([{ code: 'ZIP_CRC_MISMATCH', subject: { member: 'archive/data/0', start: 768 } }]);
  });

  it.each([
    ['more than', 5],
    ['less than', 5000],
  ])('stops at a deflated member that inflates to %s its size', async (_, byteLength) => {
    const report = await check(buildZip([{ name: 'a/0', data: 'x'.repeat(1000), deflate: true, central: { byteLength }, local: { byteLength } }]));
    expect(report).toMatchObject({ ok: false, crcMatched: 0 });
    expect(report.findings).toMatchObject([{ code: 'ZIP_ENTRY_INFLATE_FAILED', severity: 'error', subject: { member: 'a/0' } }]);
  });

  it('reports a deflated member that is no deflate stream', async () => {
    const bytes = buildZip([{ name: 'a/0', data: 'not deflated', method: 8 }]);
    expect((await check(bytes)).findings).toMatchObject([{ code: 'ZIP_ENTRY_INFLATE_FAILED' }]);
  });

  it('inflates nothing of an unsound archive', async () => {
    const report = await check(buildZip([{ name: '../a', data: 'x' }]));
    expect(report).toMatchObject({ ok: false, complete: false, members: 1, crcMatched: 0, crcWrong: 0 });
    expect(report.findings).toMatchObject([{ code: 'ZIP_NAME_UNSAFE' }]);
  });

  it('reports a file without a directory instead of throwing', async () => {
    const report = await check(fixture('truncated.pt'));
    expect(report).toMatchObject({ ok: false, complete: false });
    expect(report.findings).toMatchObject([{ code: 'ZIP_DIRECTORY_MISSING', severity: 'error', subject: { start: 1308 } }]);
  });

  it('reads a file cut at any byte, or says what is wrong with it', async () => {
    const whole = torchLikeZip('archive', new Uint8Array(10));
    for (let size = 0; size < whole.length; size += 1) {
      const report = await check(whole.subarray(0, size));
      expect(report.ok, `cut at ${size}`).toBe(false);
      expect(report.findings[0]?.code).toBe('ZIP_DIRECTORY_MISSING');
    }
  });

  it('notices any changed byte of an archive, or it does not matter to any reader', async () => {
    const whole = buildZip([{ name: 'a/0', data: 'payload' }, { name: 'a/1', data: 'other', deflate: true }]);
    for (let at = 0; at < whole.length; at += 1) {
      const changed = whole.slice();
      changed[at] = (changed[at] as number) ^ 0xff;
      const report = await check(changed);
      // Versions, times, attributes and flags of no meaning may change.
      if (report.findings.length === 0) expect(report.crcMatched).toBe(2);
    }
  });

  it('counts the bytes that it reads', async () => {
    let total = 0;
    await checkZip(createMemorySource(buildZip(members)), { hashers: wasmHashers, onBytes: (count) => void (total += count) });
    expect(total).toBeGreaterThanOrEqual(700_000);
    expect(total).toBeLessThan(720_000);
  });
});

describe('readZipMember', () => {
  it('refuses a member that is too large before it allocates', async () => {
    const source = createMemorySource(buildZip(members));
    const { members: located } = await locateZipMembers(source, await readZipDirectory(source));
    const [, large, deflated] = located;
    const limits = { maxPickleBytes: 2999 };
    await expect(readZipMember(source, large as never, { limits })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', context: { found: 700_000 } });
    await expect(readZipMember(source, deflated as never, { limits })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', context: { found: 3000 } });
    expect(new TextDecoder().decode(await readZipMember(source, deflated as never))).toBe('third '.repeat(500));
  });
});
