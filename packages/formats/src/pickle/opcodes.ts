/**
 * The table of pickle opcodes (CPython 3.11, Lib/pickletools.py): byte, name, argument, the protocol that brought it.
 * Knows nothing of what they do.
 */

/** How the argument after an opcode is written. Lengths are little-endian and count bytes. */
export type PickleArgument =
  | 'none'
  /** Text up to a line feed. */
  | 'line'
  /** Two of them. */
  | 'two-lines'
  | 'u8'
  | 'u16'
  | 'i32'
  | 'u32'
  | 'u64'
  /** 8 bytes, big-endian. */
  | 'f64'
  /** A length of 1, 4 or 8 bytes, then so many bytes. `i4` is signed: a negative one is an error. */
  | 'counted-u1'
  | 'counted-u4'
  | 'counted-i4'
  | 'counted-u8';

/** An opcode. */
export interface PickleOpcode {
  readonly code: number;
  readonly name: string;
  readonly argument: PickleArgument;
  /** The first protocol that has it, 0 to 5. */
  readonly protocol: number;
}

const table: readonly (readonly [code: number, name: string, argument: PickleArgument, protocol: number])[] = [
  [0x28, 'MARK', 'none', 0],
  [0x29, 'EMPTY_TUPLE', 'none', 1],
  [0x2e, 'STOP', 'none', 0],
  [0x30, 'POP', 'none', 0],
  [0x31, 'POP_MARK', 'none', 1],
  [0x32, 'DUP', 'none', 0],
  [0x42, 'BINBYTES', 'counted-u4', 3],
  [0x43, 'SHORT_BINBYTES', 'counted-u1', 3],
  [0x46, 'FLOAT', 'line', 0],
  [0x47, 'BINFLOAT', 'f64', 1],
  [0x49, 'INT', 'line', 0],
  [0x4a, 'BININT', 'i32', 1],
  [0x4b, 'BININT1', 'u8', 1],
  [0x4c, 'LONG', 'line', 0],
  [0x4d, 'BININT2', 'u16', 1],
  [0x4e, 'NONE', 'none', 0],
  [0x50, 'PERSID', 'line', 0],
  [0x51, 'BINPERSID', 'none', 1],
  [0x52, 'REDUCE', 'none', 0],
  [0x53, 'STRING', 'line', 0],
  [0x54, 'BINSTRING', 'counted-i4', 1],
  [0x55, 'SHORT_BINSTRING', 'counted-u1', 1],
  [0x56, 'UNICODE', 'line', 0],
  [0x58, 'BINUNICODE', 'counted-u4', 1],
  [0x5d, 'EMPTY_LIST', 'none', 1],
  [0x61, 'APPEND', 'none', 0],
  [0x62, 'BUILD', 'none', 0],
  [0x63, 'GLOBAL', 'two-lines', 0],
  [0x64, 'DICT', 'none', 0],
  [0x65, 'APPENDS', 'none', 1],
  [0x67, 'GET', 'line', 0],
  [0x68, 'BINGET', 'u8', 1],
  [0x69, 'INST', 'two-lines', 0],
  [0x6a, 'LONG_BINGET', 'u32', 1],
  [0x6c, 'LIST', 'none', 0],
  [0x6f, 'OBJ', 'none', 1],
  [0x70, 'PUT', 'line', 0],
  [0x71, 'BINPUT', 'u8', 1],
  [0x72, 'LONG_BINPUT', 'u32', 1],
  [0x73, 'SETITEM', 'none', 0],
  [0x74, 'TUPLE', 'none', 0],
  [0x75, 'SETITEMS', 'none', 1],
  [0x7d, 'EMPTY_DICT', 'none', 1],
  [0x80, 'PROTO', 'u8', 2],
  [0x81, 'NEWOBJ', 'none', 2],
  [0x82, 'EXT1', 'u8', 2],
  [0x83, 'EXT2', 'u16', 2],
  [0x84, 'EXT4', 'i32', 2],
  [0x85, 'TUPLE1', 'none', 2],
  [0x86, 'TUPLE2', 'none', 2],
  [0x87, 'TUPLE3', 'none', 2],
  [0x88, 'NEWTRUE', 'none', 2],
  [0x89, 'NEWFALSE', 'none', 2],
  [0x8a, 'LONG1', 'counted-u1', 2],
  [0x8b, 'LONG4', 'counted-i4', 2],
  [0x8c, 'SHORT_BINUNICODE', 'counted-u1', 4],
  [0x8d, 'BINUNICODE8', 'counted-u8', 4],
  [0x8e, 'BINBYTES8', 'counted-u8', 4],
  [0x8f, 'EMPTY_SET', 'none', 4],
  [0x90, 'ADDITEMS', 'none', 4],
  [0x91, 'FROZENSET', 'none', 4],
  [0x92, 'NEWOBJ_EX', 'none', 4],
  [0x93, 'STACK_GLOBAL', 'none', 4],
  [0x94, 'MEMOIZE', 'none', 4],
  [0x95, 'FRAME', 'u64', 4],
  [0x96, 'BYTEARRAY8', 'counted-u8', 5],
  [0x97, 'NEXT_BUFFER', 'none', 5],
  [0x98, 'READONLY_BUFFER', 'none', 5],
];

/** Every opcode, in the order of their bytes. */
export const pickleOpcodes: readonly PickleOpcode[] = table.map(([code, name, argument, protocol]) => ({ code, name, argument, protocol }));

const byCode: ReadonlyMap<number, PickleOpcode> = new Map(pickleOpcodes.map((opcode) => [opcode.code, opcode]));

/** The opcode of a byte, or `undefined` where it is none. */
export function pickleOpcode(code: number): PickleOpcode | undefined {
  return byCode.get(code);
}

/** The highest protocol that there is. */
export const HIGHEST_PROTOCOL = 5;
