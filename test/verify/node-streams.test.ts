/** The verifier stream among Node's own streams, with real files. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createFile, nodeHashers } from '@assay/node';
import { createVerifierStream, type VerifierStreamOptions } from '@assay/verify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** `pipeline` takes web streams since Node 18.16; `@types/node` of Node 20 do not say so. */
function verifier(options: Omit<VerifierStreamOptions, 'hashers'>): NodeJS.ReadWriteStream {
  return createVerifierStream({ ...options, hashers: nodeHashers }) as unknown as NodeJS.ReadWriteStream;
}

describe("a verifier stream in Node's pipeline", () => {
  const bytes = randomBytes(3_000_001);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const wrong = createHash('sha256').digest('hex');
  let folder = '';
  let input = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'assay-verify-'));
    input = join(folder, 'input.bin');
    await writeFile(input, bytes);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('stands between a file and a file', async () => {
    const output = join(folder, 'output.bin');
    await pipeline(
      createReadStream(input),
      verifier({ digests: { sha256 }, byteLength: bytes.length }),
      createWriteStream(output),
    );
    expect(Buffer.compare(await readFile(output), bytes)).toBe(0);
  });

  it('makes the pipeline reject when the digest is wrong', async () => {
    const copied = pipeline(
      createReadStream(input),
      verifier({ digests: { sha256: wrong } }),
      createWriteStream(join(folder, 'rejected.bin')),
    );
    await expect(copied).rejects.toMatchObject({ code: 'DIGEST_MISMATCH', context: { expected: wrong, found: sha256 } });
  });

  it('makes the pipeline reject when the file is longer than expected', async () => {
    const copied = pipeline(
      createReadStream(input),
      verifier({ byteLength: 1_000_000 }),
      createWriteStream(join(folder, 'long.bin')),
    );
    await expect(copied).rejects.toMatchObject({ code: 'SIZE_MISMATCH' });
  });

  it.each([
    ['publishes the right bytes', sha256, ['input.bin', 'model.bin']],
    ['leaves nothing, neither file nor temporary file, when they are wrong', wrong, ['input.bin']],
  ])('into an atomic sink %s', async (_, expected, left) => {
    const own = await mkdtemp(join(folder, 'own-'));
    const from = join(own, 'input.bin');
    await writeFile(from, bytes);
    const save = async (): Promise<void> => {
      await using sink = await createFile(join(own, 'model.bin'), { size: bytes.length });
      await pipeline(createReadStream(from), verifier({ digests: { sha256: expected } }), async (chunks) => {
        let at = 0;
        for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
          await sink.writeAt(chunk, at);
          at += chunk.length;
        }
      });
      await sink.commit();
    };
    if (expected === sha256) await save();
    else await expect(save()).rejects.toMatchObject({ code: 'DIGEST_MISMATCH' });
    expect((await readdir(own)).sort()).toEqual(left);
    if (expected === sha256) expect(Buffer.compare(await readFile(join(own, 'model.bin')), bytes)).toBe(0);
  });
});
