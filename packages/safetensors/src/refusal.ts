/**
 * The one error of a file that is refused: the first of its findings of severity `error`, with all of them.
 */
import { AssayError, codes, type Code, type Fact, type Finding } from '@assay/core';
import { quoted } from './quoted.ts';

const DAMAGED = 'The file is damaged or was written by a faulty program. Download it again, or ask its author.';
const CUT = 'The file is cut off. Download it again.';

const hints: ReadonlyMap<Code, string> = new Map<Code, string>([
  ['LIMIT_EXCEEDED', 'Weights do not need this much. For a file you trust, raise the limit.'],
  ['SAFETENSORS_DATA_SHORT', CUT],
  ['SAFETENSORS_DUPLICATE_TENSOR', 'Readers disagree about which of the two counts: ask the author of the file.'],
  ['SAFETENSORS_DTYPE_UNKNOWN', 'Written by a newer version of the format? Look for an update.'],
  ['SAFETENSORS_HEADER_PAST_END', 'The file is cut off, or is no safetensors file. Download it again.'],
  ['SAFETENSORS_HEADER_TOO_LARGE', 'Is this a safetensors file? For a trusted file, raise limits.maxHeaderBytes.'],
  ['SAFETENSORS_TOO_SHORT', 'Is this a safetensors file? Download it again.'],
  ['INDEX_SHARD_NAME_UNSAFE', 'The index reaches outside its folder: do not use it.'],
  ['INDEX_SHARD_EXTENSION', 'The index belongs to another format: do not use it.'],
]);

/** The error, or `undefined` where nothing is an error. `name` is the source's. */
export function refusalOf(name: string, findings: readonly Finding[]): AssayError | undefined {
  const first = findings.find(({ severity }) => severity === 'error');
  if (first === undefined) return undefined;
  const { code, subject, args } = first;
  const others = findings.filter(({ severity }) => severity === 'error').length - 1;
  const about = subject.tensor === undefined ? '' : ` (tensor ${quoted(subject.tensor)})`;
  const place = subject.start === undefined ? '' : ` at byte ${subject.start}`;
  const compared = args['found'] === undefined ? '' : `: found ${shown(args['found'])}`;
  const wanted = args['expected'] === undefined ? '' : `, expected ${shown(args['expected'])}`;
  const more = others > 0 ? ` (and ${others} more)` : '';
  return new AssayError(code, {
    message: `${name}: ${codes.get(code)?.summary ?? code}${place}${about}${compared}${wanted}${more}`,
    hint: hints.get(code) ?? DAMAGED,
    context: {
      ...(subject.start === undefined ? {} : { offset: subject.start }),
      ...(subject.tensor === undefined ? {} : { tensor: subject.tensor }),
      ...args,
    },
    findings,
  });
}

function shown(fact: Fact): string {
  const text = typeof fact === 'object' ? JSON.stringify(fact) : String(fact);
  return /^[ -~]{1,80}$/.test(text) ? text : quoted(text);
}
