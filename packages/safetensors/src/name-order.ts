/**
 * The order of names in files: that of UTF-8 bytes, which is that of code points.
 * JavaScript compares UTF-16 units, where characters above U+FFFF come before U+E000.
 */

/** Compares by code point, as Rust's `str` and Python's `sorted` do. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return lifted(left) - lifted(right);
  }
  return a.length - b.length;
}

/** A surrogate stands for a character above every other unit's. */
function lifted(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}

/** The right comparison for these texts: the engine's own, several times faster, where it agrees. */
export function codePointComparer(texts: Iterable<string>): (a: string, b: string) => number {
  for (const text of texts) if (/[\ud800-\uffff]/.test(text)) return compareCodePoints;
  return compareUnits;
}

function compareUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** True when UTF-8 can hold the text: no surrogate stands alone. */
export function isWellFormedText(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
