import { createMemorySource, wasmHashers, type ByteSource } from '@assay/core';
import { checkZip, locateZipMembers, readZipDirectory } from '@assay/formats';
import { describe, expect, it } from 'vitest';
import { countingSource, type CountingSource } from '../support/counting-source.ts';
import { buildZip, extraField, torchLikeZip, type BuiltEntry } from '../support/zip-builder.ts';

const many = (count: number, payload = 40): Uint8Array =>
  buildZip(
    Array.from({ length: count }, (_, index): BuiltEntry => ({ name: `archive/data/${index}`, data: 'x'.repeat(payload), descriptor: 'signed', alignment: 64 })),
    { zip64: true, ...(count >= 0xffff ? { count: 0xffff } : {}) },
  );

async function located(source: CountingSource): Promise<number> {
  const { members, findings } = await locateZipMembers(source, await readZipDirectory(source));
  expect(findings).toEqual([]);
  return members.length;
}

describe('reads of a zip file', () => {
  it('are three for a small one: the end with the directory, the headers, the last gap', async () => {
    const source = countingSource(torchLikeZip());
    await located(source);
    expect(source.reads()).toBe(3);
  });

  it('are one more for a directory that is not in the tail', async () => {
    const source = countingSource(many(1500));
    await readZipDirectory(source);
    expect(source.reads()).toBe(2);
  });

  it('grow with the bytes, not with the members, where these lie close together', async () => {
    const reads = async (count: number): Promise<number> => {
      const source = countingSource(many(count));
      expect(await located(source)).toBe(count);
      expect(source.bytesRead()).toBeLessThan(source.size * 1.1 + 200_000);
      return source.reads();
    };
    const [small, large] = [await reads(2000), await reads(20_000)];
    expect(small).toBeLessThan(8);
    expect(large).toBeLessThan(small * 12);
  });

  it('are one a member and few bytes where payloads lie between', async () => {
    const source = countingSource(many(20, 200_000));
    await located(source);
    expect(source.reads()).toBeLessThanOrEqual(20 + 3);
    expect(source.bytesRead()).toBeLessThan(80_000);
  });

  it('are few for the CRCs of many small members', async () => {
    const source = countingSource(many(5000));
    expect(await checkZip(source, { hashers: wasmHashers })).toMatchObject({ ok: true, crcMatched: 5000 });
    expect(source.reads()).toBeLessThan(12);
  });
});

it('opens 200,000 members in some hundred reads', async () => {
  const source = countingSource(many(200_000, 0));
  expect(await located(source)).toBe(200_000);
  expect(source.reads()).toBeLessThan(200);
});

describe('a file of more than 4 GiB', () => {
  const GAP = 5 * 2 ** 30;
  const u64s = (...values: number[]): Uint8Array => new Uint8Array(new BigUint64Array(values.map(BigInt)).buffer);

  /** `bytes` with 5 GiB of zeros at `at`. */
  function stretched(bytes: Uint8Array, at: number): ByteSource {
    const inner = createMemorySource(bytes);
    return {
      ...inner,
      size: bytes.length + GAP,
      async readInto(target, start) {
        for (let index = 0; index < target.length; index += 1) {
          const place = start + index;
          target[index] = place < at ? (bytes[place] as number) : place < at + GAP ? 0 : (bytes[place - GAP] as number);
        }
      },
    };
  }

  it('is read with the sizes and offsets of its zip64 fields', async () => {
    const size = 8 + GAP;
    const entries = (offset: number): BuiltEntry[] => [
      { name: 'a/0', data: 'x'.repeat(8), zip64: true, local: { extra: extraField(1, u64s(size, size)) }, central: { extra: extraField(1, u64s(size, size, 0)) } },
      { name: 'a/1', data: 'second', zip64: true, central: { extra: extraField(1, u64s(6, 6, offset)) } },
    ];
    const payloadStart = 30 + 3 + 20;
    const second = payloadStart + 8;
    const directoryStart = second + 30 + 3 + 20 + 6;
    const directoryByteLength = 2 * (46 + 3 + 28);
    const bytes = buildZip(entries(second + GAP), {
      zip64: true,
      directoryStart: 0xffff_ffff,
      end64: { directoryStart: BigInt(directoryStart + GAP), start: BigInt(directoryStart + GAP + directoryByteLength) },
    });
    const source = stretched(bytes, payloadStart + 4);
    const directory = await readZipDirectory(source);
    expect(directory).toMatchObject({ zip64: true, findings: [], start: directoryStart + GAP });
    const { members, findings } = await locateZipMembers(source, directory);
    expect(findings).toEqual([]);
    expect(members.map(({ start, end }) => [start, end])).toEqual([
      [payloadStart, payloadStart + size],
      [directoryStart + GAP - 6, directoryStart + GAP],
    ]);
  });
});
