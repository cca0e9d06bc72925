/**
 * What every Inflate kernel promises.
 */
import { deflateRawSync } from 'node:zlib';
import { inflateWithStreams, type Inflate } from '@assay/core';
import { nodeKernels } from '@assay/node';
import { describe, expect, test } from 'vitest';
import { patterned } from './scratch.ts';

const implementations: [string, Inflate][] = [
  ['streams', inflateWithStreams],
  ['node', nodeKernels.inflate],
];

async function* cut(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  const buffer = new Uint8Array(size);
  for (let start = 0; start < bytes.length; start += size) {
    const part = bytes.subarray(start, start + size);
    // One buffer for all chunks, as readers do it.
    buffer.set(part);
    yield buffer.subarray(0, part.length);
  }
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(Buffer.from(chunk));
  return Buffer.concat(all);
}

describe.each(implementations)('inflating: %s', (_, inflate) => {
  test.each([0, 1, 1000, 3_000_000])('gives back %i bytes', async (size) => {
    const bytes = patterned(size);
    expect(Buffer.compare(await joined(inflate(cut(deflateRawSync(bytes), 65_536))), bytes)).toBe(0);
  });

  test('gives back what is compressed a thousandfold', async () => {
    const bytes = new Uint8Array(20_000_000);
    expect(Buffer.compare(await joined(inflate(cut(deflateRawSync(bytes), 1000))), bytes)).toBe(0);
  });

  test('fails on a stream that is cut', async () => {
    const compressed = deflateRawSync(patterned(100_000));
    await expect(joined(inflate(cut(compressed.subarray(0, 50_000), 4096)))).rejects.toThrow();
  });

  test('fails on bytes that are no deflate stream', async () => {
    await expect(joined(inflate(cut(new Uint8Array(1000).fill(0xff), 100)))).rejects.toThrow();
  });

  test('ends its input when the consumer leaves', async () => {
    let ended = false;
    async function* input(): AsyncIterable<Uint8Array> {
      try {
        yield* cut(deflateRawSync(patterned(5_000_000)), 1000);
      } finally {
        ended = true;
      }
    }
    for await (const chunk of inflate(input())) if (chunk.length > 0) break;
    // Node 24 cancels the far end of a pipe a little later.
    await expect.poll(() => ended).toBe(true);
  });

  test('passes on a failure of its input', async () => {
    async function* input(): AsyncIterable<Uint8Array> {
      yield deflateRawSync(patterned(5000)).subarray(0, 100);
      throw new RangeError('the disk is gone');
    }
    await expect(joined(inflate(input()))).rejects.toThrow('the disk is gone');
  });
});

// DecompressionStream must fail here too (Compression Streams, "trailing data"), but Node 20's does not.
test.each([10, 300_000])('inflating with node fails on %i bytes after the end', async (extra) => {
  const compressed = Buffer.concat([deflateRawSync(patterned(1000)), new Uint8Array(extra)]);
  await expect(joined(nodeKernels.inflate(cut(compressed, 4096)))).rejects.toThrow();
});
