import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { createMemorySource, createMultiHasher, crc32ToHex, digestAlgorithms, digestFacts, digestSource, InOrderDigest, isDigestAlgorithm, wasmHashers } from '@assay/core';
import { describe, expect, it } from 'vitest';
import fc from 'fast-check';

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => (index * 31 + 7) % 256);
const hex = (algorithm: string, bytes: Uint8Array): string => createHash(algorithm).update(bytes).digest('hex');

describe('digestSource', () => {
  it('computes every digest in one read, whatever the chunk size and length', async () => {
    for (const length of [0, 1, 55, 56, 63, 64, 65, 1000, 70_000]) {
      const bytes = bytesOf(length);
      for (const chunkBytes of [1, 7, 4096, 65_536]) {
        if (length > 1000 && chunkBytes < 7) continue;
        let read = 0;
        const digests = await digestSource(createMemorySource(bytes), digestAlgorithms, { hashers: wasmHashers, chunkBytes, onBytes: (count) => (read += count) });
        expect(Object.fromEntries(digests)).toEqual({
          sha256: hex('sha256', bytes),
          md5: hex('md5', bytes),
          sha1: hex('sha1', bytes),
          'git-blob-sha1': hex('sha1', Buffer.concat([Buffer.from(`blob ${length}\0`), bytes])),
          crc32: crc32ToHex(crc32(bytes)),
        });
        expect(read).toBe(length);
      }
    }
  });

  it('digests a range only', async () => {
    const bytes = bytesOf(100);
    const digests = await digestSource(createMemorySource(bytes), ['md5'], { hashers: wasmHashers, start: 10, end: 90 });
    expect(digests.get('md5')).toBe(hex('md5', bytes.subarray(10, 90)));
  });

  it('stops when it is aborted, with the reason untouched', async () => {
    const reason = new Error('enough');
    const digest = digestSource(createMemorySource(bytesOf(10)), ['md5'], { hashers: wasmHashers, signal: AbortSignal.abort(reason) });
    await expect(digest).rejects.toBe(reason);
  });

  it('is SOURCE_SHORT_READ for a source that ends too early', async () => {
    const source = { ...createMemorySource(bytesOf(10)), size: 20 };
    await expect(digestSource(source, ['md5'], { hashers: wasmHashers })).rejects.toMatchObject({ code: 'SOURCE_SHORT_READ', context: { found: 10, expected: 20 } });
  });
});

describe('digest algorithms', () => {
  it('know the length of their hex', () => {
    expect(digestAlgorithms.map((algorithm) => digestFacts(algorithm).hexLength)).toEqual([64, 32, 40, 40, 8]);
    expect(['sha256', 'SHA256', 'constructor'].map(isDigestAlgorithm)).toEqual([true, false, false]);
  });

  it('need the length first for a git blob', async () => {
    await expect(createMultiHasher(wasmHashers, ['git-blob-sha1'])).rejects.toThrow(TypeError);
  });
});

describe('InOrderDigest', () => {
  it('is the digest of the whole, in whatever order and pieces it is written', async () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 199 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(cuts, fc.infiniteStream(fc.double({ noNaN: true })), async (points, order) => {
        const bytes = bytesOf(200);
        const edges = [0, ...points.sort((a, b) => a - b), 200];
        const pieces = edges.slice(1).map((end, index) => ({ start: edges[index] ?? 0, end, turn: order.next().value as number }));
        const written = new Uint8Array(200);
        const digest = await InOrderDigest.start(wasmHashers, ['sha256'], 200, async (target, position) => {
          target.set(written.subarray(position, position + target.length));
        });
        for (const { start, end } of pieces.sort((a, b) => a.turn - b.turn)) {
          written.set(bytes.subarray(start, end), start);
          await digest.wrote(bytes.subarray(start, end), start);
        }
        expect(digest.digests().get('sha256')).toBe(hex('sha256', bytes));
      }),
    );
  });

  it('refuses a digest of an output with a hole', async () => {
    const digest = await InOrderDigest.start(wasmHashers, ['md5'], 10, async () => undefined);
    await digest.wrote(new Uint8Array(2), 5);
    expect(() => digest.digests()).toThrow(RangeError);
  });
});
