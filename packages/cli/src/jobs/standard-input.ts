/**
 * Standard input, verified or digested in one pass and constant memory.
 */
import { Readable } from 'node:stream';
import { createMultiHasher, finding, isAssayError, type DigestAlgorithm, type Digests, type Finding } from '@assay/core';
import { nodeHashers } from '@assay/node';
import { createExpectation, createVerifierStream, type Expectation, type VerifiedFile } from '@assay/verify';
import { errorFindings } from './error-findings.ts';

/** All of standard input, or its first bytes: one more than `most` where there are more. */
export async function readStandardInput(most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let byteLength = 0;
  for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    byteLength += chunk.length;
    if (byteLength > most) break;
  }
  return Buffer.concat(chunks).subarray(0, most + 1);
}

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
  const { byteLength: wanted } = expectation;
  const verifier = createVerifierStream({ digests, hashers: nodeHashers, name: '-', ...(wanted === undefined ? {} : { byteLength: wanted }) });
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
    const findings = errorFindings(error, '-');
    // Nothing came: what is wrong is before the pipe.
    const empty = byteLength === 0 ? [finding('FORMAT_EMPTY', 'info', { path: '-' }, { found: 'empty', byteLength })] : [];
    return { ...file, status: 'mismatch', byteLength, digests: foundDigests(expectation, findings), findings: [...findings, ...empty] };
  }
}

/** What was computed: the digest of each mismatch, and the expected ones that were found. */
function foundDigests({ digests }: Expectation, findings: readonly Finding[]): Digests {
  const differing = findings.filter(({ code }) => code === 'DIGEST_MISMATCH');
  if (differing.length === 0) return new Map();
  const found = new Map(differing.map(({ args }) => [args['algorithm'], args['found']]));
  return new Map([...digests].map(([algorithm, wanted]) => [algorithm, String(found.get(algorithm) ?? wanted)]));
}
