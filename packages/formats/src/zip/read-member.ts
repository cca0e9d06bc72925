/**
 * Reads a small member whole: the pickle, the version, the byte order.
 * Large ones are never read like this: they are streamed as pieces.
 */
import { inflateMember, inflateWithStreams, limitExceeded, readBytes, resolveLimits, type ByteSource, type Kernels, type Limits, type StoredMember } from '@assay/core';

/** Options of reading one member. */
export interface ReadMemberOptions {
  readonly limits?: Partial<Limits>;
  /** Only `inflate` is used. */
  readonly kernels?: Pick<Kernels, 'inflate'>;
  readonly signal?: AbortSignal;
}

/**
 * The bytes of a member, inflated where it is deflated; its size is checked against `limits.maxPickleBytes` before anything is allocated.
 * @throws {AssayError} `LIMIT_EXCEEDED`, `ZIP_ENTRY_INFLATE_FAILED`; as `ByteSource.readInto`
 */
export async function readZipMember(source: ByteSource, member: StoredMember, options: ReadMemberOptions = {}): Promise<Uint8Array> {
  const { signal, kernels } = options;
  const allowed = resolveLimits(options.limits).maxPickleBytes;
  const { name, start, end, inflatedLength } = member;
  const byteLength = inflatedLength ?? end - start;
  if (byteLength > allowed) {
    throw limitExceeded('maxPickleBytes', { where: `${source.name}: ${JSON.stringify(name)}`, found: byteLength, allowed, offset: start });
  }
  const transfer = signal === undefined ? {} : { signal };
  if (inflatedLength === undefined) return readBytes(source, start, end, transfer);
  const context = { sources: [source], kernels: { inflate: kernels?.inflate ?? inflateWithStreams, gather: noGather }, ...transfer };
  const chunks: Uint8Array[] = [];
  for await (const chunk of inflateMember({ source: 0, start, end, inflatedLength }, context)) chunks.push(chunk.slice());
  return joined(chunks, byteLength);
}

/** Chunks are kept as they come, so that a member that lies about its size costs only what it really holds. */
function joined(chunks: readonly Uint8Array[], byteLength: number): Uint8Array {
  const bytes = new Uint8Array(byteLength);
  let filled = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, filled);
    filled += chunk.length;
  }
  return bytes;
}

function noGather(): never {
  throw new TypeError('members have no strides');
}
