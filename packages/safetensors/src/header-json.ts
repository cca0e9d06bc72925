/**
 * A bounded JSON tokenizer over bytes in memory: strict RFC 8259, fatal UTF-8, exact integers, no recursion,
 * every byte looked at once, nothing allocated but the texts that are asked for.
 * Knows nothing of safetensors; duplicate keys are its caller's.
 */
import { toDimension, type Dimension } from '@assay/core';
import { utf8Length } from './utf8.ts';

/** A token. `key` stands for a member's name and its colon; commas are not shown. */
export type JsonTokenKind = '{' | '}' | '[' | ']' | 'key' | 'string' | 'number' | 'true' | 'false' | 'null' | 'end' | 'problem';

/** Why the text is not JSON that is read here. */
export type JsonProblemKind =
  | 'utf8'
  | 'syntax'
  | 'control-character'
  | 'escape'
  | 'lone-surrogate'
  | 'number'
  | 'number-range'
  | 'depth'
  | 'trailing';

/** What stopped the tokenizer. Offsets are bytes of the file. */
export interface JsonProblem {
  readonly kind: JsonProblemKind;
  readonly start: number;
  readonly end: number;
  readonly found: string;
  readonly expected: string;
}

/** Options of `tokenizeJson`. */
export interface JsonOptions {
  /** The open bracket with this number is refused: 128 means that 127 may be open, as in serde_json. */
  readonly maxDepth?: number;
  /** Where the bytes begin in their file. */
  readonly offset?: number;
}

/** A tokenizer at its current token. */
export interface JsonTokenizer {
  /** Moves to the next token; stays at `end` and at `problem`. */
  next(): JsonTokenKind;
  readonly kind: JsonTokenKind;
  /** Bytes [start, end) of the file that the token takes, quotes included; a key without its colon. */
  readonly start: number;
  readonly end: number;
  /** Open brackets, after the token. */
  readonly depth: number;
  /** Tokens so far: the measure of work. */
  readonly tokens: number;
  /** Why `kind` is `problem`. */
  readonly problem: JsonProblem | undefined;
  /** The unescaped text of a `key` or `string`; of any other token, as it is written. */
  text(): string;
  /** True when the token is written exactly so: a quick look at short ASCII texts without escapes, quotes included. */
  is(written: string): boolean;
  /** The value of a number that is a whole one from 0 to 2^64-1, exactly; `undefined` for any other token (also `-0`, `1.0`). */
  integer(): Dimension | undefined;
  /** Moves to the last token of the value that the current token begins. */
  skipValue(): void;
  /** Moves to the token that closes the brackets beyond `depth`; nothing to do where there are none. */
  closeTo(depth: number): void;
}

/**
 * A tokenizer over a whole JSON text.
 * @example
 * const json = tokenizeJson(new TextEncoder().encode('{"a":[1]}'));
 * while (json.next() !== 'end' && json.kind !== 'problem') console.log(json.kind, json.text());
 */
export function tokenizeJson(bytes: Uint8Array, options: JsonOptions = {}): JsonTokenizer {
  return new Tokenizer(bytes, options.maxDepth ?? 128, options.offset ?? 0);
}

type State = 'value' | 'first-value' | 'key' | 'first-key' | 'after-value';

const U64_MAX = 0xffff_ffff_ffff_ffffn;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [COMMA, COLON, MINUS, PLUS, DOT, ZERO, NINE] = [0x2c, 0x3a, 0x2d, 0x2b, 0x2e, 0x30, 0x39];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const END_OF_TEXT = -1;
/** Texts up to this length are built from character codes: faster than a decoder's call. */
const SHORT_TEXT = 256;

// Without ignoreBOM the decoder would swallow a U+FEFF at the start of a name.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

