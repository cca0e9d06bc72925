import { createHash } from 'node:crypto';
import {
  AssayError,
  createMemorySource,
  createOneThreadTaskRunner,
  shortRead,
  wasmHashers,
  type ByteSource,
  type ProgressEvent,
  type TaskRunner,
} from '@assay/core';
import {
  createExpectation,
  parseChecksumFile,
  verifyChecksumFile,
  verifyFiles,
  type Expectation,
  type GivenDigests,
  type VerifyReport,
} from '@assay/verify';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const tasks = createOneThreadTaskRunner(wasmHashers);
const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (i * 7) % 256);
const hash = (algorithm: string, content: Uint8Array = bytes): string => createHash(algorithm).update(content).digest('hex');
const WRONG = '0'.repeat(64);

const given = (digests: GivenDigests, byteLength?: number): Expectation =>
  createExpectation(digests, { origin: 'test', ...(byteLength === undefined ? {} : { byteLength }) });
const statuses = ({ files }: VerifyReport): string[] => files.map(({ name, status }) => `${name} ${status}`);
const codes = ({ findings }: VerifyReport): string[] => findings.map(({ code, severity }) => `${code} ${severity}`);

/** A source that counts what is read, and can be made to misbehave. */
function source(name: string, options: { content?: Uint8Array; identity?: () => string; read?: () => void } = {}): ByteSource & { readonly bytesRead: number } {
  const { content = bytes, identity, read } = options;
  const memory = createMemorySource(content, name);
  let bytesRead = 0;
  return {
    ...memory,
    get bytesRead() {
      return bytesRead;
    },
    async readInto(target, start, transfer) {
      read?.();
      bytesRead += target.length;
      return memory.readInto(target, start, transfer);
    },
    identity: async () => identity?.() ?? memory.identity(),
  };
}

