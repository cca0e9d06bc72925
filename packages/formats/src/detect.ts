/**
 * What the bytes of a file really are, whatever its name says.
 * Reads the head, the tail, of a zip the directory, of apparent zeros a sample; the signs themselves are in `detect/`.
 */
import { finding, readBytes, type ByteSource, type Finding } from '@assay/core';
import { looksLikePickle, pickleProtocol, isTorchMagic } from './detect/pickle-signs.ts';
import { framesSafetensors } from './detect/safetensors-signs.ts';
import { isZlib, signatureOf } from './detect/signatures.ts';
import { readTar } from './detect/tar-signs.ts';
import { describeText } from './detect/text-signs.ts';
import { sampleZeros } from './detect/zeros.ts';
import { describeZip, endsLikeZip } from './detect/zip-signs.ts';
import type { DetectedKind, Detection, DetectOptions, Sign } from './detect/kinds.ts';

/** The head: the longest thing sought there is the title of a web page. */
const HEAD_BYTES = 64 * 1024;

/**
 * Says what the bytes are, and what else another program might take them for.
 * @throws {AssayError} as `ByteSource.readInto`
 */
export async function detect(source: ByteSource, options: DetectOptions = {}): Promise<Detection> {
  if (source.size === 0) return { kind: 'empty', facts: { byteLength: 0 }, alsoReadableAs: [] };
  const transfer = options.signal === undefined ? {} : { signal: options.signal };
  const head = await readBytes(source, 0, Math.min(HEAD_BYTES, source.size), transfer);
  const sign = await mainReading(source, head, options);
  const others = new Set<DetectedKind>(otherReadings(head, source.size));
  const isZip = zipKinds.has(sign.kind);
  if (!isZip && (await endsLikeZip(source, transfer))) {
    // Only torch insists on the first four bytes; other readers find a zip by its end.
    if (sign.kind === 'unknown') return { ...(await describeZip(source, head, options)), alsoReadableAs: [] };
    others.add('zip');
  }
  if (isZip) others.delete('zip');
  if (sign.kind === 'torch-legacy') others.delete('pickle');
  others.delete(sign.kind);
  return { kind: sign.kind, facts: sign.facts, alsoReadableAs: [...others] };
}

/** The finding for bytes that other programs may read as something else; `undefined` where there is one reading. */
export function polyglotFinding({ kind, alsoReadableAs }: Detection, source: ByteSource): Finding | undefined {
  if (alsoReadableAs.length === 0) return undefined;
  return finding('FORMAT_POLYGLOT', 'warning', { path: source.name }, { found: kind, alsoReadableAs });
}

const zipKinds: ReadonlySet<DetectedKind> = new Set(['torch-zip', 'torchscript', 'torch-package', 'torch-export', 'zip', 'npz']);

async function mainReading(source: ByteSource, head: Uint8Array, options: DetectOptions): Promise<Sign> {
  // First, since a header's length may spell any magic number: N = 67,324,752 begins with "PK\x03\x04".
  const safetensors = framesSafetensors(head, source.size, options.limits);
  if (safetensors !== undefined) return safetensors;
  if (isZipStart(head)) return describeZip(source, head, options);
  if (isTorchMagic(head)) return { kind: 'torch-legacy', facts: { protocol: head[1] ?? 0 } };
  const signed = signatureOf(head);
  if (signed !== undefined) return signed;
  const tar = await readTar(source, head, options);
  if (tar !== undefined) return tar;
  const protocol = pickleProtocol(head);
  if (protocol !== undefined || looksLikePickle(head, source.size)) return { kind: 'pickle', facts: { protocol: protocol ?? 0 } };
  const zeros = await sampleZeros(source, head, options);
  if (zeros !== undefined) return zeros;
  const text = describeText(head, source.size);
  if (text !== undefined) return text;
  if (isZlib(head)) return { kind: 'zlib', facts: {} };
  return { kind: 'unknown', facts: { firstBytes: hex(head.subarray(0, 16)), byteLength: source.size } };
}

/** Readings that the first bytes alone suggest to other programs. */
function otherReadings(head: Uint8Array, size: number): DetectedKind[] {
  const others: DetectedKind[] = [];
  if (isZipStart(head)) others.push('zip');
  // A lone "\x93." is STACK_GLOBAL and STOP: scanners have taken safetensors files for pickles because of it.
  const lone = head[0] === 0x93 && head[1] === 0x2e;
  if (lone || pickleProtocol(head) !== undefined || looksLikePickle(head, size)) others.push('pickle');
  const signed = signatureOf(head);
  if (signed !== undefined) others.push(signed.kind);
  // Text that begins like that is text to everybody.
  if (isZlib(head) && describeText(head, size) === undefined) others.push('zlib');
  return others;
}

/** A local header, the end of an empty archive, or the mark of a spanned one. */
function isZipStart(head: Uint8Array): boolean {
  const third = head[2] ?? 0;
  return head[0] === 0x50 && head[1] === 0x4b && head[3] === third + 1 && (third === 3 || third === 5 || third === 7);
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
