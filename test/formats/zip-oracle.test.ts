import { readFileSync, readdirSync } from 'node:fs';
import { createMemorySource } from '@assay/core';
import { locateZipMembers, readZipDirectory, readZipMember } from '@assay/formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBufferPromise, type Entry } from 'yauzl';
import { buildZip, type BuiltEntry } from '../support/zip-builder.ts';

const fixtures = new URL('../fixtures/', import.meta.url);
/** Refused, or not zip files: their own tests are elsewhere. */
const noZips = new Set(['legacy.pt', 'bare-pickle.pt', 'truncated.pt', 'bzip2-entries.pt', 'lpips-alex.pth', 'lpips-squeeze.pth', 'lpips-vgg.pth']);
interface Member {
  readonly name: string;
  readonly crc32: number;
  readonly content: string;
  readonly start: number;
}

async function ours(bytes: Uint8Array): Promise<Member[]> {
  const source = createMemorySource(bytes);
  const directory = await readZipDirectory(source);
  const { members, findings } = await locateZipMembers(source, directory);
  expect(findings).toEqual([]);
  return Promise.all(
    members.map(async (member) => ({
      name: member.name,
      crc32: member.crc32 as number,
      start: member.start,
      content: Buffer.from(await readZipMember(source, member)).toString('hex'),
    })),
  );
}

async function yauzls(bytes: Uint8Array): Promise<Member[]> {
  const file = await fromBufferPromise(Buffer.from(bytes));
  const members: Member[] = [];
  for await (const entry of file.eachEntry() as AsyncIterable<Entry>) {
    const { fileDataStart } = await file.readLocalFileHeaderPromise(entry, { minimal: true });
    const chunks: Buffer[] = [];
    for await (const chunk of await file.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    members.push({ name: entry.fileName, crc32: entry.crc32, start: fileDataStart, content: Buffer.concat(chunks).toString('hex') });
  }
  return members;
}

describe('members, offsets, CRCs and contents are as yauzl has them', () => {
  const names = readdirSync(fixtures).filter((name) => /\.(?:pt|pt2|pth|bin|ckpt)$/.test(name) && !noZips.has(name));
  it.each(names)('in %s', async (name) => {
    const bytes = readFileSync(new URL(name, fixtures));
    expect(await ours(bytes)).toEqual(await yauzls(bytes));
  });

  it('in whatever is built', async () => {
    const entry: fc.Arbitrary<Omit<BuiltEntry, 'name'> & { readonly part: string }> = fc.record({
      part: fc.stringMatching(/^[a-z0-9_ü.-]{0,12}[a-z]$/),
      data: fc.uint8Array({ maxLength: 300 }),
      deflate: fc.boolean(),
      descriptor: fc.constantFrom('none', 'signed', 'signed64'),
      alignment: fc.constantFrom(1, 64, 512),
      zip64: fc.boolean(),
    });
    const files = fc.record({ entries: fc.array(entry, { maxLength: 12 }), zip64: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(files, async ({ entries, zip64 }) => {
        const bytes = buildZip(entries.map(({ part, ...rest }, index) => ({ ...rest, name: `archive/${index}/${part}` })), { zip64 });
        const found = await ours(bytes);
        expect(found.map(({ content }) => content)).toEqual(entries.map(({ data }) => Buffer.from(data as Uint8Array).toString('hex')));
        expect(found).toEqual(await yauzls(bytes));
      }),
      { numRuns: 200 },
    );
  });
});

describe('a root folder', () => {
  it.each(['archive', 'x', 'model v1.5', 'dots.in.name.v1.5', 'ünïcode', 'ends with dot.'])('may be called %j', async (root) => {
    const bytes = buildZip([{ name: `${root}/data.pkl`, data: 'x' }]);
    expect((await ours(bytes)).map(({ name }) => name)).toEqual([`${root}/data.pkl`]);
  });
});
