import { crc32FromHex, crc32OfZeros, combineCrc32, wasmHashers } from '@assay/core';
import { expect, it } from 'vitest';

async function crc32(bytes: Uint8Array): Promise<number> {
  const hasher = await wasmHashers.create('crc32');
  hasher.update(bytes);
  return crc32FromHex(hasher.digest());
}

it('joins the CRC-32 of neighbouring ranges at every cut', async () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, i) => (i * 37) % 251);
  const whole = await crc32(bytes);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const [first, second] = [await crc32(bytes.subarray(0, cut)), await crc32(bytes.subarray(cut))];
    expect(combineCrc32(first, second, bytes.length - cut)).toBe(whole);
  }
});

it('knows the CRC-32 of any number of zeros', async () => {
  for (const length of [0, 1, 2, 3, 255, 256, 100_003]) expect(crc32OfZeros(length)).toBe(await crc32(new Uint8Array(length)));
});
