/**
 * A stream that passes bytes through and fails at the end when they were not the expected ones.
 * Web standard only; Node's `pipeline` takes it too. Memory is constant.
 */
import { AssayError, createMultiHasher, type HasherProvider, type MultiHasher } from '@assay/core';
import { differingDigests, digestFindings } from './compare.ts';
import { checkByteLength, parseGivenDigests, type GivenDigests } from './expectation.ts';

/** Options of `createVerifierStream`. */
export interface VerifierStreamOptions {
  /** Expected digests in hex; all are computed in the one pass. */
  readonly digests?: GivenDigests;
  /** Expected size in bytes; with it, the stream fails at the first byte too many. */
  readonly byteLength?: number;
  readonly hashers: HasherProvider;
  /** What errors call the stream. */
  readonly name?: string;
}

/**
 * A transform that passes every chunk through unchanged and errors instead of closing when digest or size is wrong.
 * By then the bytes are downstream: write them to a sink that publishes only when the stream closed well.
 * @throws {AssayError} `DIGEST_MALFORMED`, `DIGEST_OTHER_ALGORITHM` at once; the stream errors with `DIGEST_MISMATCH`
 * (`findings` has each) or `SIZE_MISMATCH`
 * @throws {TypeError} when there is nothing to compare with, or `git-blob-sha1` comes without `byteLength`
 * @example
 * const verifier = createVerifierStream({ digests: { sha256 }, hashers: wasmHashers });
 * for await (const chunk of response.body.pipeThrough(verifier)) use(chunk);
 */
export function createVerifierStream(options: VerifierStreamOptions): TransformStream<Uint8Array, Uint8Array> {
  const { byteLength, hashers, name = 'stream' } = options;
  const expected = parseGivenDigests(options.digests ?? {});
  if (byteLength !== undefined) checkByteLength(byteLength);
  if (expected.size === 0 && byteLength === undefined) throw new TypeError('a verifier stream needs a digest or a byteLength');
  if (expected.has('git-blob-sha1') && byteLength === undefined) throw new TypeError('git-blob-sha1 needs a byteLength');

  let hasher: MultiHasher | undefined;
  let passed = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    async start() {
      hasher = await createMultiHasher(hashers, [...expected.keys()], byteLength);
    },
    transform(chunk, controller) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError(`${name}: chunks must be Uint8Array`);
      passed += chunk.length;
      // Too long is wrong already: nothing after this chunk can make it right, so not even this chunk passes.
      if (byteLength !== undefined && passed > byteLength) throw wrongSize(name, byteLength, passed);
      hasher?.update(chunk);
      controller.enqueue(chunk);
    },
    flush() {
      if (byteLength !== undefined && passed < byteLength) throw wrongSize(name, byteLength, passed);
      const differences = differingDigests(expected, hasher?.digests() ?? new Map());
      const [first] = differences;
      if (first === undefined) return;
      throw new AssayError('DIGEST_MISMATCH', {
        message: `${name}: ${first.algorithm} is ${first.found}, expected ${first.expected}`,
        hint: 'These are not the published bytes: fetch them again, or check that the digest belongs to this version.',
        context: { ...first, byteLength: passed },
        findings: digestFindings(differences, { path: name, origin: 'given' }),
      });
    },
  });
}

function wrongSize(name: string, expected: number, found: number): AssayError {
  const long = found > expected;
  return new AssayError('SIZE_MISMATCH', {
    message: `${name}: ${long ? `more than the expected ${expected} bytes` : `ended after ${found} of ${expected} bytes`}`,
    hint: long ? 'This is another file or another version of it.' : 'The transfer was cut: fetch it again.',
    context: { expected, found },
  });
}
