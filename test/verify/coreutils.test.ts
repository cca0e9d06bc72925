/** The same verdicts as the real `sha256sum -c` and `md5sum -c` of this machine. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AssayError, blameOf, createMemorySource, createOneThreadTaskRunner, wasmHashers, type ByteSource } from '@assay/core';
import { formatChecksumLine, parseChecksumFile, verifyChecksumFile, type VerifyReport } from '@assay/verify';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';

const hasCoreutils = spawnSync('sha256sum', ['--version']).stdout?.includes('GNU coreutils') ?? false;
// On Linux they always run: there coreutils belong to the system.
const isWithout = process.platform !== 'linux' && !hasCoreutils;
const reason = isWithout ? ' (skipped: GNU coreutils are not installed, so there is nothing to compare with)' : '';

const content = 'hello';
const sha256 = createHash('sha256').update(content).digest('hex');
const other = createHash('sha256').digest('hex');
const md5 = createHash('md5').update(content).digest('hex');
const sha1 = createHash('sha1').update(content).digest('hex');

const folder = mkdtempSync(join(tmpdir(), 'assay-coreutils-'));
const listed = ['a', 'b', ' a', '*a', ' ', 'x y ', 'new\nline', 'back\\slash', 'cr\r', 'ü', 'p) = (q'];
for (const name of listed) writeFileSync(join(folder, name), content);
mkdirSync(join(folder, 'folder'));
afterAll(() => rmSync(folder, { recursive: true }));

type Tool = 'sha256sum' | 'md5sum';
interface Verdict {
  readonly exit: number;
  readonly malformed: number;
  /** `name: OK`, sorted, without repetitions. */
  readonly files: readonly string[];
}

function theirs(tool: Tool, bytes: Uint8Array, options: readonly string[]): Verdict {
  const sums = join(folder, '.sums');
  writeFileSync(sums, bytes);
  const { status, stdout, stderr } = spawnSync(tool, ['-c', ...options, '.sums'], { cwd: folder, encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, input: '' });
  rmSync(sums);
  // Coreutils 9.1 prints a carriage return as it is.
  const files = stdout.split('\n').filter((line) => line !== '').map((line) => printed(line));
  const malformed = /no properly formatted/.test(stderr)
    ? countLines(bytes)
    : Number(/(\d+) lines? (?:is|are) improperly formatted/.exec(stderr)?.[1] ?? 0);
  return { exit: status ?? -1, malformed, files: [...new Set(files)].sort() };
}

/** Lines that are neither blank nor comments. */
function countLines(bytes: Uint8Array): number {
  return Buffer.from(bytes).toString('latin1').split('\n').filter((line) => line.replace(/\r$/, '') !== '' && !line.startsWith('#')).length;
}

async function open(name: string): Promise<ByteSource> {
  const path = name.startsWith('/') ? name : join(folder, name);
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined) throw new AssayError('SOURCE_NOT_FOUND', { message: name });
  if (!facts.isFile()) throw new AssayError('SOURCE_NOT_A_FILE', { message: name });
  return createMemorySource(await readFile(path), name);
}

async function ours(tool: Tool, bytes: Uint8Array, options: readonly string[]): Promise<Verdict & { report: VerifyReport }> {
  const list = parseChecksumFile(bytes, { name: 'sums', algorithm: tool === 'md5sum' ? 'md5' : 'sha256', trusted: true });
  const report = await verifyChecksumFile(list, {
    open,
    tasks: createOneThreadTaskRunner(wasmHashers),
    ignoreMissing: options.includes('--ignore-missing'),
    strict: options.includes('--strict'),
  });
  const words = { ok: 'OK', mismatch: 'FAILED', missing: 'FAILED open or read', unreadable: 'FAILED open or read', unverified: '?' };
  const shown = report.files.filter(({ status }) => !(status === 'missing' && options.includes('--ignore-missing')));
  return {
    exit: exitOf(report),
    malformed: list.malformedCount,
    files: shown.map(({ name, status }) => `${printed(name)}: ${words[status]}`).sort(),
    report,
  };
}

/** As their verdicts print a name, or a whole verdict: escaped only where it would break the line. */
function printed(name: string): string {
  if (!/[\n\r]/.test(name)) return name;
  return `\\${name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}`;
}

