/**
 * The inert pickle machine: the only place that interprets an opcode.
 * Does what CPython 3.11's C unpickler does, except that nothing is ever imported or called: where Python would,
 * a record says so. Protocols 0 to 5. Nothing recursive; every kind of growth has a limit.
 */
import {
  finding,
  limitExceeded,
  resolveLimits,
  type AssayError,
  type Code,
  type Facts,
  type Finding,
  type LimitName,
  type Limits,
  type Subject,
} from '@assay/core';
import { malformedPickle, opcodeName, placeName } from './failure.ts';
import { PickleMemo } from './memo.ts';
import { decodeTwosComplement, parseDecimal, parseFloatLine, parseIntLine, parseLongLine } from './numbers.ts';
import { HIGHEST_PROTOCOL } from './opcodes.ts';
import { PickleReader } from './reader.ts';
import { isHashable, kindOf, setEntry, type CallForm, type PickleCall, type PickleGlobal, type PickleRecord, type PickleValue } from './records.ts';
import { PickleStack } from './stack.ts';
import { decodeAscii, decodeLatin1, decodeQuoted, decodeRawUnicodeEscape, decodeSurrogatePass, decodeUtf8 } from './text.ts';

/** Told of what a pickle names and calls as it is read, also of what it throws away again. */
export interface PickleObserver {
  global?(record: PickleGlobal): void;
  call?(record: PickleCall): void;
  /** BUILD; `offset` is its opcode's. */
  build?(target: PickleRecord, state: PickleValue, offset: number): void;
}

/** Options of `readPickle`. */
export interface ReadPickleOptions {
  readonly limits?: Partial<Limits>;
  /** Where the pickle starts in the bytes. */
  readonly offset?: number;
  /** What findings and errors are about. */
  readonly where?: Subject;
  /** Bytes after the pickle belong to the format, and are no finding. */
  readonly trailing?: 'finding' | 'allowed';
  readonly observer?: PickleObserver;
}

/** What a pickle describes. */
export interface PickleResult {
  readonly value: PickleValue;
  /** The byte after STOP. */
  readonly end: number;
  /** The highest that the stream states, 0 where it states none. */
  readonly protocol: number;
  /** How many were run. */
  readonly opcodes: number;
  /** Everything importable that the stream names, each once, in the order of their first appearance. */
  readonly globals: readonly PickleGlobal[];
  readonly findings: readonly Finding[];
}

/**
 * Reads one pickle into inert records.
 * @throws {AssayError} `PICKLE_*` for a stream that Python refuses too or that needs something from outside; `LIMIT_EXCEEDED`
 */
export function readPickle(bytes: Uint8Array, options: ReadPickleOptions = {}): PickleResult {
  return new PickleMachine(bytes, options).run();
}

const EMPTY_TUPLE: PickleRecord = { kind: 'tuple', items: [] };

/** Findings of one kind beyond this say nothing new. */
const MOST_FINDINGS = 100;

class PickleMachine {
  #reader: PickleReader;
  #stack: PickleStack;
  #memo = new PickleMemo();
  #limits: Limits;
  #observer: PickleObserver | undefined;
  #trailing: 'finding' | 'allowed';
  #start: number;
  #protocol = 0;
  #protocolSeen = false;
  #frameEnd = Infinity;
  /** Records made, and values put into them one by one. */
  #made = 0;
  #findings: Finding[] = [];
  #globals: Map<string, Map<string, PickleGlobal>> = new Map();

