import { createMemorySource, isAssayError, type AssayError, type Finding, type Severity } from '@assay/core';
import { locateZipMembers, readZipDirectory, surveyZipDirectory } from '@assay/formats';
import { describe, expect, it } from 'vitest';
import { buildZip, extraField, torchLikeZip, type BuiltEnd, type BuiltEntry } from '../support/zip-builder.ts';

const two: BuiltEntry[] = [
  { name: 'a/data.pkl', data: 'pickle' },
  { name: 'a/data/0', data: 'x'.repeat(100) },
];

/** All findings of directory and local headers; the error's where there is no directory. */
async function findingsOf(bytes: Uint8Array): Promise<readonly Pick<Finding, 'code' | 'severity' | 'args' | 'subject'>[]> {
  const source = createMemorySource(bytes, 'hostile.pt');
  try {
    const directory = await surveyZipDirectory(source);
    return [...directory.findings, ...(await locateZipMembers(source, directory)).findings];
  } catch (error) {
    if (!isAssayError(error)) throw error;
    return [{ code: error.code, severity: 'error', args: error.context, subject: {} }];
  }
}

async function refusal(bytes: Uint8Array): Promise<AssayError> {
  const error: unknown = await readZipDirectory(createMemorySource(bytes, 'hostile.pt')).catch((thrown: unknown) => thrown);
  if (!isAssayError(error)) throw new Error('was not refused', { cause: error });
  return error;
}

type Row = readonly [what: string, bytes: () => Uint8Array, code: string, severity: Severity, args?: Record<string, unknown>];

const built = (entries: readonly BuiltEntry[], end?: BuiltEnd) => () => buildZip(entries, end);
const one = (entry: Partial<BuiltEntry>) => built([{ name: 'a/0', data: 'payload', ...entry }]);
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

