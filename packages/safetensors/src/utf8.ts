/**
 * Well-formed UTF-8, one character at a time (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF.
 */

/** The bytes of the character at `at`, which is not ASCII; 0 when they are not well-formed or pass `end`. */
export function utf8Length(bytes: Uint8Array, at: number, end: number): 0 | 2 | 3 | 4 {
  const lead = bytes[at] ?? 0;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (at + length > end) return 0;
  const [low, high] = secondByteRange(lead);
  const second = bytes[at + 1] ?? 0;
  if (second < low || second > high) return 0;
  for (let next = at + 2; next < at + length; next += 1) {
    if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return length;
}

function secondByteRange(lead: number): readonly [number, number] {
  switch (lead) {
    case 0xe0:
      return [0xa0, 0xbf];
    case 0xed:
      return [0x80, 0x9f];
    case 0xf0:
      return [0x90, 0xbf];
    case 0xf4:
      return [0x80, 0x8f];
    default:
      return [0x80, 0xbf];
  }
}
