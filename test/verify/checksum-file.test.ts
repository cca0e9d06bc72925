import { digestAlgorithms, digestFacts } from '@assay/core';
import { algorithmOfName, formatChecksumLine, parseChecksumFile, type ChecksumFile } from '@assay/verify';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);
const MD5 = 'c'.repeat(32);
const SHA1 = 'd'.repeat(40);

const parse = (content: string | Uint8Array, name = 'sums'): ChecksumFile => parseChecksumFile(content, { name, trusted: true });
const names = (content: string): string[] => parse(content).lines.map(({ name }) => name);
const reasons = (content: string | Uint8Array, name?: string): string[] => parse(content, name).malformed.map(({ reason }) => reason);
const codes = (file: ChecksumFile): string[] => file.findings.map(({ code }) => code);

describe('a checksum file', () => {
  it('is read line by line, in every form', () => {
    const text = [
      '# made by hand',
      '',
      `${A}  plain`,
      `${B.toUpperCase()} *binary`,
      `\t ${A}  indented\r`,
      `SHA256 (tag (1).bin) = ${A}`,
      `SHA2-256(openssl 3)= ${A}`,
      `MD5 (x) = ${MD5}`,
      `CRC32 (x) = 01234567`,
      `${MD5}  by length`,
      `${SHA1}  by length`,
      `\\${A}  two\\nlines\\\\\\r`,
      `\\SHA256 (two\\nlines) = ${A}`,
      `${A}   leading and trailing `,
    ].join('\n');
    const file = parse(text);
    expect(file.lines.map(({ line, algorithm, name, binary }) => [line, algorithm, name, binary])).toEqual([
      [3, 'sha256', 'plain', false],
      [4, 'sha256', 'binary', true],
      [5, 'sha256', 'indented', false],
      [6, 'sha256', 'tag (1).bin', false],
      [7, 'sha256', 'openssl 3', false],
      [8, 'md5', 'x', false],
      [9, 'crc32', 'x', false],
      [10, 'md5', 'by length', false],
      [11, 'sha1', 'by length', false],
      [12, 'sha256', 'two\nlines\\\r', false],
      [13, 'sha256', 'two\nlines', false],
      [14, 'sha256', ' leading and trailing ', false],
    ]);
    expect(file.lines[1]?.digest).toBe(B);
    expect(file.findings).toEqual([]);
  });

  it('tells why a line is malformed, and where it is', () => {
    const text = `${A}  ok\nnonsense that is long\n${A}\n`;
    expect(parse(text).malformed).toEqual([
      { line: 2, start: 69, end: 90, reason: 'no-digest' },
      { line: 3, start: 91, end: 155, reason: 'no-name' },
    ]);
    expect(parse(text).findings).toMatchObject([
      {
        code: 'CHECKSUM_LINES_MALFORMED',
        severity: 'warning',
        subject: { path: 'sums' },
        args: { count: 2, lines: [{ line: 2, reason: 'no-digest' }, { line: 3, reason: 'no-name' }] },
      },
    ]);
    expect(reasons(`${A.slice(1)}  odd`)).toEqual(['digest-length']);
    expect(reasons(`${A}a  long`)).toEqual(['digest-length']);
    expect(reasons(`${MD5}  md5`, 'SHA256SUMS')).toEqual(['other-algorithm']);
    expect(reasons(`MD5 (x) = ${MD5}`, 'SHA256SUMS')).toEqual(['other-algorithm']);
    expect(reasons(`SHA256 (x) = ${MD5}`)).toEqual(['digest-length']);
    expect(reasons(`SHA256 (x = ${A}`)).toEqual(['no-name']);
    expect(reasons(`SHA256 (x) ${A}`)).toEqual(['no-digest']);
    expect(reasons(`\\${A}  bad\\t`)).toEqual(['bad-escape']);
    expect(reasons(`\\${A}  ends in \\`)).toEqual(['bad-escape']);
    expect(reasons(`${A}  a\0b`)).toEqual(['nul-in-name']);
    expect(reasons(`${A}  a\n${A} b`)).toEqual(['mixed-formats']);
    expect(reasons(Buffer.concat([Buffer.from(`${A}  latin `), Buffer.of(0xe9)]))).toEqual(['not-utf-8']);
  });

  it('with one blank is the old BSD form, in which blanks belong to names', () => {
    expect(names(`${A} a\n${A}  b\n${A} *c`)).toEqual(['a', ' b', '*c']);
    expect(names(`${A}  `)).toEqual([' ']);
  });

  it('with a byte order mark is read, with a warning', () => {
    const file = parse(`\ufeff${A}  a\n`);
    expect(file.lines.map(({ name }) => name)).toEqual(['a']);
    expect(file.findings).toMatchObject([{ code: 'CHECKSUM_BOM', severity: 'warning', subject: { start: 0, end: 3 } }]);
  });

  it('in UTF-16 is named, with and without a byte order mark', () => {
    const little = Buffer.from(`${A}  a\r\n`, 'utf16le');
    const big = Buffer.from(little).swap16();
    for (const [bytes, encoding] of [
      [little, 'utf-16le'],
      [big, 'utf-16be'],
      [Buffer.concat([Buffer.of(0xff, 0xfe), little]), 'utf-16le'],
      [Buffer.concat([Buffer.of(0xfe, 0xff), big]), 'utf-16be'],
    ] as const) {
      expect(parse(bytes)).toMatchObject({ lines: [], findings: [{ code: 'CHECKSUM_UTF16', severity: 'error', args: { encoding } }] });
    }
  });

  it('without a well-formed line is an error', () => {
    expect(parse('').findings).toMatchObject([{ code: 'CHECKSUM_EMPTY', severity: 'error', args: { malformed: 0 } }]);
    expect(parse('# only this\n\n').findings).toMatchObject([{ code: 'CHECKSUM_EMPTY' }]);
    expect(codes(parse('<!doctype html>\n'))).toEqual(['CHECKSUM_LINES_MALFORMED', 'CHECKSUM_EMPTY']);
  });

  it('that gives one name two digests loses that name; the same digest twice, or two algorithms, is fine', () => {
    const file = parse(`${A}  a\n${B}  b\n${B}  a\n${B.toUpperCase()}  b\n${MD5}  b\n${A}  a\n`);
    expect(file.lines.map(({ line }) => line)).toEqual([2, 4, 5]);
    expect(file.findings).toMatchObject([
      { code: 'CHECKSUM_CONFLICT', severity: 'error', args: { name: 'a', algorithm: 'sha256', lines: [1, 3], digests: [A, B] } },
    ]);
  });

  it('that nobody named may not point outside its folder', () => {
    const bad = ['/etc/passwd', '../x', 'a/../../x', '..', 'C:x', 'C:\\x', 'a\\b'];
    const text = ['fine', './also/fine', '..fine', ...bad].map((name) => formatChecksumLine({ name, algorithm: 'sha256', digest: A })).join('\n');
    const file = parseChecksumFile(text, { name: 'SHA256SUMS' });
    expect(file.lines.map(({ name }) => name)).toEqual(['fine', './also/fine', '..fine']);
    expect(file.findings.map(({ code, severity, args }) => [code, severity, args['name']])).toEqual(
      bad.map((name) => ['CHECKSUM_NAME_REFUSED', 'error', name]),
    );
    expect(parse(text).lines.length).toBe(10);
    expect(parse(text).findings).toEqual([]);
  });

  it('takes its algorithm from the caller, else from its name', () => {
    for (const [name, algorithm] of [
      ['SHA256SUMS', 'sha256'],
      ['dir.md5/sha256sums.txt', 'sha256'],
      ['MD5SUMS', 'md5'],
      ['model.bin.md5', 'md5'],
      ['C:\\x\\model.SHA1', 'sha1'],
      ['model.sha256sum', 'sha256'],
      ['model.sha256.txt', 'sha256'],
      ['SHA512SUMS', undefined],
      ['checksums.txt', undefined],
      ['mymd5sums', undefined],
    ] as const) {
      expect([name, algorithmOfName(name)]).toEqual([name, algorithm]);
    }
    const given = parseChecksumFile(`${SHA1}  a\n01234567  b`, { name: 'MD5SUMS', algorithm: 'git-blob-sha1' });
    expect(given.lines.map((line) => line.algorithm)).toEqual(['git-blob-sha1']);
    expect(given.malformed.map(({ reason }) => reason)).toEqual(['digest-length']);
  });

  it('above the limit for texts is refused before it is read', () => {
    expect(() => parseChecksumFile(`${A}  a\n`, { name: 'sums', limits: { maxTextBytes: 67 } })).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED', context: expect.objectContaining({ limit: 'maxTextBytes', found: 68 }) }),
    );
  });

  it('cut at any byte still gives whole lines or none', () => {
    const whole = Buffer.from(`\ufeff# c\n${A}  a\r\n\\${B}  b\\nc\nSHA256 (ü) = ${A}\n${MD5} *d\n`);
    const full = parse(whole);
    expect(full.lines.length).toBe(4);
    for (let length = 0; length <= whole.length; length += 1) {
      const { lines } = parse(whole.subarray(0, length));
      const last = Math.max(0, lines.length - 1);
      expect(lines.slice(0, last)).toEqual(full.lines.slice(0, last));
      expect(lines.every(({ digest, algorithm }) => digest.length === digestFacts(algorithm).hexLength)).toBe(true);
    }
  });

  it('costs work in proportion to its size, whatever it holds', () => {
    const hostile: [string, (size: number) => string][] = [
      ['short lines', (size) => 'x\n'.repeat(size / 2)],
      ['malformed lines', (size) => 'nonsense nonsense\n'.repeat(size / 18)],
      ['one long name', (size) => `\\${A}  ${'\\n'.repeat(size / 2)}`],
      ['backslashes', (size) => `\\${A}  ${'\\'.repeat(size)}`],
      ['parentheses', (size) => `SHA256 ${'('.repeat(size)}`],
      ['closing parentheses', (size) => `SHA256 (${')'.repeat(size)}`],
      ['blanks', (size) => `${' '.repeat(size)}${A}  a`],
      ['hex', (size) => 'a'.repeat(size)],
      ['conflicts', (size) => Array.from({ length: size / 70 }, (_, i) => `${i % 2 ? A : B}  n`).join('\n')],
    ];
    for (const [, make] of hostile) {
      const small = work(make(40_000));
      const large = work(make(400_000));
      expect(large.decoded).toBeLessThanOrEqual(small.decoded * 12 + 100);
      expect(large.searched).toBeLessThanOrEqual(small.searched * 12 + 100);
      expect(large.kept).toBeLessThanOrEqual(1000);
    }
  });
});

