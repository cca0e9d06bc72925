/** Sizes and cuts at which hash functions go wrong: block and padding borders, counters of 32 bits. */
import { createHash } from 'node:crypto';
import { createMemorySource, createOneThreadTaskRunner, digestSource, wasmHashers, type ByteSource, type HasherProvider } from '@assay/core';
import { createExpectation, createVerifierStream, verifyFiles } from '@assay/verify';
import { describe, expect, it } from 'vitest';

const sizes = [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 65_535, 65_536, 65_537, 200_003];
const pattern = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, i) => (i * 131 + (i >> 8)) % 256);

describe('digests are the same for every cut', () => {
  it.each(sizes)('of %i bytes', async (size) => {
    const bytes = pattern(size);
    const hash = (algorithm: string, head = ''): string => createHash(algorithm).update(head).update(bytes).digest('hex');
    const digests = { sha256: hash('sha256'), md5: hash('md5'), sha1: hash('sha1'), 'git-blob-sha1': hash('sha1', `blob ${size}\0`) };
    const algorithms = Object.keys(digests) as (keyof typeof digests)[];
    for (const chunkBytes of [1, 4099, 65_536].filter((chunk) => size / chunk <= 70_000)) {
      const found = await digestSource(createMemorySource(bytes), algorithms, { hashers: wasmHashers, chunkBytes });
      expect(Object.fromEntries(found)).toEqual(digests);
      await expect(drain(bytes, chunkBytes, createVerifierStream({ digests, byteLength: size, hashers: wasmHashers }))).resolves.toBe(size);
    }
  });
});

async function drain(bytes: Uint8Array, chunkBytes: number, verifier: TransformStream<Uint8Array, Uint8Array>): Promise<number> {
  let at = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, (at += chunkBytes)));
    },
  });
  let length = 0;
  for await (const chunk of source.pipeThrough(verifier)) length += chunk.length;
  return length;
}

const native: HasherProvider = {
  async create(algorithm) {
    const hash = createHash(algorithm);
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') };
  },
};

/** `head -c <size> /dev/zero | openssl dgst -sha256`, OpenSSL 3.0. */
const zeros: [size: number, sha256: string][] = [
  [2 ** 32 - 1, '318eea1453f3a536e42d9637db593982c5c297220b2019bd4b7ad08e88d91e4b'],
  [2 ** 32 + 1, 'fbb82f7b353676bb562eb82157fcf0ea42c36492ca13ee56dbf82c08b6802c5c'],
];

describe('files around 4 GiB, where 32 bits end,', () => {
  it.each(zeros)('%i bytes, are verified', { timeout: 240_000 }, async (size, sha256) => {
    const source: ByteSource = {
      name: 'zeros',
      size,
      readInto: async (target) => void target.fill(0),
      identity: async () => 'zeros',
      [Symbol.asyncDispose]: async () => undefined,
    };
    const report = await verifyFiles([{ source, expected: createExpectation({ sha256 }, { byteLength: size }) }], { tasks: createOneThreadTaskRunner(native) });
    expect(report).toMatchObject({ ok: true, totals: { byteLength: size } });
  });
});
