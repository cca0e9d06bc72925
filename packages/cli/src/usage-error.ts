/**
 * A mistake in what the caller asked for, told apart from a fault of our own by its type.
 */

/** As a library a `TypeError`; on the command line exit code 64. */
export class UsageError extends TypeError {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
