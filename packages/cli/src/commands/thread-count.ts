/**
 * The value of `--threads`.
 */
import { InvalidArgumentError } from 'commander';

/** A whole number of threads from 1 to 256. @throws {InvalidArgumentError} for anything else */
export function threadCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 256) return count;
  throw new InvalidArgumentError('It must be a whole number from 1 to 256.');
}