const rows: readonly Row[] = [
  // Z02 to Z08: the local header and the directory.
  ['another name in the local header', one({ local: { name: 'a/1' } }), 'ZIP_ENTRY_LOCAL_DIFFERS', 'warning', { field: 'name', found: 'a/1' }],
  ['a longer name in the local header', one({ local: { name: 'a/longer' } }), 'ZIP_ENTRY_LOCAL_DIFFERS', 'warning', { field: 'name' }],
  ['a wrong CRC in the local header', one({ local: { crc32: 7 } }), 'ZIP_ENTRY_LOCAL_DIFFERS', 'error', { field: 'crc32', found: 7 }],
  ['a wrong CRC in the descriptor', one({ descriptor: 'signed', descriptorCrc32: 7 }), 'ZIP_ENTRY_LOCAL_DIFFERS', 'error', { field: 'descriptor crc32' }],
  ['a local flag of encryption', one({ local: { flags: 0x801 } }), 'ZIP_ENTRY_LOCAL_DIFFERS', 'warning', { field: 'flags', found: 0x801 }],
  ['a local flag of patch data', one({ local: { flags: 0x820 } }), 'ZIP_ENTRY_LOCAL_DIFFERS', 'warning', { field: 'flags' }],
  ['a local flag of strong encryption', one({ local: { flags: 0x840 } }), 'ZIP_ENTRY_LOCAL_DIFFERS', 'warning', { field: 'flags' }],
  ['a local flag of masked headers', one({ local: { flags: 0x2800 } }), 'ZIP_ENTRY_LOCAL_DIFFERS', 'warning', { field: 'flags' }],
  ['a local flag of a descriptor that is missing', one({ local: { flags: 0x808 } }), 'ZIP_ENTRY_LOCAL_DIFFERS', 'warning', { field: 'descriptor missing' }],
  ['an encrypted member', one({ flags: 0x801 }), 'ZIP_ENTRY_ENCRYPTED', 'error', { flags: 0x801 }],
  ['a strongly encrypted member', one({ flags: 0x840 }), 'ZIP_ENTRY_ENCRYPTED', 'error'],
  ['a masked header', one({ flags: 0x2800 }), 'ZIP_ENTRY_ENCRYPTED', 'error'],
  ['patch data', one({ flags: 0x820 }), 'ZIP_ENTRY_PATCHED', 'error'],
  ['another method in the local header', one({ local: { method: 99 } }), 'ZIP_ENTRY_LOCAL_DIFFERS', 'warning', { field: 'method', found: 99 }],
  ['a method that is not read', one({ method: 99 }), 'ZIP_ENTRY_METHOD', 'error', { found: 'aes', method: 99 }],
  ['zstd members', one({ method: 93 }), 'ZIP_ENTRY_METHOD', 'error', { found: 'zstd' }],
  ['local sizes of 0', one({ local: { byteLength: 0, compressedByteLength: 0 } }), 'ZIP_ENTRY_LOCAL_DIFFERS', 'warning', { field: 'byteLength', found: 0, expected: 7 }],
  ['huge local sizes', one({ local: { compressedByteLength: 0xffff_fff0 } }), 'ZIP_ENTRY_LOCAL_DIFFERS', 'warning', { field: 'compressedByteLength' }],
  // Z09 to Z14: names and kinds.
  ['two members of one name', built([...two, { name: 'a/data.pkl', data: 'evil' }]), 'ZIP_NAME_DUPLICATE', 'error', { firstIndex: 0, index: 2 }],
  ['names that differ in case', built([...two, { name: 'a/DATA.PKL' }]), 'ZIP_NAME_COLLISION', 'error', { first: 'a/data.pkl' }],
  ['a step outside', one({ name: '../x' }), 'ZIP_NAME_UNSAFE', 'error', { problem: 'path step' }],
  ['a step outside, in the middle', one({ name: 'a/../../x' }), 'ZIP_NAME_UNSAFE', 'error', { problem: 'path step' }],
  ['an absolute name', one({ name: '/etc/passwd' }), 'ZIP_NAME_UNSAFE', 'error', { problem: 'absolute' }],
  ['a drive', one({ name: 'C:x' }), 'ZIP_NAME_UNSAFE', 'error', { problem: 'drive' }],
  ['a backslash', one({ name: 'a\\data.pkl' }), 'ZIP_NAME_UNSAFE', 'error', { problem: 'backslash' }],
  ['a NUL', one({ name: 'a/data.pkl\0.txt' }), 'ZIP_NAME_UNSAFE', 'error', { problem: 'control character' }],
  ['a line feed', one({ name: 'a/\n' }), 'ZIP_NAME_UNSAFE', 'error', { problem: 'control character' }],
  ['no name', one({ name: '' }), 'ZIP_NAME_UNSAFE', 'error', { problem: 'empty' }],
  ['a trailing dot', one({ name: 'a/b.' }), 'ZIP_NAME_UNSAFE', 'error', { problem: 'trailing dot or space' }],
  ['a trailing space', one({ name: 'a/b ' }), 'ZIP_NAME_UNSAFE', 'error', { problem: 'trailing dot or space' }],
  ['a name of 65,535 bytes', one({ name: 'n'.repeat(65_535) }), 'ZIP_NAME_UNSAFE', 'error', { problem: 'too long' }],
  ['a name that is not UTF-8', one({ name: Uint8Array.of(0x61, 0xff) }), 'ZIP_NAME_ENCODING', 'error', { problem: 'not UTF-8' }],
  ['an unmarked name in UTF-8', one({ name: 'ä/0', flags: 0 }), 'ZIP_NAME_ENCODING', 'warning', { problem: 'not marked as UTF-8' }],
  ['a symbolic link', one({ data: '/etc/passwd', central: { externalAttributes: 0xa1ff_0000 } }), 'ZIP_ENTRY_SPECIAL', 'error', { kind: 'symbolic link' }],
  ['a device', one({ central: { externalAttributes: 0x2000_0000 } }), 'ZIP_ENTRY_SPECIAL', 'error', { kind: 'character device' }],
  ['another name in the unicode path field', one({ central: { extra: extraField(0x7075, text('\x01....evil')) } }), 'ZIP_ENTRY_EXTRA_MALFORMED', 'error', { problem: 'another name' }],
  ['a doubled zip64 field', one({ central: { extra: new Uint8Array([1, 0, 0, 0, 1, 0, 0, 0]) } }), 'ZIP_ENTRY_EXTRA_MALFORMED', 'error', { problem: 'doubled' }],
  ['a zip64 field without its values', one({ central: { byteLength: 0xffff_ffff, extra: extraField(1, new Uint8Array(4)) } }), 'ZIP_ENTRY_EXTRA_MALFORMED', 'error'],
  ['a zip64 size above 2^53', one({ central: { byteLength: 0xffff_ffff, extra: extraField(1, new Uint8Array(8).fill(0xff)) } }), 'ZIP_ENTRY_EXTRA_MALFORMED', 'error'],
  ['an extra field past its end', one({ central: { extra: Uint8Array.of(9, 9, 200, 0) } }), 'ZIP_ENTRY_EXTRA_MALFORMED', 'warning', { problem: 'cut' }],
  // Z15, Z16: what is around the archive.
  ['bytes before the archive', built(two, { prefix: text('#!/bin/sh\n') }), 'ZIP_PREFIX_BYTES', 'error', { found: 10 }],
  ['bytes before the archive that offsets count', built(two, { prefix: text('%PDF-1.7\n'), offsetsCountPrefix: true }), 'ZIP_PREFIX_BYTES', 'error', { found: 9 }],
  ['bytes before a zip64 archive', built(two, { prefix: text('0123456789'), zip64: true }), 'ZIP_PREFIX_BYTES', 'error', { found: 10 }],
  ['10 bytes after the archive', built(two, { suffix: text('0123456789') }), 'ZIP_TRAILING_BYTES', 'error', { found: 10 }],
  ['70 KB after the archive', built(two, { suffix: new Uint8Array(70_000) }), 'ZIP_TRAILING_BYTES', 'error', { found: 70_000 }],
  ['a comment', built(two, { comment: text('hello') }), 'ZIP_COMMENT', 'warning', { byteLength: 5 }],
  ['a comment longer than the file', built(two, { commentByteLength: 9 }), 'ZIP_END_DISAGREES', 'error', { field: 'comment length', found: 0, expected: 9 }],
  ['an end record in the comment', built(two, { comment: buildZip([]) }), 'ZIP_SEVERAL_ENDS', 'error'],
  ['a whole archive in the comment', built(two, { comment: buildZip([{ name: 'b/data.pkl', data: 'other' }]) }), 'ZIP_SEVERAL_ENDS', 'error'],
  ['two archives one after another', () => new Uint8Array(Buffer.concat([buildZip(two), buildZip([{ name: 'b/0' }])])), 'ZIP_PREFIX_BYTES', 'error'],
  ['bytes between directory and end', built(two, { gap: text('between') }), 'ZIP_UNCLAIMED_BYTES', 'error', { found: 7 }],
  ['bytes between members', built([two[0] as BuiltEntry, { name: 'a/1', gap: text('between') }]), 'ZIP_UNCLAIMED_BYTES', 'warning', { found: 7 }],
  ['many bytes between members', built([two[0] as BuiltEntry, { name: 'a/1', gap: new Uint8Array(100_000) }]), 'ZIP_UNCLAIMED_BYTES', 'warning', { found: 100_000 }],
  ['a member that is not listed', built([two[0] as BuiltEntry, { name: 'a/evil', data: 'x', hidden: true }, { name: 'a/1' }]), 'ZIP_ENTRY_HIDDEN', 'error', { after: 'a/data.pkl' }],
  ['an unlisted member behind the last', built([...two, { name: 'a/evil', data: 'x', hidden: true }]), 'ZIP_ENTRY_HIDDEN', 'error'],
  ['an unlisted member behind a descriptor', built([{ name: 'a/0', data: 'x', descriptor: 'signed' }, { name: 'a/evil', hidden: true }]), 'ZIP_ENTRY_HIDDEN', 'error'],
  // Z18 to Z22.
  ['two entries of one header', built([two[0] as BuiltEntry, { name: 'a/1', data: 'pickle', central: { headerOffset: 0 } }]), 'ZIP_ENTRY_OVERLAP', 'error', { other: 'a/data.pkl' }],
  ['a quoted overlap', overlapping, 'ZIP_ENTRY_OVERLAP', 'error'],
  ['an overlap by the local header alone', overlappingByExtra, 'ZIP_ENTRY_OVERLAP', 'error', { other: 'a/0' }],
  ['a member past the directory', one({ central: { compressedByteLength: 5000, byteLength: 5000 } }), 'ZIP_ENTRY_OUT_OF_RANGE', 'error'],
  ['a header past the end', one({ central: { headerOffset: 0x7fff_ffff } }), 'ZIP_ENTRY_OUT_OF_RANGE', 'error'],
  ['an offset where no header is', one({ central: { headerOffset: 3 } }), 'ZIP_ENTRY_LOCAL_MISSING', 'error'],
  ['a ratio that deflate cannot have', one({ deflate: true, central: { byteLength: 0xf000_0000 } }), 'LIMIT_EXCEEDED', 'error', { limit: 'maxInflateRatio' }],
  ['two sizes of a stored member', one({ central: { byteLength: 6 } }), 'ZIP_ENTRY_SIZE_MISMATCH', 'error', { found: 7, expected: 6 }],
  ['another disk', built(two, { disk: 1 }), 'ZIP_MULTI_DISK', 'error', { found: 1 }],
  ['an entry on another disk', one({ central: { disk: 1 } }), 'ZIP_MULTI_DISK', 'error'],
  ['several disks', built(two, { zip64: true, end64: { disks: 2 } }), 'ZIP_MULTI_DISK', 'error', { field: 'disks' }],
  ['other counts on this disk', built(two, { countOnDisk: 1 }), 'ZIP_MULTI_DISK', 'error', { found: 1, expected: 2 }],
  ['a smaller count', built(two, { count: 1 }), 'ZIP_COUNT_MISMATCH', 'error', { found: 2, expected: 1 }],
  ['a larger count', built(two, { count: 0xffff }), 'ZIP_COUNT_MISMATCH', 'error', { found: 2, expected: 0xffff }],
  ['a directory beyond the file', built(two, { directoryStart: 0x7fff_ffff }), 'ZIP_DIRECTORY_OUT_OF_RANGE', 'error', { start: 0x7fff_ffff }],
  ['a directory longer than the file', built(two, { directoryByteLength: 0x7fff_ffff }), 'ZIP_DIRECTORY_OUT_OF_RANGE', 'error'],
  ['a directory offset above 2^53', built(two, { zip64: true, end64: { directoryStart: 2n ** 60n } }), 'ZIP_DIRECTORY_OUT_OF_RANGE', 'error'],
  ['a million entries and one', built(two, { zip64: true, count: 0xffff, end64: { count: 1_000_001 } }), 'LIMIT_EXCEEDED', 'error', { limit: 'maxZipEntries', found: 1_000_001 }],
  ['a cut directory', built(two, { directoryByteLength: 60 }), 'ZIP_DIRECTORY_MALFORMED', 'error', { index: 1 }],
  ['a zip64 record that disagrees', built(two, { zip64: true, end64: { count: 7 } }), 'ZIP_END_DISAGREES', 'error', { field: 'count', found: 2, expected: 7 }],
  ['a zip64 record of another length', built(two, { zip64: true, end64: { byteLength: 99n } }), 'ZIP_END_DISAGREES', 'error', { field: 'zip64 record length' }],
  ['no directory', () => buildZip(two).subarray(0, 180), 'ZIP_DIRECTORY_MISSING', 'error', { offset: 180, found: 180 }],
  ['nothing', () => new Uint8Array(0), 'ZIP_DIRECTORY_MISSING', 'error', { offset: 0 }],
  ['zeros where the end was', () => zerosAtEnd(torchLikeZip(), 700), 'ZIP_DIRECTORY_MISSING', 'error', { zerosAtEnd: 700 }],
];