  constructor(bytes: Uint8Array, options: ReadPickleOptions) {
    const { limits, offset = 0, where = {}, trailing = 'finding', observer } = options;
    this.#limits = resolveLimits(limits);
    this.#reader = new PickleReader(bytes, offset, where);
    this.#stack = new PickleStack(this.#reader, this.#limits);
    this.#start = offset;
    this.#trailing = trailing;
    this.#observer = observer;
    if (bytes.length - offset > this.#limits.maxPickleBytes) throw this.#overLimit('maxPickleBytes', bytes.length - offset);
  }

  run(): PickleResult {
    const reader = this.#reader;
    const { values } = this.#stack;
    const { maxPickleOpcodes, maxWalkedValues } = this.#limits;
    let opcodes = 0;
    for (;;) {
      if (reader.position >= this.#frameEnd) this.#endFrame();
      opcodes += 1;
      if (opcodes > maxPickleOpcodes) throw this.#overLimit('maxPickleOpcodes', opcodes);
      if (values.length > maxWalkedValues) throw this.#overLimit('maxWalkedValues', values.length);
      const code = reader.opcode();
      if (code === 0x2e) return this.#stop(opcodes);
      this.#execute(code, reader, values);
    }
  }

  // One case an opcode, in the order of their bytes; literal numbers, so that V8 makes a jump table.
  #execute(code: number, reader: PickleReader, values: PickleValue[]): void {
    const stack = this.#stack;
    switch (code) {
      case 0x28: // MARK
        return stack.mark();
      case 0x29: // EMPTY_TUPLE
        return void values.push(EMPTY_TUPLE);
      case 0x30: // POP
        return stack.popValueOrMark();
      case 0x31: // POP_MARK
        return void stack.takeToMark();
      case 0x32: // DUP
        return void values.push(stack.top());
      case 0x42: // BINBYTES
        return this.#push({ kind: 'bytes', bytes: reader.slice(reader.u32()) });
      case 0x43: // SHORT_BINBYTES
        return this.#push({ kind: 'bytes', bytes: reader.slice(reader.u8()) });
      case 0x46: // FLOAT
        return this.#push({ kind: 'float', value: this.#parsed(parseFloatLine, 'a decimal float') });
      case 0x47: // BINFLOAT
        return this.#push({ kind: 'float', value: reader.f64() });
      case 0x49: // INT
        return void values.push(this.#parsed(parseIntLine, 'an integer'));
      case 0x4a: // BININT
        return void values.push(reader.i32());
      case 0x4b: // BININT1
        return void values.push(reader.u8());
      case 0x4c: // LONG
        return void values.push(this.#parsed(parseLongLine, 'an integer'));
      case 0x4d: // BININT2
        return void values.push(reader.u16());
      case 0x4e: // NONE
        return void values.push(null);
      case 0x50: // PERSID
        throw this.#fail('PICKLE_PERSISTENT_ID_TEXT', 'a persistent id as text', 'a persistent id as a tuple');
      case 0x51: // BINPERSID
        return this.#push({ kind: 'persistent', id: stack.pop(), offset: reader.opcodeAt, states: undefined });
      case 0x52: // REDUCE
        return this.#reduce();
      case 0x53: // STRING
        return void values.push(this.#python2Text(decodeQuoted(reader.line()) ?? this.#badText('a quoted string')));
      case 0x54: // BINSTRING
        return void values.push(this.#python2Text(reader.slice(reader.signedLength())));
      case 0x55: // SHORT_BINSTRING
        return void values.push(this.#python2Text(reader.slice(reader.u8())));
      case 0x56: // UNICODE
        return void values.push(decodeRawUnicodeEscape(reader.line()) ?? this.#badText('raw-unicode-escape'));
      case 0x58: // BINUNICODE
        return void values.push(this.#text(reader.u32()));
      case 0x5d: // EMPTY_LIST
        return this.#push({ kind: 'list', items: [] });
      case 0x61: // APPEND
        return this.#append(1);
      case 0x62: // BUILD
        return this.#build();
      case 0x63: // GLOBAL
        return this.#global(this.#importLine(decodeUtf8), this.#importLine(decodeUtf8));
      case 0x64: // DICT
        return this.#dict(stack.takeToMark());
      case 0x65: // APPENDS
        return this.#append(values.length - stack.popMark());
      case 0x67: // GET
        return this.#get(this.#parsed(parseDecimal, 'a memo index'));
      case 0x68: // BINGET
        return this.#get(reader.u8());
      case 0x69: // INST
        return this.#inst();
      case 0x6a: // LONG_BINGET
        return this.#get(reader.u32());
      case 0x6c: // LIST
        return this.#push({ kind: 'list', items: stack.takeToMark() });
      case 0x6f: // OBJ
        return this.#obj();
      case 0x70: // PUT
        return this.#put(this.#parsed(parseDecimal, 'a memo index'));
      case 0x71: // BINPUT
        return this.#put(reader.u8());
      case 0x72: // LONG_BINPUT
        return this.#put(reader.u32());
      case 0x73: // SETITEM
        return this.#setItems(2);
      case 0x74: // TUPLE
        return this.#tuple(stack.takeToMark());
      case 0x75: // SETITEMS
        return this.#setItems(values.length - stack.popMark());
      case 0x7d: // EMPTY_DICT
        return this.#push({ kind: 'dict', entries: new Map() });
      case 0x80: // PROTO
        return this.#proto(reader.u8());
      case 0x81: // NEWOBJ
        return this.#newObject('newobj', undefined);
      case 0x82: // EXT1
      case 0x83: // EXT2
      case 0x84: // EXT4
        throw this.#fail('PICKLE_EXTENSION', opcodeName(code), 'an object named by module and name');
      case 0x85: // TUPLE1
        return this.#tuple([stack.pop()]);
      case 0x86: // TUPLE2
        stack.need(2);
        return this.#tuple(values.splice(-2));
      case 0x87: // TUPLE3
        stack.need(3);
        return this.#tuple(values.splice(-3));
      case 0x88: // NEWTRUE
        return void values.push(true);
      case 0x89: // NEWFALSE
        return void values.push(false);
      case 0x8a: // LONG1
        return void values.push(this.#long(reader.u8()));
      case 0x8b: // LONG4
        return void values.push(this.#long(reader.signedLength()));
      case 0x8c: // SHORT_BINUNICODE
        return void values.push(this.#text(reader.u8()));
      case 0x8d: // BINUNICODE8
        return void values.push(this.#text(reader.length64()));
      case 0x8e: // BINBYTES8
        return this.#push({ kind: 'bytes', bytes: reader.slice(reader.length64()) });
      case 0x8f: // EMPTY_SET
        return this.#push({ kind: 'set', items: [] });
      case 0x90: // ADDITEMS
        return this.#addItems();
      case 0x91: // FROZENSET
        return this.#push({ kind: 'frozenset', items: this.#hashable(stack.takeToMark()) });
      case 0x92: // NEWOBJ_EX
        return this.#newObject('newobj-ex', stack.pop());
      case 0x93: // STACK_GLOBAL
        return this.#stackGlobal();
      case 0x94: // MEMOIZE
        return this.#put(this.#memo.size);
      case 0x95: // FRAME
        return this.#frame(reader.length64());
      case 0x96: // BYTEARRAY8
        return this.#push({ kind: 'bytearray', bytes: reader.slice(reader.length64()) });
      case 0x97: // NEXT_BUFFER
      case 0x98: // READONLY_BUFFER
        throw this.#fail('PICKLE_BUFFER_MISSING', opcodeName(code), 'bytes within the pickle');
      default:
        throw this.#fail('PICKLE_OPCODE_UNKNOWN', opcodeName(code), 'an opcode');
    }
  }

  #stop(opcodes: number): PickleResult {
    const value = this.#stack.pop();
    const { position, bytes } = this.#reader;
    const { values, openMarks } = this.#stack;
    if (values.length > 0 || openMarks > 0) this.#note('PICKLE_LEFT_OVER', position - 1, position, { values: values.length, marks: openMarks });
    if (position > this.#frameEnd) this.#endFrame();
    if (this.#trailing === 'finding' && position < bytes.length) {
      this.#note('PICKLE_TRAILING_BYTES', position, bytes.length, { found: bytes.length - position, expected: 0 });
    }
    const globals = [...this.#globals.values()].flatMap((names) => [...names.values()]).sort((a, b) => a.offset - b.offset);
    return { value, end: position, protocol: this.#protocol, opcodes, globals, findings: this.#findings };
  }

  // Protocol and frames

  #proto(protocol: number): void {
    const { opcodeAt, position } = this.#reader;
    if (protocol > HIGHEST_PROTOCOL) throw this.#fail('PICKLE_PROTOCOL_UNKNOWN', protocol, `0 to ${HIGHEST_PROTOCOL}`);
    if (this.#protocolSeen || opcodeAt !== this.#start) this.#note('PICKLE_PROTOCOL_REPEATED', opcodeAt, position, { protocol });
    this.#protocolSeen = true;
    this.#protocol = Math.max(this.#protocol, protocol);
  }

  #frame(length: number): void {
    const { opcodeAt, position } = this.#reader;
    // A frame within a frame: the outer one is crossed.
    if (this.#frameEnd !== Infinity) this.#note('PICKLE_FRAME_CROSSED', opcodeAt, position, { frameEnd: this.#frameEnd });
    this.#frameEnd = position + length;
  }

  /** An opcode that ran past the end of its frame is read otherwise by CPython's Python and C unpicklers (cpython#154848). */
  #endFrame(): void {
    const { opcodeAt, position } = this.#reader;
    if (position > this.#frameEnd) this.#note('PICKLE_FRAME_CROSSED', opcodeAt, position, { frameEnd: this.#frameEnd });
    this.#frameEnd = Infinity;
  }

  // Values

  #push(record: PickleRecord): void {
    this.#made += 1;
    if (this.#made > this.#limits.maxWalkedValues) throw this.#overLimit('maxWalkedValues', this.#made);
    this.#stack.values.push(record);
  }

  #tuple(items: PickleValue[]): void {
    this.#push(items.length === 0 ? EMPTY_TUPLE : { kind: 'tuple', items });
  }

  #text(length: number): string {
    const start = this.#reader.take(length);
    return decodeSurrogatePass(this.#reader.bytes, start, start + length) ?? this.#badText('UTF-8');
  }

  /** A str of Python 2: text where it is UTF-8, as `torch.load` reads it, else its bytes. */
  #python2Text(bytes: Uint8Array): PickleValue {
    return decodeUtf8(bytes, 0, bytes.length) ?? { kind: 'text', bytes };
  }

  #long(length: number): number | bigint {
    if (length > this.#limits.maxPickleIntegerBytes) throw this.#overLimit('maxPickleIntegerBytes', length);
    const start = this.#reader.take(length);
    return decodeTwosComplement(this.#reader.bytes, start, start + length);
  }

  #parsed<T>(parse: (line: string) => T | undefined, expected: string): T {
    const line = this.#reader.line();
    if (line.length > this.#limits.maxPickleIntegerBytes) throw this.#overLimit('maxPickleIntegerBytes', line.length);
    const text = decodeLatin1(line);
    const value = line.length === 0 ? undefined : parse(text);
    if (value === undefined) throw this.#fail('PICKLE_ARGUMENT_MALFORMED', JSON.stringify(text.slice(0, 40)), expected);
    return value;
  }

  #badText(expected: string): never {
    throw this.#fail('PICKLE_ARGUMENT_MALFORMED', 'other bytes', expected);
  }

  #hashable(items: PickleValue[]): PickleValue[] {
    for (const item of items) if (!isHashable(item)) throw this.#fail('PICKLE_TYPE_MISMATCH', kindOf(item), 'a hashable key');
    return items;
  }

  // Memo

  #get(index: number | bigint): void {
    const value = typeof index === 'number' ? this.#memo.get(index) : undefined;
    if (value === undefined) throw this.#fail('PICKLE_MEMO_MISSING', `memo slot ${index}`, 'a slot that was filled');
    this.#stack.values.push(value);
  }

  #put(index: number | bigint): void {
    const value = this.#stack.top();
    if (index < 0) throw this.#fail('PICKLE_ARGUMENT_MALFORMED', `memo slot ${index}`, 'a slot of at least 0');
    if (typeof index !== 'number' || index >= this.#limits.maxPickleMemo) throw this.#overLimit('maxPickleMemo', index);
    this.#memo.put(index, value);
  }

  // Containers

  #append(count: number): void {
    const items = this.#takeAbove(count);
    const target = this.#stack.top();
    if (items.length === 0) return;
    this.#count(items.length);
    if (isRecord(target) && target.kind === 'list') pushAll(target.items, items);
    else if (isRecord(target) && target.kind === 'call') pushAll((target.items ??= []), items);
    else throw this.#fail('PICKLE_TYPE_MISMATCH', kindOf(target), 'a list to append to');
  }

  #addItems(): void {
    const items = this.#hashable(this.#stack.takeToMark());
    const target = this.#stack.top();
    if (items.length === 0) return;
    this.#count(items.length);
    if (isRecord(target) && target.kind === 'set') pushAll(target.items, items);
    else if (isRecord(target) && target.kind === 'call') pushAll((target.items ??= []), items);
    else throw this.#fail('PICKLE_TYPE_MISMATCH', kindOf(target), 'a set to add to');
  }

  #setItems(count: number): void {
    const pairs = this.#takeAbove(count);
    const target = this.#stack.top();
    if (pairs.length === 0) return;
    if (isRecord(target) && target.kind === 'dict') this.#setAll(target.entries, pairs);
    else if (isRecord(target) && target.kind === 'call') this.#setAll((target.entries ??= new Map()), pairs);
    else throw this.#fail('PICKLE_TYPE_MISMATCH', kindOf(target), 'a dict to set items of');
  }

  #dict(pairs: PickleValue[]): void {
    const entries = new Map<PickleValue, PickleValue>();
    this.#setAll(entries, pairs);
    this.#push({ kind: 'dict', entries });
  }

  #setAll(entries: Map<PickleValue, PickleValue>, pairs: readonly PickleValue[]): void {
    if (pairs.length % 2 !== 0) throw this.#fail('PICKLE_STACK_UNDERFLOW', pairs.length, 'an even number of keys and values');
    this.#count(pairs.length / 2);
    for (let at = 0; at + 1 < pairs.length; at += 2) {
      const key = pairs[at] as PickleValue;
      if (!isHashable(key)) throw this.#fail('PICKLE_TYPE_MISMATCH', kindOf(key), 'a hashable key');
      setEntry(entries, key, pairs[at + 1] as PickleValue);
    }
  }

  /** The last `count` values, with one more left below them. */
  #takeAbove(count: number): PickleValue[] {
    this.#stack.need(count + 1);
    const { values } = this.#stack;
    return count === 1 ? [values.pop() as PickleValue] : values.splice(values.length - count);
  }

  // Names and calls

  #importLine(decode: (bytes: Uint8Array, start: number, end: number) => string | undefined): string {
    const line = this.#reader.line();
    if (line.length === 0) throw this.#fail('PICKLE_TRUNCATED', 'an empty line', 'a name');
    return decode(line, 0, line.length) ?? this.#badText('a name in UTF-8');
  }

  #global(module: string, name: string): void {
    const record: PickleGlobal = { kind: 'global', module, name, offset: this.#reader.opcodeAt, states: undefined };
    this.#push(record);
    this.#listGlobal(record);
  }

  #listGlobal(record: PickleGlobal): void {
    const { module, name } = record;
    let names = this.#globals.get(module);
    if (names === undefined) this.#globals.set(module, (names = new Map()));
    if (!names.has(name)) names.set(name, record);
    this.#observer?.global?.(record);
  }

  #stackGlobal(): void {
    const name = this.#stack.pop();
    const module = this.#stack.pop();
    if (typeof name === 'string' && typeof module === 'string') return this.#global(module, name);
    throw this.#fail('PICKLE_TYPE_MISMATCH', `${kindOf(module)} and ${kindOf(name)}`, 'two texts');
  }

  #call(form: CallForm, callable: PickleValue, args: PickleValue, keywords: PickleValue | undefined): void {
    if (!isObject(callable)) throw this.#fail('PICKLE_TYPE_MISMATCH', kindOf(callable), 'something that can be called');
    if (!isObject(args) && kindOf(args) !== 'tuple') throw this.#fail('PICKLE_TYPE_MISMATCH', kindOf(args), 'a tuple of arguments');
    const record: PickleCall = {
      kind: 'call',
      form,
      callable,
      args,
      keywords,
      offset: this.#reader.opcodeAt,
      states: undefined,
      items: undefined,
      entries: undefined,
    };
    this.#push(record);
    this.#observer?.call?.(record);
  }

