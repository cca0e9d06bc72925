/**
 * Ctrl-C and termination become an abort; a second Ctrl-C ends the process at once.
 */
import { exitCodes } from './exit-code.ts';

/** An abort by the person at the keyboard, or by the system. */
export class Interrupted extends Error {
  constructor(signal: string) {
    super(`interrupted by ${signal}`);
    this.name = 'Interrupted';
  }
}

/** Runs `work` under a signal that SIGINT, SIGTERM and SIGHUP abort. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    controller.abort(new Interrupted(name));
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, stop);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of signals) process.off(name, stop);
  }
}
