/**
 * What every HasherProvider promises.
 */
import { createMultiHasher, wasmHashers, type HashAlgorithm, type HasherProvider } from '@assay/core';
import { nodeHashers } from '@assay/node';
import { describe, expect, test } from 'vitest';
import { patterned } from './scratch.ts';

const implementations: [string, HasherProvider][] = [
  ['wasm', wasmHashers],
  ['node', nodeHashers],
];

// RFC 1321, FIPS 180-4, RFC 3174 and the check value of CRC-32/ISO-HDLC.
const known: [HashAlgorithm, string, string][] = [
  ['md5', '', 'd41d8cd98f00b204e9800998ecf8427e'],
  ['md5', 'abc', '900150983cd24fb0d6963f7d28e17f72'],
  ['sha1', 'abc', 'a9993e364706816aba3e25717850c26c9cd0d89d'],
  ['sha256', '', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['sha256', 'abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ['crc32', '', '00000000'],
  ['crc32', '123456789', 'cbf43926'],
  ['crc32', 'tensor 145', '008fe82d'],
];

describe.each(implementations)('hashers: %s', (_, hashers) => {
  test.each(known)('%s of %j', async (algorithm, text, digest) => {
    const hasher = await hashers.create(algorithm);
    hasher.update(new TextEncoder().encode(text));
    expect(hasher.digest()).toBe(digest);
  });

  test('do not care how bytes are cut, nor where they lie', async () => {
    const bytes = patterned(100_000);
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    const algorithms = ['sha256', 'md5', 'sha1', 'git-blob-sha1', 'crc32'] as const;
    const whole = await createMultiHasher(hashers, algorithms, bytes.length);
    whole.update(bytes);
    const cut = await createMultiHasher(hashers, algorithms, bytes.length);
    for (const [start, end] of [[0, 1], [1, 1], [1, 64], [64, 70_001], [70_001, 100_000]]) cut.update(shared.subarray(start, end));
    expect(cut.digests()).toEqual(whole.digests());
  });

  test('run side by side', async () => {
    const [first, second] = [await hashers.create('sha256'), await hashers.create('sha256')];
    first.update(patterned(10));
    second.update(patterned(11));
    first.update(patterned(1));
    expect(second.digest()).not.toBe(first.digest());
  });
});

test('both providers agree on every algorithm', async () => {
  for (const size of [0, 1, 63, 64, 65, 4096, 99_999]) {
    const [wasm, node] = await Promise.all(
      [wasmHashers, nodeHashers].map(async (hashers) => {
        const hasher = await createMultiHasher(hashers, ['sha256', 'md5', 'sha1', 'git-blob-sha1', 'crc32'], size);
        hasher.update(patterned(size));
        return hasher.digests();
      }),
    );
    expect(node).toEqual(wasm);
  }
});
