/**
 * An assembler for pickles: opcodes by name, and whole values of any protocol, valid or not.
 * Checks nothing, so that tests can write what no pickler would.
 */
import { pickleOpcodes } from '@assay/formats';

/** A value to write; what JavaScript has no type for is an object with one field. */
export type Writable =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Writable[]
  | ReadonlyMap<Writable, Writable>
  | { readonly float: number }
  | { readonly tuple: readonly Writable[] }
  | { readonly set: readonly Writable[] }
  | { readonly global: readonly [module: string, name: string] }
  | { readonly reduce: readonly [callable: Writable, args: Writable]; readonly state?: Writable; readonly entries?: readonly (readonly [Writable, Writable])[] }
  | { readonly newobj: readonly [callable: Writable, args: Writable]; readonly state?: Writable }
  | { readonly persistent: Writable };

const codes = new Map(pickleOpcodes.map(({ name, code }) => [name, code]));
const encoder = new TextEncoder();

/** Collects the bytes of one pickle. */
export class PickleBuilder {
  #bytes: number[] = [];

  /** An opcode by its name, then raw argument bytes. */
  op(name: string, ...argument: readonly number[]): this {
    const code = codes.get(name);
    if (code === undefined) throw new TypeError(`no opcode ${name}`);
    this.#bytes.push(code);
    return this.raw(argument);
  }

  /** An opcode, then a little-endian argument of `width` bytes. */
  sized(name: string, width: 1 | 2 | 4 | 8, argument: number | bigint): this {
    return this.op(name).little(width, argument);
  }

  /** An opcode with a counted argument. */
  counted(name: string, width: 1 | 4 | 8, argument: Uint8Array | string): this {
    const bytes = typeof argument === 'string' ? encoder.encode(argument) : argument;
    return this.sized(name, width, bytes.length).raw(bytes);
  }

  /** An opcode with text lines as its argument. */
  line(name: string, ...lines: readonly string[]): this {
    this.op(name);
    for (const line of lines) this.raw(encoder.encode(`${line}\n`));
    return this;
  }

  raw(bytes: Iterable<number>): this {
    for (const byte of bytes) this.#bytes.push(byte);
    return this;
  }

  little(width: number, value: number | bigint): this {
    let rest = BigInt.asUintN(width * 8, BigInt(value));
    for (let at = 0; at < width; at += 1, rest >>= 8n) this.#bytes.push(Number(rest & 0xffn));
    return this;
  }

  proto(version = 2): this {
    return this.op('PROTO', version);
  }

  text(text: string): this {
    return this.counted('BINUNICODE', 4, text);
  }

  global(module: string, name: string): this {
    return this.line('GLOBAL', module, name);
  }

  int(value: number | bigint): this {
    if (value >= 0 && value < 256) return this.op('BININT1', Number(value));
    if (value >= -(2 ** 31) && value < 2 ** 31) return this.sized('BININT', 4, value);
    let width = 1;
    while (BigInt.asIntN(width * 8, BigInt(value)) !== BigInt(value)) width += 1;
    if (width < 256) return this.op('LONG1', width).little(width, value);
    return this.sized('LONG4', 4, width).little(width, value);
  }

  /** A whole value, in opcodes of protocol 2 (sets: 4, bytes: 3). */
  value(value: Writable): this {
    if (value === null) return this.op('NONE');
    if (typeof value === 'boolean') return this.op(value ? 'NEWTRUE' : 'NEWFALSE');
    if (typeof value === 'number' || typeof value === 'bigint') return this.int(value);
    if (typeof value === 'string') return this.text(value);
    if (value instanceof Uint8Array) return this.counted('BINBYTES', 4, value);
    if (isList(value)) return this.op('EMPTY_LIST').op('MARK').#all(value).op('APPENDS');
    if (isMap(value)) return this.op('EMPTY_DICT').entries([...value]);
    if ('tuple' in value) return this.op('MARK').#all(value.tuple).op('TUPLE');
    if ('set' in value) return this.op('EMPTY_SET').op('MARK').#all(value.set).op('ADDITEMS');
    if ('float' in value) return this.#float(value.float);
    if ('global' in value) return this.global(...value.global);
    if ('persistent' in value) return this.value(value.persistent).op('BINPERSID');
    if ('newobj' in value) return this.value(value.newobj[0]).value(value.newobj[1]).op('NEWOBJ').#after(value);
    if ('reduce' in value) return this.value(value.reduce[0]).value(value.reduce[1]).op('REDUCE').#after(value);
    throw new TypeError('not writable');
  }

  /** SETITEMS on what is on the stack. */
  entries(entries: readonly (readonly [Writable, Writable])[]): this {
    return this.op('MARK').#all(entries.flat() as readonly Writable[]).op('SETITEMS');
  }

  stop(): Uint8Array {
    this.op('STOP');
    return Uint8Array.from(this.#bytes);
  }

  /** What there is so far, without STOP. */
  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  #after({ state, entries }: { readonly state?: Writable; readonly entries?: readonly (readonly [Writable, Writable])[] }): this {
    if (entries !== undefined) this.entries(entries);
    return state === undefined ? this : this.value(state).op('BUILD');
  }

  #all(values: readonly Writable[]): this {
    for (const value of values) this.value(value);
    return this;
  }

  #float(value: number): this {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, false);
    return this.op('BINFLOAT', ...bytes);
  }
}

function isList(value: Writable): value is readonly Writable[] {
  return Array.isArray(value);
}

function isMap(value: Writable): value is ReadonlyMap<Writable, Writable> {
  return value instanceof Map;
}

/** A pickle of one value, protocol 2. */
export function pickleOf(value: Writable): Uint8Array {
  return new PickleBuilder().proto().value(value).stop();
}
