/**
 * The one way in which a pickle is refused: a code, the offset, what was found, what was expected.
 */
import { AssayError, finding, type Code, type Facts, type Subject } from '@assay/core';
import { pickleOpcode } from './opcodes.ts';

/** What a refusal carries. `offset` counts bytes of the file or member. */
export interface PickleFault {
  readonly offset: number;
  readonly found: string | number | bigint;
  readonly expected: string | number;
}

/** The name of a place in words: "model.pt: archive/data.pkl". */
export function placeName(where: Subject): string {
  const { path, member } = where;
  return [path, member].filter((part) => part !== undefined).join(': ') || 'pickle';
}

/** The error for a malformed pickle. */
export function malformedPickle(code: Code, where: Subject, fault: PickleFault, facts: Facts = {}): AssayError {
  const { offset, found, expected } = fault;
  const context = { offset, found, expected, ...facts };
  return new AssayError(code, {
    message: `${placeName(where)}: byte ${offset} of the pickle: found ${found}, expected ${expected}`,
    hint: 'The file is damaged, or it was made to confuse readers. Download it again, or ask for it as safetensors.',
    context,
    findings: [finding(code, 'error', { ...where, start: offset }, context)],
  });
}

/** The name of an opcode's byte, as it is shown. */
export function opcodeName(code: number): string {
  return pickleOpcode(code)?.name ?? `byte 0x${code.toString(16).padStart(2, '0')}`;
}
