/**
 * Integers and floats as pickles write them, in text and in two's complement.
 * A result of `undefined` means that Python refuses it too.
 */

/** A bigint as a number where that is exact: one Python int is one JavaScript value. */
export function canonicalInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Little-endian two's complement (LONG1, LONG4). Linear: through hex, which a BigInt is parsed from in linear time. */
export function decodeTwosComplement(bytes: Uint8Array, start: number, end: number): number | bigint {
  if (end - start <= 6) return decodeShort(bytes, start, end);
  let hex = '';
  for (let at = end - 1; at >= start; at -= 1) hex += (bytes[at] ?? 0).toString(16).padStart(2, '0');
  return canonicalInteger(BigInt.asIntN((end - start) * 8, BigInt(`0x${hex}`)));
}

function decodeShort(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = end - 1; at >= start; at -= 1) value = value * 256 + (bytes[at] ?? 0);
  return (bytes[end - 1] ?? 0) >= 0x80 && end > start ? value - 2 ** ((end - start) * 8) : value;
}

const SPACE = '[ \\t\\n\\v\\f\\r]*';
const PREFIXED = '0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+';
const DECIMAL = '[0-9](?:_?[0-9])*';

const anyBase = new RegExp(`^${SPACE}([+-]?)(?:(${PREFIXED})|(0(?:_?0)*|[1-9](?:_?[0-9])*))${SPACE}$`);
const baseTen = new RegExp(`^${SPACE}([+-]?)(${DECIMAL})${SPACE}$`);
const cLong = /^[ \t\n\v\f\r]*([+-]?)(?:(0[xX][0-9a-fA-F]+)|0([0-7]*)|([1-9][0-9]*))$/;

/** `int(text, 0)`: prefixes, underscores, spaces around. */
export function parseAnyBase(text: string): number | bigint | undefined {
  return parsePython(text, anyBase);
}

/** `int(text)`: decimal, also with leading zeros. */
export function parseDecimal(text: string): number | bigint | undefined {
  return parsePython(text, baseTen);
}

function parsePython(text: string, grammar: RegExp): number | bigint | undefined {
  const match = grammar.exec(upToNul(text));
  if (match === null) return undefined;
  const [, sign, prefixed, decimal] = match;
  // `baseTen` has one group of digits, `anyBase` one of two.
  const magnitude = BigInt((prefixed ?? decimal ?? '').replaceAll('_', '').toLowerCase());
  return canonicalInteger(sign === '-' ? -magnitude : magnitude);
}

/**
 * What INT's text means: C's strtol where it reads all of it (`010` is 8), else `int(text, 0)`.
 * Two characters of which strtol makes 0 or 1 are a bool.
 */
export function parseIntLine(line: string): boolean | number | bigint | undefined {
  const value = parseCLong(upToNul(line));
  if (value === undefined) return parseAnyBase(line);
  return line.length === 2 && (value === 0 || value === 1) ? value === 1 : value;
}

/** C's functions stop at a NUL. */
function upToNul(text: string): string {
  return text.split('\0', 1)[0] ?? '';
}

function parseCLong(text: string): number | bigint | undefined {
  if (text === '') return 0;
  const match = cLong.exec(text);
  if (match === null) return undefined;
  const [, sign, hex, octal, decimal] = match;
  const magnitude = BigInt(hex ?? decimal ?? `0o${octal === '' || octal === undefined ? '0' : octal}`);
  const value = sign === '-' ? -magnitude : magnitude;
  return BigInt.asIntN(64, value) === value ? canonicalInteger(value) : undefined;
}

/** What LONG's text means: an optional L at its end, then `int(text, 0)`. */
export function parseLongLine(line: string): number | bigint | undefined {
  return parseAnyBase(line.endsWith('L') ? line.slice(0, -1) : line);
}

const float = /^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)$/i;

/** What FLOAT's text means; an overflow is refused, as in Python. */
export function parseFloatLine(line: string): number | undefined {
  const text = upToNul(line);
  if (!float.test(text)) return undefined;
  if (/inf/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  const value = Number(text);
  return value === Infinity || value === -Infinity ? undefined : value;
}
