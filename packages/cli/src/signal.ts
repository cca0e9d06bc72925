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

/** Nobody takes the result any longer: a closed pipe, or a full disk behind a redirection. */
export class OutputGone extends Error {
  /** True for a pipe that its reader closed, as `head` does. */
  readonly isClosedPipe: boolean;

  constructor(cause: NodeJS.ErrnoException) {
    super(`standard output: could not be written (${cause.code ?? cause.message})`, { cause });
    this.name = 'OutputGone';
    this.isClosedPipe = cause.code === 'EPIPE';
  }
}

const running = new Set<AbortController>();

/** Aborts what runs now, so that it cleans up behind itself. */
export function abortRunning(reason: Error): void {
  for (const controller of running) controller.abort(reason);
}

/** Runs `work` under a signal that SIGINT, SIGTERM and SIGHUP abort. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  running.add(controller);
  const stop = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    controller.abort(new Interrupted(name));
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, stop);
  try {
    return await work(controller.signal);
  } finally {
    running.delete(controller);
    for (const name of signals) process.off(name, stop);
  }
}
