/**
 * The errors of a conversion: what a person is told when it is refused or fails.
 * When they are raised is `execute`'s.
 */
import { AssayError, codes, crc32ToHex, finding, type ByteSource, type Code, type Finding } from '@assay/core';
import type { ConversionPlan, MemberCheck } from './conversion-plan.ts';
import type { WrongMember } from './crc-verdict.ts';

const NAMES_SHOWN = 8;

const hints: ReadonlyMap<Code, string> = new Map<Code, string>([
  ['CONVERT_ALIAS_REFUSED', "Keep one name and record the others with onAlias 'record', or write each with 'copy'."],
  ['CONVERT_NOTHING_TO_DO', 'Use it as it is; to look into it, inspect or verify it.'],
  ['CONVERT_NO_TENSORS', 'If the weights lie deeper in it, select where. If they are in another file, convert that one.'],
  ['LIMIT_EXCEEDED', 'Weights do not need this much. For a file you trust, raise the limit that is named.'],
]);

/**
 * Why a plan that is not `ok` cannot be executed: the first error's code, all errors in `findings`.
 * Ask before an output is created; `executeConversion` throws the same.
 * @throws {TypeError} when the plan is `ok`
 * @example
 * if (!plan.ok) throw planRefused(plan);
 */
export function planRefused(plan: ConversionPlan): AssayError {
  const errors = [...plan.leftOut, ...plan.findings].filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) throw new TypeError('the plan is ok');
  const { code, subject, args } = first;
  const tensor = subject.tensor === undefined ? '' : `, tensor ${JSON.stringify(subject.tensor)}`;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new AssayError(code, {
    message: `${plan.input.name}${tensor}: ${codes.get(code)?.summary ?? code}${more}`,
    hint: hints.get(code) ?? 'These weights cannot be written as they are. In PyTorch, make them plain dense tensors or leave them out, and save again.',
    context: { ...args, ...(subject.tensor === undefined ? {} : { tensor: subject.tensor }) },
    findings: errors,
  });
}

/** Some members are damaged: others prove that their CRC-32 were written. */
export function crcMismatch(plan: ConversionPlan, wrong: readonly WrongMember[]): AssayError {
  return wrongMembers('CONVERT_CRC_MISMATCH', plan, wrong, {
    says: 'is damaged',
    hint: 'The file was changed or cut on its way. Download or copy it again.',
  });
}

/** Every storage is a hole that nothing was ever written into. */
export function dataNeverWritten(plan: ConversionPlan, wrong: readonly WrongMember[]): AssayError {
  return wrongMembers('CONVERT_DATA_NEVER_WRITTEN', plan, wrong, {
    says: 'is zeros, as is every storage; its data was never written',
    hint: 'The file was saved within torch.serialization.skip_data(), or its download was cut. Get the file with its data.',
  });
}

/** Every CRC-32 is wrong, which is how `set_crc32_options(False)` writes them: converted unproven. */
export function crcNeverComputed(plan: ConversionPlan, wrong: readonly WrongMember[]): Finding {
  return finding('CONVERT_CRC_NEVER_WRITTEN', 'warning', { path: plan.input.name }, { members: wrong.length });
}

function wrongMembers(
  code: Code,
  plan: ConversionPlan,
  wrong: readonly WrongMember[],
  { says, hint }: { readonly says: string; readonly hint: string },
): AssayError {
  const path = plan.input.name;
  const findings = wrong.map(({ check, found }) => {
    const { member, start, end } = check;
    return finding(code, 'error', { path, member, start, end }, { ...crcFacts(check, found), ...tensorsIn(plan, check) });
  });
  const [first] = wrong;
  if (first === undefined) throw new TypeError('no member is wrong');
  const { member, start, end } = first.check;
  const facts = crcFacts(first.check, first.found);
  const more = wrong.length > 1 ? `, and ${wrong.length - 1} more` : '';
  return new AssayError(code, {
    message: `${path}: ${member} at bytes ${start} to ${end} ${says}: CRC-32 ${facts.found}, expected ${facts.expected}${more}`,
    hint,
    context: { member, start, end, ...facts, members: wrong.length },
    findings,
  });
}

function crcFacts({ crc32 }: MemberCheck, found: number): { readonly found: string; readonly expected: string } {
  return { found: crc32ToHex(found), expected: crc32ToHex(crc32) };
}

/** The first tensors that lie in a member, and how many there are. */
function tensorsIn({ output }: ConversionPlan, { source, start, end }: MemberCheck): { tensors: readonly string[]; tensorCount: number } {
  const names = output.tensors
    .filter((tensor) =>
      tensor.source.some((piece) => {
        if (piece.kind === 'inline') return false;
        const range = piece.kind === 'strided' ? piece.storage : piece;
        return range.source === source && range.start >= start && range.end <= end;
      }),
    )
    .map(({ name }) => name);
  return { tensors: names.slice(0, NAMES_SHOWN), tensorCount: names.length };
}

/** The source is not the one that was opened. */
export function sourceChanged({ name }: ByteSource, cause?: unknown): AssayError {
  return new AssayError('SOURCE_CHANGED', {
    message: `${name}: changed while it was converted`,
    hint: 'Something writes to it. Try again when that is done.',
    context: { path: name },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The output does not hold what was written to it. */
export function outputWrong(name: string, facts: { readonly start: number; readonly end: number }): AssayError {
  return new AssayError('CONVERT_OUTPUT_WRONG', {
    message: `${name}: bytes ${facts.start} to ${facts.end} read back are not those that were written`,
    hint: 'The disk or something between is not to be trusted. Check it, or write elsewhere.',
    context: facts,
  });
}
