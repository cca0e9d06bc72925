/**
 * How work in another thread or process ended, as structured-cloneable data.
 */
import { errorFromData, errorToData, isAssayError, type AssayErrorData } from '@assay/core';
import { Stopped } from './copy-control.ts';

/** What a thread answers. `stopped`: it was told to; the reason is known elsewhere. */
export type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly error: AssayErrorData | Error };

/** Does the work, never throws. */
export async function outcomeOf<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { kind: 'done', value: await work() };
  } catch (error) {
    if (error instanceof Stopped) return { kind: 'stopped' };
    if (isAssayError(error)) return { kind: 'failed', error: errorToData(error) };
    return { kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** The error of a failed outcome, on this side. */
export function errorOf({ error }: Extract<Outcome<unknown>, { kind: 'failed' }>): Error {
  return error instanceof Error ? error : errorFromData(error);
}