/** Fifield's bomb: the first member quotes the second one's header as its own content. */
function overlapping(): Uint8Array {
  const inner = 30 + 3 + 7;
  return buildZip([
    { name: 'a/0', data: 'x', central: { compressedByteLength: 1 + inner, byteLength: 1 + inner }, local: { compressedByteLength: 1 + inner, byteLength: 1 + inner } },
    { name: 'a/1', data: 'payload' },
  ]);
}

/** Extra bytes in a local header push its payload into the next member; the directory knows nothing of them. */
function overlappingByExtra(): Uint8Array {
  const bytes = buildZip([{ name: 'a/0', data: 'payload' }, { name: 'a/1', data: 'x'.repeat(50) }]);
  bytes[28] = 60;
  return bytes;
}

function zerosAtEnd(bytes: Uint8Array, count: number): Uint8Array {
  return bytes.fill(0, bytes.length - count);
}

describe('a zip file with', () => {
  const cases = rows.map(([what, bytes, code, severity, args = {}]) => ({ what, bytes, code, severity, args }));
  it.each(cases)('$what is a finding', async ({ bytes, code, severity, args }) => {
    const findings = await findingsOf(bytes());
    const found = findings.filter((each) => each.code === code);
    expect(findings.map((each) => each.code)).toContain(code);
    expect(found.map((each) => each.severity)).toContain(severity);
    expect(found.map((each) => each.args)).toContainEqual(expect.objectContaining(args));
  });
});