/** 1: the input is wrong. 2: not answered for a reason outside it. */
function exitOf({ ok, findings }: VerifyReport): number {
  if (ok) return 0;
  return findings.some(({ code, severity }) => severity === 'error' && blameOf(code) !== 'world') ? 1 : 2;
}

const cases: [title: string, text: string, tool?: Tool, options?: string[]][] = [
  ['a plain line', `${sha256}  a\n`],
  ['no line end', `${sha256}  a`],
  ['a binary mark', `${sha256} *a\n`],
  ['upper case', `${sha256.toUpperCase()}  a\n`],
  ['a mismatch', `${other}  a\n${sha256}  b\n`],
  ['a missing file', `${sha256}  none\n${sha256}  b\n`],
  ['a missing file, ignored', `${sha256}  none\n${sha256}  b\n`, 'sha256sum', ['--ignore-missing']],
  ['only missing files, ignored', `${sha256}  none\n`, 'sha256sum', ['--ignore-missing']],
  ['a folder', `${sha256}  folder\n${sha256}  b\n`],
  ['a folder, ignoring what is missing', `${sha256}  folder\n${sha256}  b\n`, 'sha256sum', ['--ignore-missing']],
  ['an empty file', ''],
  ['only comments', '# a\n\n'],
  ['nonsense beside a good line', `nonsense\n${sha256}  a\n`],
  ['nonsense beside a good line, strictly', `nonsense\n${sha256}  a\n`, 'sha256sum', ['--strict']],
  ['only nonsense', 'nonsense\nmore\n'],
  ['CRLF', `${sha256}  a\r\n\r\n${sha256}  b\r\n`],
  ['two CR', `${sha256}  a\r\r\n`],
  ['leading blanks', ` \t${sha256}  a\n`],
  ['an indented comment', ` # c\n${sha256}  a\n`],
  ['blanks only', `   \n${sha256}  a\n`],
  ['a tab', `${sha256}\ta\n`],
  ['a tab and a blank', `${sha256}\t a\n`],
  ['names with blanks', `${sha256}   a\n${sha256}  x y \n`],
  ['one blank', `${sha256} a\n${sha256} b\n`],
  ['one blank, then two', `${sha256} a\n${sha256}  a\n${sha256} *a\n`],
  ['two blanks, then one', `${sha256}  a\n${sha256} b\n`],
  ['a name of one blank', `${sha256}  \n`],
  ['no name', `${sha256} \n${sha256}\n${sha256}  a\n`],
  ['escapes', `\\${sha256}  new\\nline\n\\${sha256}  back\\\\slash\n\\${sha256}  cr\\r\n`],
  ['needless escape mark', `\\${sha256}  a\n`],
  ['a backslash without the mark', `${sha256}  back\\slash\n`],
  ['bad escapes', `\\${sha256}  a\\t\n\\${sha256}  a\\\n${sha256}  a\n`],
  ['a bad escape decides on the separator', `\\${sha256} a\\t\n${sha256}  a\n`],
  ['tags', `SHA256 (a) = ${sha256}\nSHA256 (p) = (q) = ${sha256}\n\\SHA256 (new\\nline) = ${sha256}\n`],
  ['tags of OpenSSL 1', `SHA256(a)= ${sha256}\n`],
  ['tags with odd blanks', `SHA256 (a)=${sha256}\n SHA256 (b)\t =\t${sha256}\nSHA256  (a) = ${sha256}\n`],
  ['a tag with a blank after it', `SHA256 (a) = ${sha256} \n${sha256}  b\n`],
  ['a tag without a name', `SHA256 () = ${sha256}\n${sha256}  a\n`],
  ['a lower-case tag', `sha256 (a) = ${sha256}\n`],
  ['an unclosed tag', `SHA256 (a = ${sha256}\n${sha256}  b\n`],
  ['a tag of another algorithm', `MD5 (a) = ${md5}\n`],
  ['a tag beside one blank', `SHA256 (b) = ${sha256}\n${sha256} a\n`],
  ['md5', `${md5}  a\nMD5 (b) = ${md5}\n`, 'md5sum'],
  ['sha256 for md5sum', `${sha256}  a\nSHA256 (a) = ${sha256}\n`, 'md5sum'],
  ['digests of other lengths', `${sha1}  a\n${md5}  a\n${sha256}0  a\n${sha256.slice(1)}  a\n${sha256}  b\n`],
  ['no hex', `${'g'.repeat(64)}  a\n${sha256}  b\n`],
  ['an identical duplicate', `${sha256}  a\n${sha256}  a\n`],
  ['an absolute name', `${sha256}  ${folder}/a\n`],
  ['a name with ..', `${sha256}  folder/../a\n`],
  ['unicode', `${sha256}  ü\n`],
];