/** Bytes decoded, bytes searched for line ends, and malformed lines kept. */
function work(text: string): { decoded: number; searched: number; kept: number } {
  const bytes = new TextEncoder().encode(text);
  let searched = 0;
  let decoded = 0;
  const counting = Object.assign(bytes, {
    indexOf(value: number, from: number): number {
      const found = Uint8Array.prototype.indexOf.call(bytes, value, from);
      searched += (found === -1 ? bytes.length : found) - from + 1;
      return found;
    },
    subarray(start: number, end: number): Uint8Array {
      decoded += end - start;
      return Uint8Array.prototype.subarray.call(bytes, start, end);
    },
  });
  const kept = parse(counting).malformed.length;
  return { decoded, searched, kept };
}

describe('a checksum line', () => {
  const hostileName = fc
    .oneof(
      fc.array(fc.constantFrom('\n', '\r', '\\', ' ', '*', '#', '(', ')', '=', '\t', 'a', 'ü', '\u{1f600}', '\ufeff', '\ufffd'), { minLength: 1 }).map((parts) => parts.join('')),
      fc.string({ minLength: 1, unit: 'grapheme' }),
    )
    .filter((name) => !name.includes('\0') && name !== '');

  it('is read back as it was written, for every name', () => {
    fc.assert(
      fc.property(
        hostileName,
        fc.constantFrom('sha256' as const, 'md5' as const, 'sha1' as const),
        fc.boolean(),
        fc.boolean(),
        (name, algorithm, tag, carriageReturn) => {
          const digest = 'e'.repeat(digestFacts(algorithm).hexLength);
          const line = formatChecksumLine({ name, algorithm, digest }, { tag });
          const { lines, findings } = parse(`${line}${carriageReturn ? '\r' : ''}\n`);
          expect(findings).toEqual([]);
          expect(lines).toEqual([{ line: 1, name, algorithm, digest, binary: false }]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is written as coreutils write it', () => {
    expect(formatChecksumLine({ name: 'a b', algorithm: 'sha256', digest: A.toUpperCase() })).toBe(`${A}  a b`);
    expect(formatChecksumLine({ name: 'a\n\\\r', algorithm: 'md5', digest: MD5 })).toBe(`\\${MD5}  a\\n\\\\\\r`);
    expect(formatChecksumLine({ name: 'a\\', algorithm: 'sha1', digest: SHA1 }, { tag: true })).toBe(`\\SHA1 (a\\\\) = ${SHA1}`);
  });

  it.each(digestAlgorithms)('is read back with its tag as %s', (algorithm) => {
    const digest = 'e'.repeat(digestFacts(algorithm).hexLength);
    expect(parse(formatChecksumLine({ name: 'a', algorithm, digest }, { tag: true })).lines).toMatchObject([{ algorithm, digest, name: 'a' }]);
  });

  it('is refused for what no checksum file can hold', () => {
    for (const name of ['', 'a\0', '\ud800', 'x\udc00']) {
      expect(() => formatChecksumLine({ name, algorithm: 'sha256', digest: A })).toThrow(TypeError);
    }
    expect(() => formatChecksumLine({ name: 'a', algorithm: 'sha256', digest: SHA1 })).toThrow(expect.objectContaining({ code: 'DIGEST_OTHER_ALGORITHM' }));
  });
});
