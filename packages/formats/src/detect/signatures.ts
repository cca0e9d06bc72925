/**
 * Magic numbers: one table, first match counts.
 */
import type { DetectedKind, Sign } from './kinds.ts';

interface Signature {
  readonly kind: DetectedKind;
  readonly offset: number;
  readonly bytes: readonly number[];
}

const ascii = (text: string): number[] => Array.from(text, (character) => character.charCodeAt(0));

const signatures: readonly Signature[] = [
  // The preview release of 2016; even torch does not read it (inline_container.cc).
  { kind: 'torch-preview', offset: 0, bytes: ascii('PYTORCH1') },
  { kind: 'gguf', offset: 0, bytes: ascii('GGUF') },
  // The same, written on a big-endian machine.
  { kind: 'gguf', offset: 0, bytes: ascii('FUGG') },
  // "ggml", "ggmf", "ggjt" and "ggla" as little-endian numbers.
  ...['lmgg', 'fmgg', 'tjgg', 'algg'].map((magic): Signature => ({ kind: 'ggml', offset: 0, bytes: ascii(magic) })),
  // HDF5 may begin behind a user block of 512 bytes or a power of two of them.
  ...[0, 512, 1024, 2048, 4096].map((offset): Signature => ({ kind: 'hdf5', offset, bytes: [0x89, ...ascii('HDF\r\n'), 0x1a, 0x0a] })),
  { kind: 'npy', offset: 0, bytes: [0x93, ...ascii('NUMPY')] },
  { kind: 'gzip', offset: 0, bytes: [0x1f, 0x8b] },
  { kind: 'zstd', offset: 0, bytes: [0x28, 0xb5, 0x2f, 0xfd] },
  { kind: 'xz', offset: 0, bytes: [0xfd, ...ascii('7zXZ'), 0] },
  { kind: '7z', offset: 0, bytes: [...ascii('7z'), 0xbc, 0xaf, 0x27, 0x1c] },
  { kind: 'rar', offset: 0, bytes: [...ascii('Rar!'), 0x1a, 0x07] },
  { kind: 'lz4', offset: 0, bytes: [0x04, 0x22, 0x4d, 0x18] },
  { kind: 'pdf', offset: 0, bytes: ascii('%PDF-') },
];

/** The reading that a magic number gives. */
export function signatureOf(head: Uint8Array): Sign | undefined {
  const found = signatures.find(({ offset, bytes }) => bytes.every((byte, index) => head[offset + index] === byte));
  if (found !== undefined) return { kind: found.kind, facts: found.offset === 0 ? {} : { offset: found.offset } };
  if (isBzip2(head)) return { kind: 'bzip2', facts: {} };
  return undefined;
}

/** "BZh", a level, and the digits of pi (a block) or of its root (an empty file). */
function isBzip2(head: Uint8Array): boolean {
  const [b, z, h, level = 0, first] = head;
  return b === 0x42 && z === 0x5a && h === 0x68 && level >= 0x31 && level <= 0x39 && (first === 0x31 || first === 0x17);
}

/**
 * RFC 1950: deflate with a window of 32 KiB and a check value. Two bytes only, so it is asked last:
 * the text "x^2" begins like this, and so does the length of a real safetensors header (0x…2078).
 */
export function isZlib(head: Uint8Array): boolean {
  const [method, flags = 0] = head;
  return head.length > 2 && method === 0x78 && ((0x78 << 8) | flags) % 31 === 0;
}