class Tokenizer implements JsonTokenizer {
  kind: JsonTokenKind = 'end';
  depth = 0;
  tokens = 0;
  problem: JsonProblem | undefined;
  readonly #bytes: Uint8Array;
  readonly #offset: number;
  readonly #maxDepth: number;
  #position = 0;
  #from = 0;
  #to = 0;
  #state: State = 'value';
  /** Of the current string: no escapes, no bytes above 0x7F. */
  #plain = true;
  #escaped = false;
  /** One byte for each open bracket: the byte that closes it. */
  #closers = new Uint8Array(16);

  constructor(bytes: Uint8Array, maxDepth: number, offset: number) {
    this.#bytes = bytes;
    this.#maxDepth = maxDepth;
    this.#offset = offset;
  }

  get start(): number {
    return this.#offset + this.#from;
  }

  get end(): number {
    return this.#offset + this.#to;
  }

  next(): JsonTokenKind {
    if (this.problem !== undefined) return 'problem';
    this.tokens += 1;
    let byte = this.#skipSpace();
    if (this.#state === 'after-value') {
      if (this.depth === 0) return this.#atEnd(byte);
      const closer = this.#closers[this.depth - 1];
      if (byte === closer) return this.#close();
      if (byte !== COMMA) return this.#fail('syntax', `"," or "${String.fromCharCode(closer ?? 0)}"`);
      this.#position += 1;
      byte = this.#skipSpace();
      this.#state = closer === CLOSE_BRACE ? 'key' : 'value';
    }
    switch (this.#state) {
      case 'first-key':
        return byte === CLOSE_BRACE ? this.#close() : this.#key(byte);
      case 'key':
        return this.#key(byte);
      case 'first-value':
        return byte === CLOSE_BRACKET ? this.#close() : this.#value(byte);
      default:
        return this.#value(byte);
    }
  }

