/**
 * Numbers as a person reads them.
 */

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** Binary units: `134 bytes`, `1.0 KiB`, `2.16 GiB`. */
export function formatBytes(byteLength: number): string {
  let unit = 0;
  let value = byteLength;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  if (unit === 0) return byteLength === 1 ? '1 byte' : `${byteLength} bytes`;
  return `${value.toFixed(unit >= 3 ? 2 : 1)} ${UNITS[unit]}`;
}

/** Grouped thousands with a no-break-free thin form: `1 342 177 280`. */
export function formatCount(count: number | bigint): string {
  return count.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
}

/** `1 tensor`, `2 tensors`. */
export function plural(count: number | bigint, noun: string): string {
  return `${formatCount(count)} ${noun}${Number(count) === 1 ? '' : 's'}`;
}

/** A digest, shortened for tables: `9f3a07c2…e41b8`. */
export function shortDigest(hex: string): string {
  return hex.length <= 16 ? hex : `${hex.slice(0, 8)}…${hex.slice(-5)}`;
}

/** More dimensions than any tensor of a model has. */
const DIMENSIONS_SHOWN = 8;

/** A shape: `[4, 16]`; of a great many dimensions the first few and their number. */
export function formatShape(shape: readonly (number | bigint)[]): string {
  if (shape.length <= DIMENSIONS_SHOWN) return `[${shape.join(', ')}]`;
  return `[${shape.slice(0, DIMENSIONS_SHOWN - 2).join(', ')}, … ${formatCount(shape.length)} dimensions]`;
}

/** The length of the longest text, at least `least`. Not by `Math.max(...)`: a call takes no hundred thousand arguments. */
export function longest(texts: Iterable<string>, least: number): number {
  let most = least;
  for (const { length } of texts) most = Math.max(most, length);
  return most;
}