describe.skipIf(isWithout)(`verdicts are those of coreutils, for${reason}`, () => {
  it.each(cases)('%s', async (_, text, tool = 'sha256sum', options = []) => {
    const bytes = Buffer.from(text);
    const { report, ...mine } = await ours(tool, bytes, options);
    expect(mine).toEqual(theirs(tool, bytes, options));
    expect(report.complete).toBe(true);
  });

  it('lines of random pieces', async () => {
    const piece = fc.constantFrom(sha256, other, sha256.toUpperCase(), md5, ' ', ' ', '  ', '*', '\t', '\\', '\\n', '\\\\', 'a', 'b', 'SHA256', '(', ') = ', ')', '=', '#', '\r');
    const form = fc.constantFrom(`${sha256}  `, `${sha256} `, `\\${sha256}  `, `${other} *`, 'SHA256 (', '');
    const line = fc.tuple(form, fc.array(piece, { maxLength: 5 })).map(([start, parts]) => start + parts.join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), async (lines) => {
        // Two digests for one name are refused here, and checked one after the other there.
        const bytes = Buffer.from(lines.join('\n'));
        const { report, ...mine } = await ours('sha256sum', bytes, []);
        fc.pre(!report.findings.some(({ code }) => code === 'CHECKSUM_CONFLICT'));
        expect(mine).toEqual(theirs('sha256sum', bytes, []));
      }),
      { numRuns: 150 },
    );
  });
});

describe.skipIf(isWithout)(`differences from coreutils, each on purpose:${reason}`, () => {
  it('a byte order mark spoils no line', async () => {
    const bytes = Buffer.from(`\ufeff${sha256}  a\n`);
    expect([theirs('sha256sum', bytes, []).exit, (await ours('sha256sum', bytes, [])).exit]).toEqual([1, 0]);
  });

  it('the tag that OpenSSL 3 writes is read', async () => {
    const bytes = Buffer.from(`SHA2-256(a)= ${sha256}\n`);
    expect([theirs('sha256sum', bytes, []).exit, (await ours('sha256sum', bytes, [])).exit]).toEqual([1, 0]);
  });

  it('two digests for one name are refused, not checked one by one', async () => {
    const bytes = Buffer.from(`${sha256}  a\n${other}  a\n`);
    const { exit, files, report } = await ours('sha256sum', bytes, []);
    expect([theirs('sha256sum', bytes, []).exit, exit, files]).toEqual([1, 1, []]);
    expect(report.findings).toMatchObject([{ code: 'CHECKSUM_CONFLICT' }]);
  });

  it('a NUL does not end a name', async () => {
    const bytes = Buffer.from(`${sha256}  a\0.bin\n${sha256}  b\n`);
    expect(theirs('sha256sum', bytes, []).files).toContain('a: OK');
    expect((await ours('sha256sum', bytes, [])).files).toEqual(['b: OK']);
  });
});

describe.skipIf(isWithout)(`lines written here are those of coreutils, for${reason}`, () => {
  it.each(listed)('%j', (name) => {
    for (const [tool, algorithm, tag] of [
      ['sha256sum', 'sha256', false],
      ['sha256sum', 'sha256', true],
      ['md5sum', 'md5', false],
      ['md5sum', 'md5', true],
    ] as const) {
      const { stdout } = spawnSync(tool, [...(tag ? ['--tag'] : []), '--', name], { cwd: folder, encoding: 'utf8' });
      const digest = createHash(algorithm).update(readFileSync(join(folder, name))).digest('hex');
      expect(`${formatChecksumLine({ name, algorithm, digest }, { tag })}\n`).toBe(stdout);
    }
  });
});
