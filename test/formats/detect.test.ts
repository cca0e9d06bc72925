import { readFileSync } from 'node:fs';
import { deflateSync, gzipSync } from 'node:zlib';
import { createMemorySource, type ByteSource } from '@assay/core';
import { detect, polyglotFinding, refusalOf, type DetectedKind, type Detection } from '@assay/formats';
import { describe, expect, it } from 'vitest';
import { countingSource } from '../support/counting-source.ts';
import { buildZip, torchLikeZip } from '../support/zip-builder.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const bytes = (...values: (number | string | Uint8Array)[]): Uint8Array =>
  new Uint8Array(Buffer.concat(values.map((value) => (typeof value === 'number' ? Uint8Array.of(value) : typeof value === 'string' ? text(value) : value))));
const fixture = (name: string): Uint8Array => readFileSync(new URL(`../fixtures/${name}`, import.meta.url));
const zip = (...names: string[]): Uint8Array => buildZip(names.map((name) => ({ name, data: 'x' })));
const noise = Uint8Array.from({ length: 300 }, (_, i) => (i * 151 + 200) & 0xff);

function safetensors(header: string, data: Uint8Array = new Uint8Array(0), declared = text(header).length): Uint8Array {
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(declared), true);
  return bytes(length, header, data);
}

/** A tar member: a header with its checksum, and its data in blocks. */
function tarMember(name: string, data: string): Uint8Array {
  const block = new Uint8Array(512 + Math.ceil(data.length / 512) * 512);
  block.set(text(name));
  block.set(text(data.length.toString(8).padStart(11, '0')), 124);
  block.set(text('        '), 148);
  const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  block.set(text(`${sum.toString(8).padStart(6, '0')}\0 `), 148);
  block.set(text(data), 512);
  return block;
}

const LFS = 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n';

type Row = readonly [what: string, content: () => Uint8Array, kind: DetectedKind, facts?: Record<string, unknown>];

