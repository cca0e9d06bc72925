/**
 * Standard input, verified or digested in one pass and constant memory.
 */
import { Readable } from 'node:stream';
import { createMultiHasher, finding, isAssayError, type DigestAlgorithm, type Digests } from '@assay/core';
import { nodeHashers } from '@assay/node';
import { createExpectation, createVerifierStream, type Expectation, type VerifiedFile } from '@assay/verify';

/** Digests of standard input. */
export async function digestStandardInput(
  algorithms: readonly DigestAlgorithm[],
  signal?: AbortSignal,
): Promise<{ readonly byteLength: number; readonly digests: Digests }> {
  const hasher = await createMultiHasher(nodeHashers, algorithms);
  let byteLength = 0;
  for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
    signal?.throwIfAborted();
    hasher.update(chunk);
    byteLength += chunk.length;
  }
  return { byteLength, digests: hasher.digests() };
}

/** Standard input against an expectation; without one nothing can be said of a stream. */
export async function verifyStandardInput(
  expectation: Expectation | undefined,
  { signal }: { readonly signal?: AbortSignal },
): Promise<VerifiedFile> {
  const expected = expectation ?? createExpectation({}, { origin: 'nowhere' });
  const file = { name: '-', byteLength: undefined, digests: new Map(), expected };
  if (expectation === undefined) {
    return { ...file, status: 'unverified', findings: [finding('VERIFY_NO_EXPECTATION', 'error', { path: '-' })] };
  }
  const digests = Object.fromEntries(expectation.digests);
  const verifier = createVerifierStream({ digests, hashers: nodeHashers, name: '-' });
  let byteLength = 0;
  try {
    for await (const chunk of Readable.toWeb(process.stdin).pipeThrough(verifier) as unknown as AsyncIterable<Uint8Array>) {
      signal?.throwIfAborted();
      byteLength += chunk.length;
    }
    return { ...file, status: 'ok', byteLength, digests: expectation.digests, findings: [] };
  } catch (error) {
    signal?.throwIfAborted();
    if (!isAssayError(error)) throw error;
    return { ...file, status: 'mismatch', byteLength, findings: [finding(error.code, 'error', { path: '-' }, error.context)] };
  }
}
