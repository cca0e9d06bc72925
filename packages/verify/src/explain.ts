/**
 * What a file that is not the expected one really is.
 */
import type { ByteSource, Finding, Limits } from '@assay/core';
import type { Expectation } from './expectation.ts';

export interface ExplainOptions {
  readonly expected?: Expectation;
  readonly name?: string;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<Limits>;
}

export async function explainMismatch(_source: ByteSource, _options: ExplainOptions = {}): Promise<Finding[]> {
  return [];
}