  #reduce(): void {
    const args = this.#stack.pop();
    this.#call('reduce', this.#stack.pop(), args, undefined);
  }

  #newObject(form: 'newobj' | 'newobj-ex', keywords: PickleValue | undefined): void {
    const args = this.#stack.pop();
    const callable = this.#stack.pop();
    if (keywords !== undefined && !isObject(keywords) && kindOf(keywords) !== 'dict') {
      throw this.#fail('PICKLE_TYPE_MISMATCH', kindOf(keywords), 'a dict of keyword arguments');
    }
    this.#call(form, callable, args, keywords);
  }

  #inst(): void {
    const module = this.#importLine(decodeAscii);
    const name = this.#importLine(decodeAscii);
    const items = this.#stack.takeToMark();
    this.#global(module, name);
    this.#call('inst', this.#stack.pop(), { kind: 'tuple', items }, undefined);
  }

  #obj(): void {
    const [callable, ...items] = this.#stack.takeToMark();
    if (callable === undefined) throw this.#fail('PICKLE_STACK_UNDERFLOW', 0, 'a class after the mark');
    this.#call('obj', callable, { kind: 'tuple', items }, undefined);
  }

  #build(): void {
    const state = this.#stack.pop();
    const target = this.#stack.top();
    if (!isObject(target)) throw this.#fail('PICKLE_TYPE_MISMATCH', kindOf(target), 'an object to set the state of');
    this.#count(1);
    (target.states ??= []).push(state);
    this.#observer?.build?.(target, state, this.#reader.opcodeAt);
  }

  // Trouble

  #count(added: number): void {
    this.#made += added;
    if (this.#made > this.#limits.maxWalkedValues) throw this.#overLimit('maxWalkedValues', this.#made);
  }

  #note(code: Code, start: number, end: number, args: Facts): void {
    if (this.#findings.length < MOST_FINDINGS) this.#findings.push(finding(code, 'warning', { ...this.#reader.where, start, end }, args));
  }

  #fail(code: Code, found: string | number, expected: string): AssayError {
    const { where, opcodeAt, bytes } = this.#reader;
    return malformedPickle(code, where, { offset: opcodeAt, found, expected }, { opcode: opcodeName(bytes[opcodeAt] ?? 0) });
  }

  #overLimit(limit: LimitName, found: number | bigint): AssayError {
    const { where, opcodeAt } = this.#reader;
    return limitExceeded(limit, { where: placeName(where), found, allowed: this.#limits[limit], offset: opcodeAt });
  }
}

function isRecord(value: PickleValue): value is PickleRecord {
  return typeof value === 'object' && value !== null;
}

/** True for what may be anything in Python: a class, the result of a call, something from outside. */
function isObject(value: PickleValue): value is PickleRecord & { states: PickleValue[] | undefined } {
  return isRecord(value) && (value.kind === 'global' || value.kind === 'call' || value.kind === 'persistent');
}

/** Without spreading into arguments, of which there may be millions. */
function pushAll(items: PickleValue[], added: readonly PickleValue[]): void {
  for (const item of added) items.push(item);
}