  text(): string {
    const isString = this.kind === 'key' || this.kind === 'string';
    if (!isString) return decoder.decode(this.#bytes.subarray(this.#from, this.#to));
    if (this.#escaped) return JSON.parse(decoder.decode(this.#bytes.subarray(this.#from, this.#to))) as string;
    const inside = this.#bytes.subarray(this.#from + 1, this.#to - 1);
    if (!this.#plain || inside.length > SHORT_TEXT) return decoder.decode(inside);
    return String.fromCharCode.apply(null, inside as unknown as number[]);
  }

  is(written: string): boolean {
    if (this.#to - this.#from !== written.length) return false;
    for (let at = 0; at < written.length; at += 1) {
      if (this.#bytes[this.#from + at] !== written.charCodeAt(at)) return false;
    }
    return true;
  }

  integer(): Dimension | undefined {
    if (this.kind !== 'number') return undefined;
    let value = 0;
    for (let at = this.#from; at < this.#to; at += 1) {
      const digit = (this.#bytes[at] ?? 0) - ZERO;
      if (digit < 0 || digit > 9) return undefined;
      value = value * 10 + digit;
    }
    if (this.#to - this.#from <= 15) return value;
    // 2^64-1 has 20 digits; a leading zero never gets here.
    if (this.#to - this.#from > 20) return undefined;
    const exact = BigInt(this.text());
    return exact > U64_MAX ? undefined : toDimension(exact);
  }

  skipValue(): void {
    if (this.kind === '{' || this.kind === '[') this.closeTo(this.depth - 1);
  }

  closeTo(depth: number): void {
    while (this.depth > depth && this.next() !== 'problem');
  }

  #skipSpace(): number {
    const bytes = this.#bytes;
    for (;;) {
      const byte = bytes[this.#position];
      if (byte === undefined) return END_OF_TEXT;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
      this.#position += 1;
    }
  }

  #token(kind: JsonTokenKind, from: number): JsonTokenKind {
    this.#from = from;
    this.#to = this.#position;
    this.kind = kind;
    return kind;
  }

  #atEnd(byte: number): JsonTokenKind {
    return byte === END_OF_TEXT ? this.#token('end', this.#position) : this.#fail('trailing', 'the end');
  }

  #open(kind: '{' | '[', closer: number, state: State): JsonTokenKind {
    if (this.depth + 1 >= this.#maxDepth) return this.#fail('depth', `fewer than ${this.#maxDepth} open brackets`);
    if (this.depth === this.#closers.length) {
      const larger = new Uint8Array(this.#closers.length * 2);
      larger.set(this.#closers);
      this.#closers = larger;
    }
    this.#closers[this.depth] = closer;
    this.depth += 1;
    this.#state = state;
    this.#position += 1;
    return this.#token(kind, this.#position - 1);
  }

  #close(): JsonTokenKind {
    this.depth -= 1;
    this.#state = 'after-value';
    this.#position += 1;
    return this.#token(this.#closers[this.depth] === CLOSE_BRACE ? '}' : ']', this.#position - 1);
  }

  #key(byte: number): JsonTokenKind {
    if (byte !== QUOTE) return this.#fail('syntax', this.#state === 'first-key' ? 'a quoted key or "}"' : 'a quoted key');
    const from = this.#position;
    if (!this.#string()) return 'problem';
    const to = this.#position;
    if (this.#skipSpace() !== COLON) return this.#fail('syntax', '":"');
    this.#position += 1;
    this.#state = 'value';
    this.#token('key', from);
    this.#to = to;
    return 'key';
  }

  #value(byte: number): JsonTokenKind {
    if (byte === OPEN_BRACE) return this.#open('{', CLOSE_BRACE, 'first-key');
    if (byte === OPEN_BRACKET) return this.#open('[', CLOSE_BRACKET, 'first-value');
    const from = this.#position;
    let kind: JsonTokenKind = 'problem';
    if (byte === QUOTE) kind = this.#string() ? 'string' : 'problem';
    else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) kind = this.#number() ? 'number' : 'problem';
    else kind = this.#literal(byte);
    if (kind === 'problem') return kind;
    this.#state = 'after-value';
    return this.#token(kind, from);
  }

  #literal(byte: number): JsonTokenKind {
    const word = byte === 0x74 ? 'true' : byte === 0x66 ? 'false' : byte === 0x6e ? 'null' : undefined;
    for (let at = 0; word !== undefined && at < word.length; at += 1) {
      if (this.#bytes[this.#position + at] !== word.charCodeAt(at)) return this.#fail('syntax', 'a value');
    }
    if (word === undefined) return this.#fail('syntax', 'a value');
    this.#position += word.length;
    return word;
  }

  /** From the opening quote to after the closing one. */
  #string(): boolean {
    const bytes = this.#bytes;
    this.#plain = true;
    this.#escaped = false;
    let at = this.#position + 1;
    for (;;) {
      const byte = bytes[at];
      if (byte === undefined) return this.#failAt(at, 'syntax', 'a closing quote');
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        at = this.#escape(at);
        if (at < 0) return false;
      } else if (byte < 0x20) {
        return this.#failAt(at, 'control-character', 'an escaped control character');
      } else if (byte < 0x80) {
        at += 1;
      } else {
        const length = utf8Length(bytes, at, bytes.length);
        if (length === 0) return this.#failAt(at, 'utf8', 'well-formed UTF-8');
        this.#plain = false;
        at += length;
      }
    }
    this.#position = at + 1;
    return true;
  }

  /** Where the text goes on after the escape at `at`; -1 for a problem. */
  #escape(at: number): number {
    this.#plain = false;
    this.#escaped = true;
    const letter = this.#bytes[at + 1] ?? 0;
    if (letter !== 0x75) {
      if ('"\\/bfnrt'.includes(String.fromCharCode(letter))) return at + 2;
      this.#failAt(at, 'escape', 'an escape of JSON');
      return -1;
    }
    const unit = this.#hex4(at + 2);
    if (unit === undefined) {
      this.#failAt(at, 'escape', '\\u and four hex digits');
      return -1;
    }
    if (unit < 0xd800 || unit > 0xdfff) return at + 6;
    const isHigh = unit < 0xdc00;
    const follows = this.#bytes[at + 6] === BACKSLASH && this.#bytes[at + 7] === 0x75 ? this.#hex4(at + 8) : undefined;
    if (isHigh && follows !== undefined && follows >= 0xdc00 && follows <= 0xdfff) return at + 12;
    this.#failAt(at, 'lone-surrogate', 'a pair of surrogates');
    return -1;
  }

  #hex4(at: number): number | undefined {
    let value = 0;
    for (let next = at; next < at + 4; next += 1) {
      const byte = (this.#bytes[next] ?? 0) | 0x20;
      const digit = byte >= 0x61 ? byte - 0x61 + 10 : (this.#bytes[next] ?? 0) - ZERO;
      if (digit < 0 || digit > 15 || (byte < 0x61 && digit > 9)) return undefined;
      value = value * 16 + digit;
    }
    return value;
  }

  /** RFC 8259 section 6. */
  #number(): boolean {
    const from = this.#position;
    let at = from;
    if (this.#bytes[at] === MINUS) at += 1;
    const integerFrom = at;
    at = this.#digits(at);
    if (at === integerFrom) return this.#failAt(at, 'number', 'a digit');
    if (this.#bytes[integerFrom] === ZERO && at > integerFrom + 1) return this.#failAt(integerFrom, 'number', 'no leading zero');
    if (this.#bytes[at] === DOT) {
      const fractionFrom = at + 1;
      at = this.#digits(fractionFrom);
      if (at === fractionFrom) return this.#failAt(at, 'number', 'a digit');
    }
    let mayOverflow = at - from > 300;
    if (((this.#bytes[at] ?? 0) | 0x20) === 0x65) {
      at += 1;
      if (this.#bytes[at] === PLUS || this.#bytes[at] === MINUS) at += 1;
      const exponentFrom = at;
      at = this.#digits(exponentFrom);
      if (at === exponentFrom) return this.#failAt(at, 'number', 'a digit');
      mayOverflow = true;
    }
    if (mayOverflow && !Number.isFinite(Number(decoder.decode(this.#bytes.subarray(from, at))))) {
      return this.#failAt(from, 'number-range', 'a number that a double can hold');
    }
    this.#position = at;
    return true;
  }

  #digits(from: number): number {
    let at = from;
    for (;;) {
      const byte = this.#bytes[at] ?? 0;
      if (byte < ZERO || byte > NINE) return at;
      at += 1;
    }
  }

  #fail(kind: JsonProblemKind, expected: string): 'problem' {
    this.#failAt(this.#position, kind, expected);
    return 'problem';
  }

  #failAt(at: number, kind: JsonProblemKind, expected: string): false {
    const byte = this.#bytes[at];
    const isUtf8 = byte === undefined || byte < 0x80 || utf8Length(this.#bytes, at, this.#bytes.length) > 0;
    this.problem = {
      kind: isUtf8 ? kind : 'utf8',
      start: this.#offset + at,
      end: this.#offset + Math.min(at + 1, this.#bytes.length),
      found: this.#describe(at),
      expected: isUtf8 ? expected : 'well-formed UTF-8',
    };
    this.kind = 'problem';
    this.#from = at;
    this.#to = Math.min(at + 1, this.#bytes.length);
    return false;
  }

  #describe(at: number): string {
    const byte = this.#bytes[at];
    if (byte === undefined) return 'the end';
    if (byte === 0xef && this.#bytes[at + 1] === 0xbb && this.#bytes[at + 2] === 0xbf) return 'a byte order mark';
    const isPrintable = byte > 0x20 && byte < 0x7f;
    return isPrintable ? `"${String.fromCharCode(byte)}"` : `the byte 0x${byte.toString(16).padStart(2, '0')}`;
  }
}
