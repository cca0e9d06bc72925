/**
 * A safetensors file as a report: everything odd about it, and what was understood nevertheless.
 */
import { isOk, type ByteSource, type Report, type TensorInfo } from '@assay/core';
import { examine, type SafetensorsOptions } from './examine.ts';

/** What a check returns. */
export interface SafetensorsCheck extends Report {
  /** Of the JSON with its padding; the data begins 8 bytes later. Absent where no header could be read. */
  readonly headerByteLength?: number;
  /** As far as understood, in the order of their data. */
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  readonly metadata: ReadonlyMap<string, string>;
}

/**
 * Checks header and layout; the data itself is not read. Never throws for content. Each finding's `args` has
 * `specification` and `reference`: whether the format's text and safetensors 0.8.0 accept what was found.
 * @throws {AssayError} as `ByteSource.readInto`; `SOURCE_CHANGED`
 * @example
 * const { ok, findings } = await checkSafetensors(source);
 */
export async function checkSafetensors(source: ByteSource, options: SafetensorsOptions = {}): Promise<SafetensorsCheck> {
  const { headerByteLength, tensors, metadata, complete, findings } = await examine(source, options);
  return {
    ok: isOk(findings),
    complete,
    findings,
    tensors,
    metadata,
    ...(headerByteLength === undefined ? {} : { headerByteLength }),
  };
}
