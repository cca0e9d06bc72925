/**
 * A safetensors file as an archive of named tensors.
 */
import {
  inflateWithStreams,
  readPieces,
  type ByteSource,
  type Kernels,
  type Piece,
  type StreamOptions,
  type TensorArchive,
} from '@assay/core';
import { examine, type Examination, type SafetensorsOptions } from './examine.ts';
import { quoted } from './quoted.ts';
import { refusalOf } from './refusal.ts';

/** Tensors here are ranges: nothing is strided or inflated. */
const kernels: Kernels = {
  gather() {
    throw new TypeError('a safetensors file has no strided tensors');
  },
  inflate: inflateWithStreams,
};

/**
 * Opens a file whose layout is proven. The source is borrowed.
 * @throws {AssayError} the code of the first finding of severity `error`, with all findings; as `ByteSource.readInto`;
 *   `SOURCE_CHANGED`
 * @example
 * const archive = await openSafetensors(source);
 * for await (const chunk of archive.stream('model.embed_tokens.weight')) hash.update(chunk);
 */
export async function openSafetensors(source: ByteSource, options: SafetensorsOptions = {}): Promise<TensorArchive> {
  const examination = await examine(source, options);
  const refusal = refusalOf(source.name, examination.findings);
  if (refusal !== undefined) throw refusal;
  return archiveOf(source, examination);
}

function archiveOf(source: ByteSource, examination: Examination): TensorArchive {
  const { tensors, starts, metadata, findings, headerByteLength = 0 } = examination;
  // Made when the first tensor is asked for: many readers only list them.
  let startOf: Map<string, number> | undefined;
  const locate = (name: string): readonly Piece[] => {
    startOf ??= new Map([...tensors.keys()].map((key, index) => [key, starts[index] ?? 0]));
    const [tensor, start] = [tensors.get(name), startOf.get(name)];
    if (tensor === undefined || start === undefined) throw new RangeError(`${source.name} has no tensor ${quoted(name)}`);
    return [{ kind: 'range', source: 0, start, end: start + tensor.byteLength }];
  };
  return {
    format: 'safetensors',
    facts: new Map([
      ['container', 'safetensors'],
      ['header bytes', String(headerByteLength)],
    ]),
    sources: [source],
    tensors,
    metadata,
    members: [],
    leftOut: [],
    findings,
    locate,
    stream(name: string, { start, end, signal }: StreamOptions = {}) {
      const range = { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
      return readPieces(locate(name), { sources: [source], kernels, ...(signal === undefined ? {} : { signal }) }, range);
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}
