/**
 * Progress of a job, as plain events.
 */

/** What a job is doing now. */
export type ProgressPhase = 'reading' | 'converting' | 'verifying';

/** One event; bytes never go backwards within one `subject` and phase. */
export interface ProgressEvent {
  readonly phase: ProgressPhase;
  /** The file, as the user named it. */
  readonly subject: string;
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

/** Called often, from the job's own thread; must not throw. */
export type OnProgress = (event: ProgressEvent) => void;
