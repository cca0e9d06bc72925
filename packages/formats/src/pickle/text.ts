/**
 * The texts of a pickle as Python reads them: UTF-8 with surrogates let through, raw-unicode-escape, quoted strings.
 * A result of `undefined` means that Python refuses it too.
 */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Short texts are faster byte by byte: a call of TextDecoder costs some 300 ns. */
const SHORT = 10;

/** UTF-8 in bytes [start, end). */
export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string | undefined {
  const short = end - start <= SHORT ? decodeAscii(bytes, start, end) : undefined;
  if (short !== undefined) return short;
  try {
    return utf8.decode(bytes.subarray(start, end));
  } catch {
    return undefined;
  }
}

/** ASCII in bytes [start, end). */
export function decodeAscii(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = '';
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0x80;
    if (byte >= 0x80) return undefined;
    text += String.fromCharCode(byte);
  }
  return text;
}

/** UTF-8 whose three-byte sequences may be surrogates (Python's "surrogatepass"); such a pair stays two halves of one character. */
export function decodeSurrogatePass(bytes: Uint8Array, start: number, end: number): string | undefined {
  const strict = decodeUtf8(bytes, start, end);
  if (strict !== undefined) return strict;
  const parts: string[] = [];
  let from = start;
  for (let at = start; at + 2 < end; at += 1) {
    // ED A0..BF xx is U+D800 to U+DFFF; a byte ED cannot be inside another sequence.
    if (bytes[at] !== 0xed || ((bytes[at + 1] ?? 0) & 0xe0) !== 0xa0 || ((bytes[at + 2] ?? 0) & 0xc0) !== 0x80) continue;
    const before = decodeUtf8(bytes, from, at);
    if (before === undefined) return undefined;
    const surrogate = 0xd000 | (((bytes[at + 1] ?? 0) & 0x3f) << 6) | ((bytes[at + 2] ?? 0) & 0x3f);
    parts.push(before, String.fromCharCode(surrogate));
    from = at + 3;
    at += 2;
  }
  const rest = decodeUtf8(bytes, from, end);
  return rest === undefined ? undefined : parts.join('') + rest;
}

/** Python's raw-unicode-escape: Latin-1 with \uXXXX and \UXXXXXXXX. */
export function decodeRawUnicodeEscape(bytes: Uint8Array): string | undefined {
  const latin1 = decodeLatin1(bytes);
  if (!latin1.includes('\\')) return latin1;
  let valid = true;
  // A backslash takes the next character with it, so that "\\u0041" with two backslashes stays as it is.
  const text = latin1.replaceAll(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]?))/g, (whole, short?: string, long?: string, other?: string) => {
    const hex = short ?? long;
    if (hex !== undefined) {
      const point = Number.parseInt(hex, 16);
      if (point <= 0x10_ffff) return String.fromCodePoint(point);
      valid = false;
    } else if (other === 'u' || other === 'U') {
      valid = false;
    }
    return whole;
  });
  return valid ? text : undefined;
}

const escapes: ReadonlyMap<number, number> = new Map(
  Object.entries({ '\\': '\\', "'": "'", '"': '"', b: '\b', f: '\f', t: '\t', n: '\n', r: '\r', v: '\v', a: '\u0007' }).map(
    ([letter, meaning]) => [letter.charCodeAt(0), meaning.charCodeAt(0)],
  ),
);

/** The bytes of a quoted Python 2 string, escapes decoded (`PyBytes_DecodeEscape`). */
export function decodeQuoted(line: Uint8Array): Uint8Array | undefined {
  const quote = line[0];
  if (line.length < 2 || (quote !== 0x27 && quote !== 0x22) || line.at(-1) !== quote) return undefined;
  const inner = line.subarray(1, -1);
  const out = new Uint8Array(inner.length);
  let length = 0;
  for (let at = 0; at < inner.length; at += 1) {
    const byte = inner[at] ?? 0;
    if (byte !== 0x5c) {
      out[length++] = byte;
      continue;
    }
    at += 1;
    const letter = inner[at];
    if (letter === undefined) return undefined;
    const plain = escapes.get(letter);
    if (plain !== undefined) {
      out[length++] = plain;
    } else if (letter === 0x78) {
      const hex = decodeLatin1(inner.subarray(at + 1, at + 3));
      if (!/^[0-9a-fA-F]{2}$/.test(hex)) return undefined;
      out[length++] = Number.parseInt(hex, 16);
      at += 2;
    } else if (letter >= 0x30 && letter <= 0x37) {
      const octal = /^[0-7]{1,3}/.exec(decodeLatin1(inner.subarray(at, at + 3)))?.[0] ?? '0';
      out[length++] = Number.parseInt(octal, 8) & 0xff;
      at += octal.length - 1;
    } else if (letter !== 0x0a) {
      out[length++] = 0x5c;
      out[length++] = letter;
    }
  }
  return out.subarray(0, length);
}

/** Each byte as the character of its number. */
export function decodeLatin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return text;
}
