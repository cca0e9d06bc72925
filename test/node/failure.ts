/**
 * What went wrong, as tests compare it.
 */
import { isAssayError, type AssayError } from '@assay/core';

/** The `AssayError` that `work` fails with. */
export async function failureOf(work: Promise<unknown>): Promise<AssayError> {
  try {
    await work;
  } catch (error) {
    if (isAssayError(error)) return error;
    throw error;
  }
  throw new Error('it did not fail');
}
