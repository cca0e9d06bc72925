/**
 * The arguments of opcodes as values: texts and integers in every spelling, and memo slots.
 */
import { decodeTwosComplement } from './numbers.ts';
import type { PickleValue } from './records.ts';
import type { PickleState } from './state.ts';
import { decodeLatin1, decodeQuoted, decodeRawUnicodeEscape, decodeSurrogatePass, decodeUtf8 } from './text.ts';

/** A str of `length` bytes of UTF-8. */
export function readText(state: PickleState, length: number): string {
  const { reader } = state;
  const start = reader.take(length);
  return decodeSurrogatePass(reader.bytes, start, start + length) ?? badText(state, 'UTF-8');
}

/** A str as a line of raw-unicode-escape. */
export function readUnicodeLine(state: PickleState): string {
  return decodeRawUnicodeEscape(state.reader.line()) ?? badText(state, 'raw-unicode-escape');
}

/** A str of Python 2 as a quoted line. */
export function readQuotedLine(state: PickleState): PickleValue {
  return python2Text(decodeQuoted(state.reader.line()) ?? badText(state, 'a quoted string'));
}

/** A str of Python 2: text where it is UTF-8, as `torch.load` reads it, else its bytes. */
export function python2Text(bytes: Uint8Array): PickleValue {
  return decodeUtf8(bytes, 0, bytes.length) ?? { kind: 'text', bytes };
}

/** A name that GLOBAL or INST gives as a line. */
export function readNameLine(state: PickleState, decode: (bytes: Uint8Array, start: number, end: number) => string | undefined): string {
  const line = state.reader.line();
  if (line.length === 0) throw state.fail('PICKLE_TRUNCATED', 'an empty line', 'a name');
  return decode(line, 0, line.length) ?? badText(state, 'a name in UTF-8');
}

/** An int of `length` bytes of two's complement. */
export function readLong(state: PickleState, length: number): number | bigint {
  const { reader, limits } = state;
  if (length > limits.maxPickleIntegerBytes) throw state.overLimit('maxPickleIntegerBytes', length);
  const start = reader.take(length);
  return decodeTwosComplement(reader.bytes, start, start + length);
}

/** What `parse` makes of the next line; the length is limited before it is looked at. */
export function readParsed<T>(state: PickleState, parse: (line: string) => T | undefined, expected: string): T {
  const line = state.reader.line();
  if (line.length > state.limits.maxPickleIntegerBytes) throw state.overLimit('maxPickleIntegerBytes', line.length);
  const text = decodeLatin1(line);
  const value = line.length === 0 ? undefined : parse(text);
  if (value === undefined) throw state.fail('PICKLE_ARGUMENT_MALFORMED', JSON.stringify(text.slice(0, 40)), expected);
  return value;
}

/** Puts the value of a memo slot on the stack. */
export function getFromMemo(state: PickleState, index: number | bigint): void {
  const value = typeof index === 'number' ? state.memo.get(index) : undefined;
  if (value === undefined) throw state.fail('PICKLE_MEMO_MISSING', `memo slot ${index}`, 'a slot that was filled');
  state.stack.values.push(value);
}

/** Fills a memo slot with the last value, by reference. */
export function putIntoMemo(state: PickleState, index: number | bigint): void {
  const value = state.stack.top();
  if (index < 0) throw state.fail('PICKLE_ARGUMENT_MALFORMED', `memo slot ${index}`, 'a slot of at least 0');
  if (typeof index !== 'number' || index >= state.limits.maxPickleMemo) throw state.overLimit('maxPickleMemo', index);
  state.memo.put(index, value);
}

function badText(state: PickleState, expected: string): never {
  throw state.fail('PICKLE_ARGUMENT_MALFORMED', 'other bytes', expected);
}