describe('readZipDirectory', () => {
  it('throws the first error with all findings in file order', async () => {
    const error = await refusal(buildZip([{ name: 'a/0', flags: 0x801 }, { name: '../b' }, { name: 'a/0' }], { suffix: text('behind') }));
    expect(error.code).toBe('ZIP_ENTRY_ENCRYPTED');
    expect(error.findings.map(({ code }) => code)).toEqual(['ZIP_ENTRY_ENCRYPTED', 'ZIP_NAME_UNSAFE', 'ZIP_NAME_DUPLICATE', 'ZIP_TRAILING_BYTES']);
    expect(error.context).toMatchObject({ member: 'a/0', offset: expect.any(Number) });
  });

  it('says both ends of two archives one after another', async () => {
    const error = await refusal(new Uint8Array(Buffer.concat([buildZip(two), buildZip(two)])));
    expect(error.findings.map(({ code }) => code)).toEqual(expect.arrayContaining(['ZIP_PREFIX_BYTES', 'ZIP_SEVERAL_ENDS']));
  });

  it('takes a limit from its caller', async () => {
    const source = createMemorySource(torchLikeZip());
    await expect(readZipDirectory(source, { limits: { maxZipEntries: 3 } })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED', context: { limit: 'maxZipEntries', found: 4 } });
    await expect(readZipDirectory(source, { limits: { maxZipDirectoryBytes: 99 } })).rejects.toMatchObject({ context: { limit: 'maxZipDirectoryBytes' } });
  });

  it('lists a thousand findings of a hostile directory, and counts the rest', async () => {
    const error = await refusal(buildZip(Array.from({ length: 3000 }, (_, index) => ({ name: `../${index}` }))));
    expect(error.findings).toHaveLength(1001);
    expect(error.findings.at(-1)).toMatchObject({ code: 'ZIP_FINDINGS_CUT', severity: 'error', args: { count: 2000 } });
  });

  it('rethrows the reason of an abort', async () => {
    const reason = new Error('enough');
    await expect(readZipDirectory(createMemorySource(torchLikeZip()), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
