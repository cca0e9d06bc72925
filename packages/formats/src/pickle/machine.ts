/**
 * The inert pickle machine: the only place that interprets an opcode.
 * Does what CPython 3.11's C unpickler does, except that nothing is ever imported or called: where Python would,
 * a record says so. Protocols 0 to 5. Nothing recursive; every kind of growth has a limit.
 */
import { resolveLimits, type Finding, type Limits, type Subject } from '@assay/core';
import { build, instance, newObject, object, pushGlobal, reduce, stackGlobal } from './calls.ts';
import { addItems, appendItems, pushDict, pushShortTuple, pushTuple, requireHashable, setItems } from './containers.ts';
import { opcodeName } from './failure.ts';
import { parseDecimal, parseFloatLine, parseIntLine, parseLongLine } from './numbers.ts';
import { HIGHEST_PROTOCOL } from './opcodes.ts';
import {
  getFromMemo,
  putIntoMemo,
  python2Text,
  readLong,
  readNameLine,
  readParsed,
  readQuotedLine,
  readText,
  readUnicodeLine,
} from './operands.ts';
import { PickleReader } from './reader.ts';
import type { PickleGlobal, PickleValue } from './records.ts';
import { PickleState, type PickleObserver } from './state.ts';
import { decodeUtf8 } from './text.ts';

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

class PickleMachine {
  #state: PickleState;
  #trailing: 'finding' | 'allowed';
  #start: number;
  #protocol = 0;
  #protocolSeen = false;
  #frameEnd = Infinity;

