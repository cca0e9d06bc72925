/**
 * Whether bytes begin like a pickle: a walk over opcodes that runs none of them.
 * Protocols 0 and 1 have no header, so plain text must not be taken for them.
 */
import { pickleOpcode, type PickleOpcode } from '../pickle/opcodes.ts';

/** LONG1 of 10 bytes, then STOP: the number 0x1950a86a20f9469cfc6c (torch/serialization.py, MAGIC_NUMBER). */
const TORCH_MAGIC = [0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e];
const PROTO = 0x80;
const FRAME = 0x95;
const STOP = 0x2e;
/** So many opcodes in a row are no accident. */
const ENOUGH_OPCODES = 24;
/** No accident either, where the last of them is STOP. */
const FEW_OPCODES = 4;
/** Lines of a pickle are names and numbers. */
const LONGEST_LINE = 4096;

/** The protocol of a pickle that states it (2 to 5), where an opcode follows. */
export function pickleProtocol(head: Uint8Array): number | undefined {
  const [proto, protocol = 0, next] = head;
  if (proto !== PROTO || protocol < 2 || protocol > 5 || next === undefined) return undefined;
  return pickleOpcode(next) === undefined ? undefined : protocol;
}

/** True for the first of the five pickles that torch.save wrote before 1.6; protocols 4 and 5 put a frame around it. */
export function isTorchMagic(head: Uint8Array): boolean {
  if (head[0] !== PROTO) return false;
  const start = head[2] === FRAME ? 11 : 2;
  return TORCH_MAGIC.every((byte, index) => head[start + index] === byte);
}

/** True where a pickle of protocol 0 or 1 seems to begin: enough well-formed opcodes, or a whole small stream. */
export function looksLikePickle(head: Uint8Array, size: number): boolean {
  let opcodes = 0;
  for (let at = 0; at < head.length; ) {
    const opcode = pickleOpcode(head[at] ?? 0);
    if (opcode === undefined || opcode.protocol > 1) return false;
    opcodes += 1;
    if (opcode.code === STOP) return opcodes >= FEW_OPCODES || (opcodes > 1 && at + 1 === size);
    if (opcodes >= ENOUGH_OPCODES) return true;
    const length = argumentByteLength(opcode, head.subarray(at + 1));
    if (length === undefined) return false;
    at += 1 + length;
  }
  return false;
}

/** The bytes that the argument takes; `undefined` where it is not well-formed or is cut. */
function argumentByteLength({ argument, name }: PickleOpcode, rest: Uint8Array): number | undefined {
  switch (argument) {
    case 'none':
      return 0;
    case 'line':
      return lineByteLength(rest, linePatterns.get(name) ?? /^[^\0-\x1f\x7f]*$/);
    case 'two-lines': {
      const first = lineByteLength(rest, MODULE);
      const second = first === undefined ? undefined : lineByteLength(rest.subarray(first), MODULE);
      return first === undefined || second === undefined ? undefined : first + second;
    }
    case 'u8':
      return 1;
    case 'u16':
      return 2;
    case 'i32':
    case 'u32':
      return 4;
    case 'u64':
    case 'f64':
      return 8;
    case 'counted-u1':
      return 1 + (rest[0] ?? 0);
    case 'counted-u4':
    case 'counted-i4':
      return rest.length < 4 ? undefined : 4 + new DataView(rest.buffer, rest.byteOffset).getUint32(0, true);
    case 'counted-u8':
      return undefined;
  }
}

const MODULE = /^[A-Za-z_][\w.]*$/;

const linePatterns: ReadonlyMap<string, RegExp> = new Map([
  ['INT', /^[-+]?\w+$/],
  ['LONG', /^[-+]?\w+$/],
  ['FLOAT', /^(?:[-+]?[\d.]+(?:e[-+]?\d+)?|[-+]?inf|nan)$/],
  ['PUT', /^\d+$/],
  ['GET', /^\d+$/],
  ['STRING', /^(?:'.*'|".*")$/],
]);

function lineByteLength(rest: Uint8Array, pattern: RegExp): number | undefined {
  const end = rest.subarray(0, LONGEST_LINE).indexOf(0x0a);
  if (end < 0 || !pattern.test(new TextDecoder('latin1').decode(rest.subarray(0, end)))) return undefined;
  return end + 1;
}
