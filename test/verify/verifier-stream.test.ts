import { createHash } from 'node:crypto';
import { isAssayError, wasmHashers, type AssayError } from '@assay/core';
import { createVerifierStream, type VerifierStreamOptions } from '@assay/verify';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

type Given = Omit<VerifierStreamOptions, 'hashers'>;

/** The chunks that came out, and the error at the end where there was one. */
async function pass(chunks: readonly Uint8Array[], options: Given): Promise<{ out: Uint8Array; error?: AssayError }> {
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const out: Uint8Array[] = [];
  try {
    for await (const chunk of source.pipeThrough(createVerifierStream({ ...options, hashers: wasmHashers }))) out.push(chunk);
  } catch (error) {
    if (!isAssayError(error)) throw error;
    return { out: Buffer.concat(out), error };
  }
  return { out: Buffer.concat(out) };
}

const hash = (algorithm: string, bytes: Uint8Array): string => createHash(algorithm).update(bytes).digest('hex');
const gitBlob = (bytes: Uint8Array): string => hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]));
const cut = (bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] => {
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...chunks, bytes.subarray(at)];
};

describe('a verifier stream', () => {
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 31) % 256);

  it('passes the expected bytes through, however they are cut, checking several digests at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), fc.array(fc.nat(100), { maxLength: 6 }), async (content, sizes) => {
        const digests = {
          sha256: hash('sha256', content),
          md5: hash('md5', content).toUpperCase(),
          sha1: hash('sha1', content),
          'git-blob-sha1': gitBlob(content),
        };
        const { out, error } = await pass(cut(content, sizes), { digests, byteLength: content.length });
        expect(error).toBeUndefined();
        expect(Buffer.compare(out, content)).toBe(0);
      }),
    );
  });

  it('errors at the end when any one byte differs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(), fc.integer({ min: 1, max: 255 }), async (content, where, change) => {
        const wrong = content.slice();
        const at = where % content.length;
        wrong[at] = (wrong[at] ?? 0) ^ change;
        const { out, error } = await pass([wrong], { digests: { sha256: hash('sha256', content) } });
        expect(error?.code).toBe('DIGEST_MISMATCH');
        expect(error?.context).toMatchObject({ algorithm: 'sha256', expected: hash('sha256', content), found: hash('sha256', wrong) });
        expect(Buffer.compare(out, wrong)).toBe(0);
      }),
    );
  });

  it('lists every digest that is wrong, and only those', async () => {
    const digests = { md5: '0'.repeat(32), sha256: hash('sha256', bytes), sha1: '1'.repeat(40) };
    const { error } = await pass([bytes], { digests, name: 'model.bin' });
    expect(error?.findings.map(({ code, subject, args }) => [code, subject.path, args['algorithm']])).toEqual([
      ['DIGEST_MISMATCH', 'model.bin', 'md5'],
      ['DIGEST_MISMATCH', 'model.bin', 'sha1'],
    ]);
  });

  it('errors at every length that is too short', async () => {
    for (let length = 0; length < 40; length += 1) {
      const { error } = await pass([bytes.subarray(0, length)], { byteLength: 40 });
      expect([error?.code, error?.context]).toEqual(['SIZE_MISMATCH', { expected: 40, found: length }]);
    }
  });

  it('errors early when there are too many bytes, before the source is read to its end', async () => {
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(bytes);
      },
    });
    const verified = endless.pipeThrough(createVerifierStream({ byteLength: 2500, hashers: wasmHashers }));
    const seen: number[] = [];
    const read = async (): Promise<void> => {
      for await (const chunk of verified) seen.push(chunk.length);
    };
    await expect(read()).rejects.toMatchObject({ code: 'SIZE_MISMATCH', context: { expected: 2500, found: 3000 } });
    expect(seen.length).toBeLessThanOrEqual(2);
    expect(pulled).toBeLessThan(10);
  });

  it('holds a constant number of chunks, however long the stream is', async () => {
    for (const count of [100, 10_000]) {
      const chunk = new Uint8Array(16);
      let made = 0;
      let taken = 0;
      let held = 0;
      const source = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (made === count) return controller.close();
          made += 1;
          controller.enqueue(chunk);
        },
      });
      const verifier = createVerifierStream({ byteLength: count * 16, hashers: wasmHashers });
      for await (const _ of source.pipeThrough(verifier)) {
        taken += 1;
        held = Math.max(held, made - taken);
      }
      expect(taken).toBe(count);
      expect(held).toBeLessThanOrEqual(4);
    }
  });

  it('accepts no bytes where none are expected', async () => {
    expect((await pass([], { digests: { sha256: hash('sha256', new Uint8Array(0)) }, byteLength: 0 })).error).toBeUndefined();
  });

  it('fails with the reason of an abort, untouched', async () => {
    const reason = new Error('enough');
    const source = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(bytes) });
    const verifier = createVerifierStream({ byteLength: 1e9, hashers: wasmHashers });
    const writer = new WritableStream<Uint8Array>();
    await expect(source.pipeThrough(verifier).pipeTo(writer, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('refuses a digest that is none, before a byte is read', () => {
    const create = (digests: VerifierStreamOptions['digests']) => () => createVerifierStream({ ...(digests && { digests }), hashers: wasmHashers });
    expect(create({ sha256: 'abc' })).toThrow(expect.objectContaining({ code: 'DIGEST_MALFORMED', context: expect.objectContaining({ reason: 'odd-length' }) }));
    expect(create({ sha256: '0'.repeat(62) })).toThrow(expect.objectContaining({ context: expect.objectContaining({ reason: 'length', found: 62, expected: 64 }) }));
    expect(create({ sha256: 'z'.repeat(64) })).toThrow(expect.objectContaining({ context: expect.objectContaining({ reason: 'not-hex' }) }));
    expect(create({ sha256: '0'.repeat(40) })).toThrow(
      expect.objectContaining({ code: 'DIGEST_OTHER_ALGORITHM', context: expect.objectContaining({ candidates: ['sha1', 'git-blob-sha1'] }) }),
    );
    expect(create({})).toThrow(TypeError);
    expect(create(undefined)).toThrow(TypeError);
    expect(create({ 'git-blob-sha1': '0'.repeat(40) })).toThrow(TypeError);
    expect(create({ sha512: '0' } as VerifierStreamOptions['digests'])).toThrow(TypeError);
    expect(() => createVerifierStream({ byteLength: -1, hashers: wasmHashers })).toThrow(TypeError);
  });

  it('refuses chunks that are not bytes', async () => {
    const verifier = createVerifierStream({ byteLength: 3, hashers: wasmHashers });
    const text = new ReadableStream({ start: (controller) => controller.enqueue('abc') }) as unknown as ReadableStream<Uint8Array>;
    await expect(text.pipeThrough(verifier).getReader().read()).rejects.toBeInstanceOf(TypeError);
  });
});