  constructor(bytes: Uint8Array, options: ReadPickleOptions) {
    const { limits, offset = 0, where = {}, trailing = 'finding', observer } = options;
    // A plain view: slices of a Buffer are several times slower to make.
    const plain = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#state = new PickleState(new PickleReader(plain, offset, where), resolveLimits(limits), observer);
    this.#start = offset;
    this.#trailing = trailing;
    const length = bytes.length - offset;
    if (length > this.#state.limits.maxPickleBytes) throw this.#state.overLimit('maxPickleBytes', length);
  }

  run(): PickleResult {
    const state = this.#state;
    const { reader } = state;
    const { values } = state.stack;
    const { maxPickleOpcodes, maxWalkedValues } = state.limits;
    let opcodes = 0;
    for (;;) {
      if (reader.position >= this.#frameEnd) this.#endFrame();
      opcodes += 1;
      if (opcodes > maxPickleOpcodes) throw state.overLimit('maxPickleOpcodes', opcodes);
      if (values.length > maxWalkedValues) throw state.overLimit('maxWalkedValues', values.length);
      const code = reader.opcode();
      if (code === 0x2e) return this.#stop(opcodes);
      this.#execute(code, state, reader);
    }
  }

  // One case an opcode, in the order of their bytes; literal numbers, so that V8 makes a jump table.
  #execute(code: number, state: PickleState, reader: PickleReader): void {
    const { stack } = state;
    const { values } = stack;
    switch (code) {
      case 0x28: // MARK
        return stack.mark();
      case 0x29: // EMPTY_TUPLE
        return pushTuple(state, []);
      case 0x30: // POP
        return stack.popValueOrMark();
      case 0x31: // POP_MARK
        return void stack.takeToMark();
      case 0x32: // DUP
        return void values.push(stack.top());
      case 0x42: // BINBYTES
        return state.push({ kind: 'bytes', bytes: reader.slice(reader.u32()) });
      case 0x43: // SHORT_BINBYTES
        return state.push({ kind: 'bytes', bytes: reader.slice(reader.u8()) });
      case 0x46: // FLOAT
        return state.push({ kind: 'float', value: readParsed(state, parseFloatLine, 'a decimal float') });
      case 0x47: // BINFLOAT
        return state.push({ kind: 'float', value: reader.f64() });
      case 0x49: // INT
        return void values.push(readParsed(state, parseIntLine, 'an integer'));
      case 0x4a: // BININT
        return void values.push(reader.i32());
      case 0x4b: // BININT1
        return void values.push(reader.u8());
      case 0x4c: // LONG
        return void values.push(readParsed(state, parseLongLine, 'an integer'));
      case 0x4d: // BININT2
        return void values.push(reader.u16());
      case 0x4e: // NONE
        return void values.push(null);
      case 0x50: // PERSID
        throw state.fail('PICKLE_PERSISTENT_ID_TEXT', 'a persistent id as text', 'a persistent id as a tuple');
      case 0x51: // BINPERSID
        return state.push({ kind: 'persistent', id: stack.pop(), offset: reader.opcodeAt, states: undefined });
      case 0x52: // REDUCE
        return reduce(state);
      case 0x53: // STRING
        return void values.push(readQuotedLine(state));
      case 0x54: // BINSTRING
        return void values.push(python2Text(reader.slice(reader.signedLength())));
      case 0x55: // SHORT_BINSTRING
        return void values.push(python2Text(reader.slice(reader.u8())));
      case 0x56: // UNICODE
        return void values.push(readUnicodeLine(state));
      case 0x58: // BINUNICODE
        return void values.push(readText(state, reader.u32()));
      case 0x5d: // EMPTY_LIST
        return state.push({ kind: 'list', items: [] });
      case 0x61: // APPEND
        return appendItems(state, 1);
      case 0x62: // BUILD
        return build(state);
      case 0x63: // GLOBAL
        return pushGlobal(state, readNameLine(state, decodeUtf8), readNameLine(state, decodeUtf8));
      case 0x64: // DICT
        return pushDict(state, stack.takeToMark());
      case 0x65: // APPENDS
        return appendItems(state, values.length - stack.popMark());
      case 0x67: // GET
        return getFromMemo(state, readParsed(state, parseDecimal, 'a memo index'));
      case 0x68: // BINGET
        return getFromMemo(state, reader.u8());
      case 0x69: // INST
        return instance(state);
      case 0x6a: // LONG_BINGET
        return getFromMemo(state, reader.u32());
      case 0x6c: // LIST
        return state.push({ kind: 'list', items: stack.takeToMark() });
      case 0x6f: // OBJ
        return object(state);
      case 0x70: // PUT
        return putIntoMemo(state, readParsed(state, parseDecimal, 'a memo index'));
      case 0x71: // BINPUT
        return putIntoMemo(state, reader.u8());
      case 0x72: // LONG_BINPUT
        return putIntoMemo(state, reader.u32());
      case 0x73: // SETITEM
        return setItems(state, 2);
      case 0x74: // TUPLE
        return pushTuple(state, stack.takeToMark());
      case 0x75: // SETITEMS
        return setItems(state, values.length - stack.popMark());
      case 0x7d: // EMPTY_DICT
        return state.push({ kind: 'dict', entries: new Map() });
      case 0x80: // PROTO
        return this.#proto(reader.u8());
      case 0x81: // NEWOBJ
        return newObject(state, 'newobj', undefined);
      case 0x82: // EXT1
      case 0x83: // EXT2
      case 0x84: // EXT4
        throw state.fail('PICKLE_EXTENSION', opcodeName(code), 'an object named by module and name');
      case 0x85: // TUPLE1
        return pushTuple(state, [stack.pop()]);
      case 0x86: // TUPLE2
        return pushShortTuple(state, 2);
      case 0x87: // TUPLE3
        return pushShortTuple(state, 3);
      case 0x88: // NEWTRUE
        return void values.push(true);
      case 0x89: // NEWFALSE
        return void values.push(false);
      case 0x8a: // LONG1
        return void values.push(readLong(state, reader.u8()));
      case 0x8b: // LONG4
        return void values.push(readLong(state, reader.signedLength()));
      case 0x8c: // SHORT_BINUNICODE
        return void values.push(readText(state, reader.u8()));
      case 0x8d: // BINUNICODE8
        return void values.push(readText(state, reader.length64()));
      case 0x8e: // BINBYTES8
        return state.push({ kind: 'bytes', bytes: reader.slice(reader.length64()) });
      case 0x8f: // EMPTY_SET
        return state.push({ kind: 'set', items: [] });
      case 0x90: // ADDITEMS
        return addItems(state);
      case 0x91: // FROZENSET
        return state.push({ kind: 'frozenset', items: requireHashable(state, stack.takeToMark()) });
      case 0x92: // NEWOBJ_EX
        return newObject(state, 'newobj-ex', stack.pop());
      case 0x93: // STACK_GLOBAL
        return stackGlobal(state);
      case 0x94: // MEMOIZE
        return putIntoMemo(state, state.memo.size);
      case 0x95: // FRAME
        return this.#frame(reader.length64());
      case 0x96: // BYTEARRAY8
        return state.push({ kind: 'bytearray', bytes: reader.slice(reader.length64()) });
      case 0x97: // NEXT_BUFFER
      case 0x98: // READONLY_BUFFER
        throw state.fail('PICKLE_BUFFER_MISSING', opcodeName(code), 'bytes within the pickle');
      default:
        throw state.fail('PICKLE_OPCODE_UNKNOWN', opcodeName(code), 'an opcode');
    }
  }

  #stop(opcodes: number): PickleResult {
    const { stack, reader, findings } = this.#state;
    const value = stack.pop();
    const { position, bytes } = reader;
    if (stack.values.length > 0 || stack.openMarks > 0) {
      this.#state.note('PICKLE_LEFT_OVER', position - 1, position, { values: stack.values.length, marks: stack.openMarks });
    }
    if (position > this.#frameEnd) this.#endFrame();
    if (this.#trailing === 'finding' && position < bytes.length) {
      this.#state.note('PICKLE_TRAILING_BYTES', position, bytes.length, { found: bytes.length - position, expected: 0 });
    }
    const globals = [...this.#state.globals.values()].flatMap((names) => [...names.values()]).sort((a, b) => a.offset - b.offset);
    return { value, end: position, protocol: this.#protocol, opcodes, globals, findings };
  }

  #proto(protocol: number): void {
    const { opcodeAt, position } = this.#state.reader;
    if (protocol > HIGHEST_PROTOCOL) throw this.#state.fail('PICKLE_PROTOCOL_UNKNOWN', protocol, `0 to ${HIGHEST_PROTOCOL}`);
    if (this.#protocolSeen || opcodeAt !== this.#start) this.#state.note('PICKLE_PROTOCOL_REPEATED', opcodeAt, position, { protocol });
    this.#protocolSeen = true;
    this.#protocol = Math.max(this.#protocol, protocol);
  }

  #frame(length: number): void {
    const { opcodeAt, position } = this.#state.reader;
    // A frame within a frame: the outer one is crossed.
    if (this.#frameEnd !== Infinity) this.#state.note('PICKLE_FRAME_CROSSED', opcodeAt, position, { frameEnd: this.#frameEnd });
    this.#frameEnd = position + length;
  }

  /** An opcode that ran past the end of its frame is read otherwise by CPython's Python and C unpicklers (cpython#154848). */
  #endFrame(): void {
    const { opcodeAt, position } = this.#state.reader;
    if (position > this.#frameEnd) this.#state.note('PICKLE_FRAME_CROSSED', opcodeAt, position, { frameEnd: this.#frameEnd });
    this.#frameEnd = Infinity;
  }
}
