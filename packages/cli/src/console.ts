/**
 * The two streams of a command: one result on stdout, everything else on stderr.
 * Knows colour, quiet and progress; knows no words.
 */
import { styleText } from 'node:util';
import type { OnProgress, ProgressEvent } from '@assay/core';
import { toJson } from './render/json.ts';
import type { ProgressBars } from './render/progress.ts';

/** How a command talks. */
export interface OutputOptions {
  readonly json?: boolean;
  readonly ndjson?: boolean;
  readonly quiet?: boolean;
  readonly progress?: boolean;
  readonly color?: 'auto' | 'always' | 'never';
}

/** What colour means: wrong, doubtful, right, less important. */
export type Tone = 'bad' | 'doubt' | 'good' | 'dim';

const styles = { bad: 'red', doubt: 'yellow', good: 'green', dim: 'dim' } as const;

/** The streams of one run. */
export class Console {
  readonly mode: 'text' | 'json' | 'ndjson';
  readonly quiet: boolean;
  #colored: boolean;
  #showProgress: boolean;
  #bars: ProgressBars | undefined;

  constructor({ json = false, ndjson = false, quiet = false, progress = true, color = 'auto' }: OutputOptions) {
    this.mode = ndjson ? 'ndjson' : json ? 'json' : 'text';
    this.quiet = quiet;
    const wantsColor = process.stdout.isTTY === true && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb';
    this.#colored = color === 'always' || (color === 'auto' && wantsColor);
    this.#showProgress = progress && !quiet && process.stderr.isTTY === true;
  }

  /** Colours text, when colour is on. */
  paint(tone: Tone, text: string): string {
    return this.#colored ? styleText(styles[tone], text, { validateStream: false }) : text;
  }

  /** A line of the result, in text mode. */
  line(text = ''): void {
    if (this.mode === 'text' && !this.quiet) process.stdout.write(`${text}\n`);
  }

  /** A line of the result that `--quiet` keeps. */
  result(text: string): void {
    if (this.mode === 'text') process.stdout.write(`${text}\n`);
  }

  /** A line for the person, not part of the result. */
  note(text: string): void {
    if (!this.quiet) process.stderr.write(`${text}\n`);
  }

  /** An error line; never silenced. */
  complain(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  /** The one document of `--json`, or the last event of `--ndjson`. */
  document(value: object): void {
    if (this.mode === 'json') process.stdout.write(`${toJson(value)}\n`);
    if (this.mode === 'ndjson') this.event({ event: 'result', ...value });
  }

  /** One event of `--ndjson`. */
  event(value: object): void {
    if (this.mode === 'ndjson') process.stdout.write(`${toJson(value, 0)}\n`);
  }

  /** Shows or streams progress; `undefined` where nobody would see it. */
  async onProgress(): Promise<OnProgress | undefined> {
    if (this.mode === 'ndjson') return (event: ProgressEvent) => this.event({ event: 'progress', ...event });
    if (!this.#showProgress) return undefined;
    const { createProgressBars } = await import('./render/progress.ts');
    this.#bars = createProgressBars();
    return this.#bars.update;
  }

  /** Removes the bars: what follows is the result. */
  progressDone(): void {
    this.#bars?.stop();
    this.#bars = undefined;
  }
}
