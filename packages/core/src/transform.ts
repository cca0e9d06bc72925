/**
 * Byte swaps, sign flips and negation, in place.
 */
import type { Transform } from './pieces.ts';

/** The bytes that must come together in one call of `applyTransform`. */
export function transformUnit(transform: Transform | undefined): number {
  const flip = transform?.flip;
  const pair = flip?.which === 'real' || flip?.which === 'imaginary' ? 2 : 1;
  return Math.max(transform?.swap ?? 1, flip === undefined ? 1 : flip.width * pair, transform?.negate ?? 1);
}

/**
 * Swaps, then flips or negates, in place. The bytes are whole units of `transformUnit`, little-endian after the swap.
 */
export function applyTransform(bytes: Uint8Array, transform: Transform): void {
  if (transform.swap !== undefined) swapBytes(bytes, transform.swap);
  if (transform.negate !== undefined) negateIntegers(bytes, transform.negate);
  if (transform.flip === undefined) return;
  const { width, which } = transform.flip;
  const step = which === 'all' ? width : width * 2;
  // The sign is the top bit of a float's last byte in little-endian order.
  for (let last = (which === 'imaginary' ? step : width) - 1; last < bytes.length; last += step) bytes[last] = (bytes[last] ?? 0) ^ 0x80;
}

function negateIntegers(bytes: Uint8Array, width: number): void {
  for (let start = 0; start + width <= bytes.length; start += width) {
    let carry = 1;
    for (let at = start; at < start + width; at += 1) {
      const sum = (~(bytes[at] ?? 0) & 0xff) + carry;
      bytes[at] = sum;
      carry = sum >> 8;
    }
  }
}

function swapBytes(bytes: Uint8Array, width: 2 | 4 | 8): void {
  for (let start = 0; start + width <= bytes.length; start += width) {
    for (let low = start, high = start + width - 1; low < high; low += 1, high -= 1) {
      const kept = bytes[low] ?? 0;
      bytes[low] = bytes[high] ?? 0;
      bytes[high] = kept;
    }
  }
}
