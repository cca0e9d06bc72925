/**
 * Everything that may be odd in a file, with two verdicts: what the specification says (the format section of the
 * README, and docs/safetensors.schema.json) and what the reference reader, safetensors 0.8.0, does.
 * Knows which are errors under which rules; finds nothing itself.
 */
import { finding, type Code, type Facts, type Finding, type Severity, type Subject } from '@assay/core';

/** What somebody makes of an oddity. */
export type Verdict = 'accepts' | 'rejects';

/** `strict`: our own verdicts, never laxer than either; `reference`: what safetensors 0.8.0 accepts is no error. */
export type Rules = 'strict' | 'reference';

interface Verdicts {
  readonly specification: Verdict;
  readonly reference: Verdict;
  readonly strict: Severity;
}

const everybodyRejects: Verdicts = { specification: 'rejects', reference: 'rejects', strict: 'error' };
const onlyOdd: Verdicts = { specification: 'accepts', reference: 'accepts', strict: 'warning' };
const againstTheText: Verdicts = { specification: 'rejects', reference: 'accepts', strict: 'warning' };

/** What only the writer says, and what is no oddity. */
type NoOddity =
  | 'SAFETENSORS_DATA_LENGTH'
  | 'SAFETENSORS_FINDINGS_CUT'
  | 'SAFETENSORS_NAME_INVALID'
  | 'SAFETENSORS_NAME_RESERVED';

/** The code of an oddity. */
export type OddityCode = 'LIMIT_EXCEEDED' | Exclude<Extract<Code, `SAFETENSORS_${string}`>, NoOddity>;

const table: Readonly<Record<OddityCode, Verdicts>> = {
  LIMIT_EXCEEDED: { specification: 'accepts', reference: 'accepts', strict: 'error' },
  SAFETENSORS_DATA_HOLE: everybodyRejects,
  SAFETENSORS_DATA_OVERLAP: everybodyRejects,
  SAFETENSORS_DATA_SHORT: everybodyRejects,
  SAFETENSORS_DATA_TRAILING: everybodyRejects,
  SAFETENSORS_DTYPE_INVALID: everybodyRejects,
  SAFETENSORS_DTYPE_UNKNOWN: everybodyRejects,
  SAFETENSORS_DUPLICATE_FIELD: everybodyRejects,
  SAFETENSORS_DUPLICATE_METADATA: everybodyRejects,
  // serde keeps the last of two; other readers keep the first (safetensors#401).
  SAFETENSORS_DUPLICATE_TENSOR: { specification: 'rejects', reference: 'accepts', strict: 'error' },
  SAFETENSORS_ENTRY_INVALID: everybodyRejects,
  SAFETENSORS_FIELD_MISSING: everybodyRejects,
  SAFETENSORS_FIELD_UNKNOWN: againstTheText,
  SAFETENSORS_HEADER_EMPTY: everybodyRejects,
  SAFETENSORS_HEADER_JSON: everybodyRejects,
  SAFETENSORS_HEADER_LARGE: onlyOdd,
  SAFETENSORS_HEADER_NOT_OBJECT: everybodyRejects,
  SAFETENSORS_HEADER_PADDING: againstTheText,
  SAFETENSORS_HEADER_PAST_END: everybodyRejects,
  SAFETENSORS_HEADER_TOO_LARGE: everybodyRejects,
  SAFETENSORS_HEADER_UTF8: everybodyRejects,
  SAFETENSORS_METADATA_CONTENT: { specification: 'accepts', reference: 'accepts', strict: 'info' },
  SAFETENSORS_METADATA_INVALID: everybodyRejects,
  SAFETENSORS_METADATA_NULL: againstTheText,
  SAFETENSORS_NAME_CLASH: onlyOdd,
  SAFETENSORS_NAME_ODD: onlyOdd,
  SAFETENSORS_OFFSETS_INVALID: everybodyRejects,
  SAFETENSORS_RANK_HIGH: onlyOdd,
  SAFETENSORS_SHAPE_INVALID: everybodyRejects,
  SAFETENSORS_SHAPE_OVERFLOW: everybodyRejects,
  SAFETENSORS_SIZE_FRACTION: everybodyRejects,
  SAFETENSORS_SIZE_MISMATCH: everybodyRejects,
  SAFETENSORS_TOO_SHORT: everybodyRejects,
  SAFETENSORS_UNALIGNED: onlyOdd,
};

/** Where one instance differs from the table. */
export interface OddityException extends Partial<Verdicts> {
  /** An error under all rules: reading cannot go on. */
  readonly isFatal?: boolean;
}

/** Findings of one code beyond this many are counted, not listed: a 100 MB header can hold millions. */
export const LISTED_PER_CODE = 1000;

/** Collects oddities and judges them by the rules. */
export class OddityList {
  readonly rules: Rules;
  readonly #path: string;
  readonly #findings: Finding[] = [];
  readonly #counts = new Map<OddityCode, { count: number; severity: Severity }>();

  constructor(path: string, rules: Rules) {
    this.#path = path;
    this.rules = rules;
  }

  /** Notes one. */
  add(code: OddityCode, where: Omit<Subject, 'path'>, args: Facts, exception: OddityException = {}): void {
    const { specification, reference, strict } = { ...table[code], ...exception };
    const byRules = this.rules === 'strict' ? strict : referenceSeverity(reference, strict);
    const severity = exception.isFatal === true ? 'error' : byRules;
    const seen = this.#counts.get(code);
    const count = (seen?.count ?? 0) + 1;
    this.#counts.set(code, { count, severity: worse(severity, seen?.severity ?? 'info') });
    if (count > LISTED_PER_CODE) return;
    this.#findings.push(finding(code, severity, { path: this.#path, ...where }, { specification, reference, ...args }));
  }

  /** In file order; last, what was counted only. */
  inFileOrder(): Finding[] {
    const listed = this.#findings.toSorted((a, b) => (a.subject.start ?? 0) - (b.subject.start ?? 0));
    for (const [code, { count, severity }] of this.#counts) {
      if (count <= LISTED_PER_CODE) continue;
      const args = { code, omitted: count - LISTED_PER_CODE, listed: LISTED_PER_CODE };
      listed.push(finding('SAFETENSORS_FINDINGS_CUT', severity, { path: this.#path }, args));
    }
    return listed;
  }
}

/** What the reference accepts is at most a warning. */
function referenceSeverity(reference: Verdict, strict: Severity): Severity {
  if (reference === 'rejects') return 'error';
  return strict === 'error' ? 'warning' : strict;
}

function worse(a: Severity, b: Severity): Severity {
  if (a === 'error' || b === 'error') return 'error';
  return a === 'warning' || b === 'warning' ? 'warning' : 'info';
}
