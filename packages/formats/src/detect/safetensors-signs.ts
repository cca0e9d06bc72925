/**
 * The framing of safetensors: a little-endian length, then a JSON object.
 * There is no magic number, so both must fit each other; whether the header is sound, its reader says.
 */
import { resolveLimits, toSafeNumber, type Limits } from '@assay/core';
import type { Sign } from './kinds.ts';

const OPENING_BRACE = 0x7b;

/** The reading as safetensors, also of a file that ends before its header does. */
export function framesSafetensors(head: Uint8Array, size: number, limits: Partial<Limits> | undefined): Sign | undefined {
  if (head.length < 9) return undefined;
  const declared = new DataView(head.buffer, head.byteOffset).getBigUint64(0, true);
  const headerByteLength = toSafeNumber(declared);
  const inside = headerByteLength !== undefined && headerByteLength + 8 <= size;
  if (headerByteLength !== undefined && headerByteLength < 2) return undefined;
  if (!startsObject(head.subarray(8, inside ? 8 + headerByteLength : head.length))) return undefined;
  // Text may hold a brace at byte 8 too, but its first eight bytes are an enormous length.
  const plausible = inside || (headerByteLength ?? Number.POSITIVE_INFINITY) <= resolveLimits(limits).maxHeaderBytes;
  if (!plausible && head.subarray(0, 8).every(isPrintable)) return undefined;
  const facts = { headerByteLength: headerByteLength ?? declared.toString(), byteLength: size };
  return { kind: 'safetensors', facts: inside ? facts : { ...facts, truncated: true } };
}

/** An opening brace and what may follow it; the reference reader allows white space before it. */
function startsObject(header: Uint8Array): boolean {
  let at = 0;
  while (isSpace(header[at])) at += 1;
  if (header[at] !== OPENING_BRACE) return false;
  at += 1;
  while (isSpace(header[at])) at += 1;
  // A file cut behind the brace, `{}`, or the first name.
  return at >= header.length || header[at] === 0x7d || header[at] === 0x22;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || isSpace(byte);
}