describe('verifying files', () => {
  it('computes all digests of a file in one read', async () => {
    const file = source('a');
    const digests = { sha256: hash('sha256').toUpperCase(), md5: hash('md5'), sha1: hash('sha1') };
    const report = await verifyFiles([{ source: file, expected: given(digests, 5000) }], { tasks });
    expect(report).toMatchObject({ ok: true, complete: true, findings: [], totals: { files: 1, ok: 1, byteLength: 5000 } });
    expect(report.files[0]).toMatchObject({ name: 'a', status: 'ok', byteLength: 5000, expected: { origin: 'test' } });
    expect(Object.fromEntries(report.files[0]?.digests ?? [])).toEqual({ sha256: hash('sha256'), md5: hash('md5'), sha1: hash('sha1') });
    expect(file.bytesRead).toBe(5000);
  });

  it('shows both digests when they differ', async () => {
    const report = await verifyFiles([{ source: source('a'), expected: given({ sha256: WRONG, md5: hash('md5') }) }], { tasks });
    expect(report.ok).toBe(false);
    expect(report.files[0]?.findings[0]).toEqual({
      code: 'DIGEST_MISMATCH',
      severity: 'error',
      subject: { path: 'a' },
      args: { algorithm: 'sha256', expected: WRONG, found: hash('sha256'), origin: 'test' },
    });
    expect(report.files[0]?.status).toBe('mismatch');
  });

  it('compares the size first, and hashes nothing of a file whose size is wrong', async () => {
    const large = source('a', { content: new Uint8Array(10_000_000).fill(1) });
    const report = await verifyFiles([{ source: large, expected: given({ sha256: WRONG }, 10_000_001) }], { tasks });
    expect(report.files[0]).toMatchObject({ status: 'mismatch', digests: new Map() });
    expect(report.findings[0]).toMatchObject({ code: 'SIZE_MISMATCH', args: { expected: 10_000_001, found: 10_000_000, missing: 1 } });
    // What was read is for the explanation: the first and last bytes.
    expect(large.bytesRead).toBeLessThan(2_000_000);
    const longer = await verifyFiles([{ source: large, expected: given({}, 9_999_000) }], { tasks });
    expect(longer.findings[0]).toMatchObject({ code: 'SIZE_MISMATCH', args: { extra: 1000 } });
  });

  it('keeps the order of the input, whatever order results come in', async () => {
    const backwards: TaskRunner = {
      async *run(list, sources, options) {
        const results = [];
        for await (const result of tasks.run(list, sources, options)) results.unshift(result);
        yield* results;
      },
    };
    const inputs = ['a', 'b', 'c', 'd'].map((name, i) => ({ source: source(name), expected: given({ sha256: i === 2 ? WRONG : hash('sha256') }) }));
    const report = await verifyFiles(inputs, { tasks: backwards });
    expect(statuses(report)).toEqual(['a ok', 'b ok', 'c mismatch', 'd ok']);
  });

  it('reports what cannot be read, and verifies the others', async () => {
    const denied = new AssayError('IO_PERMISSION', { message: 'denied', context: { errno: 'EACCES' } });
    const broken = (): never => {
      throw new AssayError('IO_FAILED', { message: 'EIO', context: { errno: 'EIO' } });
    };
    const odd = (): never => {
      throw new Error('something else');
    };
    const expected = given({ sha256: hash('sha256') });
    const report = await verifyFiles(
      [
        { name: 'denied', failure: denied, expected },
        { name: 'gone', failure: new AssayError('SOURCE_NOT_FOUND', { message: 'none' }), expected },
        { source: source('broken', { read: broken }), expected },
        { source: source('odd', { read: odd }), expected },
        { source: source('no identity', { identity: broken }), expected },
        { source: source('good'), expected },
      ],
      { tasks },
    );
    expect(statuses(report)).toEqual(['denied unreadable', 'gone missing', 'broken unreadable', 'odd unreadable', 'no identity unreadable', 'good ok']);
    expect(codes(report)).toEqual(['IO_PERMISSION error', 'SOURCE_NOT_FOUND error', 'IO_FAILED error', 'IO_FAILED error', 'IO_FAILED error']);
    expect(report.findings[0]?.args).toEqual({ errno: 'EACCES' });
    expect(report).toMatchObject({ ok: false, complete: false, totals: { ok: 1, unreadable: 4, missing: 1 } });
  });

  it('is complete when a file is only missing', async () => {
    const report = await verifyFiles([{ name: 'gone', failure: new AssayError('SOURCE_NOT_FOUND', { message: 'none' }), expected: given({ sha256: WRONG }) }], { tasks });
    expect(report).toMatchObject({ ok: false, complete: true });
  });

  it('gives no verdict on a file that changed while it was read, match or not', async () => {
    let version = 1;
    const changing = (name: string): ByteSource => source(name, { identity: () => `version ${version}`, read: () => void (version += 1) });
    const report = await verifyFiles(
      [
        { source: changing('a'), expected: given({ sha256: hash('sha256') }) },
        { source: changing('b'), expected: given({ sha256: WRONG }) },
      ],
      { tasks },
    );
    expect(statuses(report)).toEqual(['a unreadable', 'b unreadable']);
    expect(codes(report)).toEqual(['SOURCE_CHANGED error', 'SOURCE_CHANGED error']);
    expect(report.complete).toBe(false);
  });

  it('calls a file that was cut while it was read changed, not short', async () => {
    let size = 5000;
    const cut = source('a', {
      identity: () => `${size}`,
      read: () => {
        size = 10;
        throw shortRead('a', 0, 5000, 10);
      },
    });
    const report = await verifyFiles([{ source: cut, expected: given({ sha256: hash('sha256') }) }], { tasks });
    expect(codes(report)).toEqual(['SOURCE_CHANGED error']);
  });

  it('calls a file without a digest unverified, also when its size is right', async () => {
    const report = await verifyFiles(
      [
        { source: source('a'), expected: given({}) },
        { source: source('b'), expected: given({}, 5000) },
      ],
      { tasks },
    );
    expect(statuses(report)).toEqual(['a unverified', 'b unverified']);
    expect(codes(report)).toEqual(['VERIFY_NO_EXPECTATION error', 'VERIFY_NO_EXPECTATION error']);
    expect(report).toMatchObject({ ok: false, complete: true });
  });

  it('explains an expectation whose digest belongs to another algorithm, and goes on', async () => {
    const expected: Expectation = { digests: new Map([['sha256', hash('sha1')]]), origin: 'Hub' };
    const report = await verifyFiles([{ source: source('a'), expected }, { source: source('b'), expected: given({ sha256: hash('sha256') }) }], { tasks });
    expect(statuses(report)).toEqual(['a unverified', 'b ok']);
    expect(report.findings).toMatchObject([
      { code: 'DIGEST_OTHER_ALGORITHM', args: { algorithm: 'sha256', candidates: ['sha1', 'git-blob-sha1'], origin: 'Hub' } },
    ]);
  });

  it('of nothing is an error', async () => {
    const report = await verifyFiles([], { tasks });
    expect(codes(report)).toEqual(['VERIFY_NOTHING_VERIFIED error']);
    expect(report).toMatchObject({ ok: false, complete: true });
  });

  it('tells its progress in bytes, never backwards', async () => {
    const events: ProgressEvent[] = [];
    const content = new Uint8Array(3_000_000);
    await verifyFiles([{ source: source('a', { content }), name: 'shown', expected: given({ md5: hash('md5', content) }) }], { tasks, onProgress: (event) => void events.push(event) });
    expect(events.length).toBeGreaterThan(1);
    expect(events.every(({ bytesDone }, i) => bytesDone > (events[i - 1]?.bytesDone ?? 0))).toBe(true);
    expect(events.at(-1)).toEqual({ phase: 'verifying', subject: 'shown', bytesDone: 3_000_000, bytesTotal: 3_000_000 });
  });

  it('ends with the reason of an abort, untouched', async () => {
    const reason = new Error('enough');
    const controller = new AbortController();
    const expected = given({ sha256: hash('sha256') });
    const aborting = source('a', { read: () => controller.abort(reason) });
    await expect(verifyFiles([{ source: aborting, expected }], { tasks, signal: controller.signal })).rejects.toBe(reason);
    await expect(verifyFiles([], { tasks, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('an expectation', () => {
  it('is refused when a digest is not whole hexadecimal', () => {
    fc.assert(
      fc.property(fc.constantFrom('sha256' as const, 'md5' as const), fc.nat(63), (algorithm, length) => {
        const whole = hash(algorithm);
        const cut = whole.slice(0, length % whole.length);
        expect(() => given({ [algorithm]: cut })).toThrow(expect.objectContaining({ code: expect.stringMatching(/^DIGEST_(MALFORMED|OTHER_ALGORITHM)$/) }));
      }),
    );
  });

  it('takes blanks around a digest, and any case', () => {
    expect(given({ sha256: ` ${WRONG.replace('0', 'A')}\n` }).digests.get('sha256')).toBe(WRONG.replace('0', 'a'));
  });

  it('refuses a size that is none', () => {
    for (const size of [-1, 0.5, Number.NaN, 2 ** 53]) expect(() => given({}, size)).toThrow(TypeError);
  });
});

describe('verifying a checksum file', () => {
  const files = new Map([
    ['a', bytes],
    ['b', bytes],
  ]);
  let opened = 0;
  let most = 0;
  const open = async (name: string): Promise<ByteSource> => {
    const content = files.get(name);
    if (content === undefined) throw new AssayError('SOURCE_NOT_FOUND', { message: name });
    opened += 1;
    most = Math.max(most, opened);
    let closed = false;
    const dispose = async (): Promise<void> => {
      closed = true;
      opened -= 1;
    };
    const read = (): void => {
      if (closed) throw new TypeError('read after it was closed');
    };
    return { ...source(`/somewhere/${name}`, { content, read, identity: () => (read(), name) }), [Symbol.asyncDispose]: dispose };
  };
  const verify = (text: string, options: { ignoreMissing?: boolean; strict?: boolean } = {}): Promise<VerifyReport> =>
    verifyChecksumFile(parseChecksumFile(text, { name: 'sums' }), { open, tasks, ...options });

  it('reads a file once however many lines name it, and calls it as the list does', async () => {
    const report = await verify(`${hash('sha256')}  b\n${hash('md5')}  a\n${hash('sha256')}  a\n${hash('sha256')}  b\n`);
    expect(statuses(report)).toEqual(['b ok', 'a ok']);
    expect([...(report.files[1]?.digests.keys() ?? [])]).toEqual(['md5', 'sha256']);
    expect(report.files[1]?.expected.origin).toBe('sums line 2');
    expect(report.totals.byteLength).toBe(10_000);
  });

  it('fails for a missing file, unless it is ignored and another is right', async () => {
    const text = `${hash('sha256')}  none\n${hash('sha256')}  a\n`;
    expect(codes(await verify(text))).toEqual(['SOURCE_NOT_FOUND error']);
    expect(await verify(text, { ignoreMissing: true })).toMatchObject({ ok: true, totals: { ok: 1, missing: 1 } });
    const nothing = await verify(`${hash('sha256')}  none\n`, { ignoreMissing: true });
    expect(codes(nothing)).toEqual(['SOURCE_NOT_FOUND info', 'VERIFY_NOTHING_VERIFIED error']);
  });

  it('fails for a malformed line only when strict', async () => {
    const text = `something else\n${hash('sha256')}  a\n`;
    expect(await verify(text)).toMatchObject({ ok: true });
    expect(codes(await verify(text, { strict: true }))).toEqual(['CHECKSUM_LINES_MALFORMED error']);
  });

  it('fails when a name was refused or has two digests, though the rest is right', async () => {
    const report = await verify(`${hash('sha256')}  ../a\n${hash('sha256')}  a\n${hash('sha256')}  b\n${WRONG}  b\n`);
    expect(codes(report)).toEqual(['CHECKSUM_NAME_REFUSED error', 'CHECKSUM_CONFLICT error']);
    expect(statuses(report)).toEqual(['a ok']);
    expect(report.ok).toBe(false);
  });

  it('keeps a bounded number of files open and closes all of them', async () => {
    for (let i = 0; i < 500; i += 1) files.set(`many ${i}`, bytes);
    most = 0;
    const report = await verify(Array.from({ length: 500 }, (_, i) => `${hash('md5')}  many ${i}`).join('\n'));
    expect(report.totals.ok).toBe(500);
    expect(opened).toBe(0);
    expect(most).toBeLessThanOrEqual(64);
  });
});