const rows: readonly Row[] = [
  ['safetensors', () => fixture('golden/plain.safetensors'), 'safetensors', { headerByteLength: 232 }],
  ['safetensors without tensors', () => safetensors('{}'), 'safetensors'],
  ['safetensors with white space first', () => safetensors(' \n{}'), 'safetensors'],
  ['safetensors cut inside the header', () => fixture('golden/plain.safetensors').subarray(0, 100), 'safetensors', { truncated: true }],
  ['safetensors cut behind the brace', () => fixture('golden/plain.safetensors').subarray(0, 9), 'safetensors', { truncated: true }],
  ['safetensors cut inside the data', () => fixture('golden/plain.safetensors').subarray(0, 300), 'safetensors'],
  ['safetensors whose length spells a zip', () => safetensors('{}', undefined, 0x0403_4b50), 'safetensors'],
  ['a checkpoint of PyTorch 2.13', () => fixture('plain.pt'), 'torch-zip', { root: 'plain', members: 9 }],
  ['a checkpoint of PyTorch 1.13', () => fixture('torch113-plain.pt'), 'torch-zip'],
  ['a checkpoint cut off', () => fixture('truncated.pt'), 'torch-zip', { problem: 'ZIP_DIRECTORY_MISSING', root: 'archive' }],
  ['a checkpoint without its pickle', () => fixture('missing-pickle.pt'), 'torch-zip'],
  ['a checkpoint with its pickle in capitals', () => zip('archive/DATA.PKL', 'archive/version'), 'torch-zip'],
  ['TorchScript', () => fixture('torchscript.pt'), 'torchscript'],
  ['TorchScript before 1.3', () => zip('m/model.json', 'm/tensors/0'), 'torchscript'],
  ['torch.export', () => fixture('exported.pt2'), 'torch-export'],
  ['torch.package', () => zip('p/.data/extern_modules', 'p/.data/version', 'p/model/model.pkl'), 'torch-package'],
  ['npz', () => zip('a.npy', 'b.npy'), 'npz'],
  ['another zip', () => zip('readme.txt', 'weights/model.safetensors'), 'zip', { contains: 'weights/model.safetensors' }],
  ['an empty zip', () => buildZip([]), 'zip', { members: 0 }],
  ['a zip behind other bytes', () => buildZip([{ name: 'a/data.pkl' }], { prefix: noise }), 'torch-zip', { prefixByteLength: 300 }],
  ['the form before 1.6', () => fixture('legacy.pt'), 'torch-legacy', { protocol: 2 }],
  ['the form before 1.6, by Python 2', () => fixture('lpips-alex.pth'), 'torch-legacy'],
  ['the form before 1.6 in protocol 4', () => bytes(0x80, 4, 0x95, 13, 0, 0, 0, 0, 0, 0, 0, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e), 'torch-legacy', { protocol: 4 }],
  ['the tar form before 0.1.10', () => bytes(tarMember('sys_info', 'x'), tarMember('pickle', 'y'), tarMember('tensors', 'z')), 'torch-tar'],
  ['tar by its checksum', () => bytes(tarMember('model.bin', 'x'), new Uint8Array(1024)), 'tar', { firstMembers: ['model.bin'] }],
  ['the preview release', () => bytes('PYTORCH1', noise), 'torch-preview'],
  ['a bare pickle of protocol 2', () => fixture('bare-pickle.pt'), 'pickle', { protocol: 2 }],
  ['a bare pickle of protocol 0', () => text("(dp0\nVa\np1\nI1\ns."), 'pickle', { protocol: 0 }],
  ['a pickled global of protocol 0', () => text('ccollections\nOrderedDict\np0\n(tRp1\nVa\np2\nI1\ns.'), 'pickle'],
  ['a bare pickle of protocol 1', () => bytes('}q', 0, 'X', 1, 0, 0, 0, 'aq', 1, 'K', 1, 's.'), 'pickle'],
  ['a call of protocol 0', () => text("cos\nsystem\n(S'echo'\ntR."), 'pickle'],
  ['GGUF', () => bytes('GGUF', 3, 0, 0, 0, noise), 'gguf'],
  ['GGML', () => bytes('tjgg', 3, 0, 0, 0, noise), 'ggml'],
  ['HDF5', () => bytes(0x89, 'HDF\r\n', 0x1a, 0x0a, noise), 'hdf5'],
  ['HDF5 behind a user block', () => bytes(new Uint8Array(512), 0x89, 'HDF\r\n', 0x1a, 0x0a), 'hdf5', { offset: 512 }],
  ['npy', () => bytes(0x93, 'NUMPY', 1, 0, noise), 'npy'],
  ['gzip', () => gzipSync(fixture('plain.pt')), 'gzip'],
  ['zlib', () => deflateSync(fixture('plain.pt')), 'zlib'],
  ['zstd', () => bytes(0x28, 0xb5, 0x2f, 0xfd, noise), 'zstd'],
  ['xz', () => bytes(0xfd, '7zXZ', 0, noise), 'xz'],
  ['bzip2', () => bytes('BZh9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, noise), 'bzip2'],
  ['LZ4', () => bytes(0x04, 0x22, 0x4d, 0x18, noise), 'lz4'],
  ['7z', () => bytes('7z', 0xbc, 0xaf, 0x27, 0x1c, noise), '7z'],
  ['RAR', () => bytes('Rar!', 0x1a, 0x07, 1, 0, noise), 'rar'],
  ['PDF', () => bytes('%PDF-1.7\n', noise), 'pdf'],
  ['a Git LFS pointer', () => text(LFS), 'git-lfs-pointer', { oid: '4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393', size: 12_345 }],
  ['a Git LFS pointer with CRLF', () => text(LFS.replaceAll('\n', '\r\n')), 'git-lfs-pointer', { size: 12_345 }],
  ['a web page', () => text('<!DOCTYPE html>\n<html><head><title>\n 404 Not  Found </title>'), 'html', { title: '404 Not Found' }],
  ['a web page with comment and byte order mark', () => text('\ufeff\n<!-- x -->\n<HTML lang="en">'), 'html'],
  ['a web page in UTF-16', () => new Uint8Array(Buffer.from('\ufeff<html><title>Login</title>', 'utf16le')), 'html', { title: 'Login' }],
  ['an answer of an object store', () => text('<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>'), 'xml', { code: 'AccessDenied', error: 'Request has expired' }],
  ['an error in JSON', () => text('{"error":"Access to model is restricted"}'), 'json', { error: 'Access to model is restricted' }],
  ['an error in JSON, nested', () => text('{"status":401,"error":{"message":"no token"}}'), 'json', { error: 'no token' }],
  ['an error list in JSON', () => text(' [{"detail":"gone"}]'), 'json', { error: 'gone' }],
  ['a shard index', () => text('{"metadata":{},"weight_map":{"a":"b"}}'), 'json', { isShardIndex: true }],
  ['a large JSON document', () => text(`{"weight_map":{${Array.from({ length: 20_000 }, (_, i) => `"${i}":"x"`).join()}}}`), 'json', { isShardIndex: true }],
  ['plain text', () => text('Entry not found'), 'text', { firstLine: 'Entry not found' }],
  ['a README', () => text('# (I) A model\nc is a constant\n'), 'text'],
  ['text that begins like zlib', () => text('x^2 + y^2 = z^2'), 'text'],
  ['text that begins with a mark and a number', () => text('(I am not a pickle)\n'), 'text'],
  ['CSV that begins like a pickle', () => text('I,II,III\n1,2,3\n'), 'text'],
  ['nothing', () => new Uint8Array(0), 'empty'],
  ['zeros', () => new Uint8Array(5000), 'zeros', { wholeFileRead: true, bytesLookedAt: 5000 }],
  ['a few zeros', () => new Uint8Array(3), 'zeros'],
  ['noise', () => noise, 'unknown', { firstBytes: Buffer.from(noise.subarray(0, 16)).toString('hex').replaceAll(/(..)(?=.)/g, '$1 ') }],
  ['one byte', () => Uint8Array.of(0xff), 'unknown'],
];

const cases = rows.map(([what, content, kind, facts = {}]) => ({ what, content, kind, facts }));

const source = (content: Uint8Array, name = 'models/model.bin'): ByteSource => createMemorySource(content, name);

describe('detect', () => {
  it.each(cases)('recognises $what', async ({ content, kind, facts }) => {
    const detection = await detect(source(content()));
    expect(detection).toMatchObject({ kind, facts });
  });

  it('tells every kind that it has a name for', () => {
    const all: Record<DetectedKind, true> = {
      safetensors: true, 'torch-zip': true, torchscript: true, 'torch-package': true, 'torch-export': true, 'torch-legacy': true, 'torch-tar': true,
      'torch-preview': true, pickle: true, zip: true, npz: true, npy: true, gguf: true, ggml: true, hdf5: true, 'git-lfs-pointer': true, html: true,
      xml: true, json: true, pdf: true, gzip: true, zlib: true, zstd: true, xz: true, bzip2: true, lz4: true, '7z': true, rar: true, tar: true,
      text: true, zeros: true, empty: true, unknown: true,
    };
    expect([...new Set(rows.map(([, , kind]) => kind))].toSorted()).toEqual(Object.keys(all).toSorted());
  });

  it('quotes no more than 200 characters', async () => {
    const { facts } = await detect(source(text(`<html><title>${'long '.repeat(500)}`)));
    expect((facts['title'] as string).length).toBeLessThanOrEqual(201);
  });

  it('reads the head and the tail of a large file', async () => {
    const large = countingSource(bytes('GGUF', 3, new Uint8Array(3 << 20).fill(7)));
    expect((await detect(large)).kind).toBe('gguf');
    expect(large.reads()).toBe(2);
    expect(large.bytesRead()).toBeLessThan(200_000);
  });

  it('says of large zeros how many bytes it looked at, and where there is something after all', async () => {
    const zeros = countingSource(new Uint8Array(20 << 20));
    const { kind, facts } = await detect(zeros);
    expect(kind).toBe('zeros');
    expect(facts).toMatchObject({ wholeFileRead: false, byteLength: 20 << 20 });
    expect(facts['bytesLookedAt']).toBeLessThan(1 << 20);
    const holed = new Uint8Array(20 << 20).fill(9, 10 << 20);
    expect(await detect(source(holed))).toMatchObject({ kind: 'unknown', facts: { zerosAtStart: 65_536, somethingAt: expect.any(Number) } });
  });

  it.each([
    ['golden/plain.safetensors', ['safetensors', 'unknown', 'empty']],
    ['plain.pt', ['torch-zip', 'zip', 'text', 'empty', 'unknown']],
    ['bare-pickle.pt', ['pickle', 'torch-legacy', 'unknown', 'empty']],
  ] as const)('says something of %s cut at any byte', async (name, kinds) => {
    const whole = fixture(name);
    for (let size = 0; size < whole.length; size += 1) {
      const { kind } = await detect(source(whole.subarray(0, size)));
      expect(kinds, `cut at ${size}`).toContain(kind);
    }
  });
});

describe('detect reports both readings of', () => {
  const appended = buildZip([{ name: 'a/data.pkl', data: 'x' }]);
  it.each<[string, Uint8Array, DetectedKind, DetectedKind[]]>([
    ['safetensors whose length spells a zip', safetensors('{}', undefined, 0x0403_4b50), 'safetensors', ['zip']],
    ['safetensors whose length spells "\\x93."', safetensors(`{}${' '.repeat(0x2e93 - 2)}`), 'safetensors', ['pickle']],
    ['safetensors whose length spells "x "', safetensors(`{}${' '.repeat(0x2078 - 2)}`), 'safetensors', ['zlib']],
    ['safetensors whose length spells PROTO 2', safetensors(`{}${' '.repeat(0x7d_0280 - 2)}`), 'safetensors', ['pickle']],
    ['safetensors with a zip behind', bytes(safetensors('{}'), appended), 'safetensors', ['zip']],
    ['a pickle with a zip behind', bytes(fixture('bare-pickle.pt'), appended), 'pickle', ['zip']],
    ['a PDF with a zip behind', bytes('%PDF-1.7\n', noise, appended), 'pdf', ['zip']],
  ])('%s', async (_, content, kind, others) => {
    const detection = await detect(source(content));
    expect(detection).toMatchObject({ kind, alsoReadableAs: others });
    const args = { found: kind, alsoReadableAs: others };
    expect(polyglotFinding(detection, source(content))).toMatchObject({ code: 'FORMAT_POLYGLOT', severity: 'warning', args });
  });

  it('nothing else, of what has one reading', async () => {
    for (const content of [fixture('plain.pt'), fixture('legacy.pt'), fixture('protocol0.pt'), fixture('golden/plain.safetensors'), text('x^2')]) {
      const detection = await detect(source(content));
      expect(detection.alsoReadableAs).toEqual([]);
      expect(polyglotFinding(detection, source(content))).toBeUndefined();
    }
  });
});

describe('refusalOf', () => {
  const codes = new Map<DetectedKind, string | undefined>([
    ['safetensors', undefined],
    ['torch-zip', undefined],
    ['empty', 'FORMAT_EMPTY'],
    ['zeros', 'FORMAT_ZEROS'],
    ['git-lfs-pointer', 'FORMAT_GIT_LFS_POINTER'],
    ['html', 'FORMAT_HTML'],
    ['xml', 'FORMAT_XML'],
    ['json', 'FORMAT_JSON'],
    ['text', 'FORMAT_TEXT'],
    ['pdf', 'FORMAT_UNKNOWN'],
    ['unknown', 'FORMAT_UNKNOWN'],
    ...(['gzip', 'zlib', 'zstd', 'xz', 'bzip2', 'lz4', '7z', 'rar', 'tar', 'zip'] as const).map((kind) => [kind, 'FORMAT_ARCHIVE'] as const),
  ]);

  it.each(cases)('has a code, what was found and expected, and an action for $what, unless it is opened', async ({ content, kind }) => {
    const file = source(content());
    const error = refusalOf(await detect(file), file);
    expect(error?.code).toBe(codes.has(kind) ? codes.get(kind) : 'FORMAT_UNSUPPORTED');
    if (error === undefined) return;
    expect(error.context).toMatchObject({ found: kind, expected: expect.any(String), offset: expect.any(Number) });
    expect(error.hint).toMatch(/[.a-z?]$/);
    expect(error.message).toContain('models/model.bin');
  });

  const refused = async (content: Uint8Array, name: string): Promise<{ hint: string; message: string; context: Detection['facts'] }> => {
    const error = refusalOf(await detect(source(content, name)), source(content, name));
    return { hint: error?.hint ?? '', message: error?.message ?? '', context: error?.context ?? {} };
  };

  it('gives the command that fetches what a pointer stands for, as one word of a shell', async () => {
    expect((await refused(text(LFS), 'dir/model.bin')).hint).toContain('git lfs pull --include model.bin');
    expect((await refused(text(LFS), "it's; rm -rf")).hint).toContain(`--include 'it'\\''s; rm -rf'`);
  });

  it('gives the command that unpacks', async () => {
    expect((await refused(bytes('7z', 0xbc, 0xaf, 0x27, 0x1c), 'a b.pt')).hint).toContain(`7z x 'a b.pt'`);
    expect((await refused(zip('x.txt'), 'm.zip')).hint).toContain('unzip m.zip');
    expect((await refused(zip('x.txt'), '-rf')).hint).toContain('unzip ./-rf');
  });

  it('quotes a title with its control characters escaped', async () => {
    const { message, context } = await refused(text('<title>\u001b[31mred'), 'm.bin');
    expect(message).not.toContain('\u001b');
    expect(context['title']).toBe('\u001b[31mred');
  });

  it('says of a zip that lost its directory, and of which nothing else is known, that it is truncated', async () => {
    const { context } = await refused(zip('readme.txt').subarray(0, 60), 'm.zip');
    expect(context).toMatchObject({ problem: 'ZIP_DIRECTORY_MISSING' });
  });
});

it('finds the checkpoint in a torch-like zip', async () => {
  expect((await detect(source(torchLikeZip('model')))).facts).toMatchObject({ root: 'model', members: 4 });
});
