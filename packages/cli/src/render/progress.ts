/**
 * Progress bars on stderr: bytes, rate, time left.
 */
import cliProgress from 'cli-progress';
import type { OnProgress, ProgressEvent } from '@assay/core';
import { escapeName } from './escape.ts';
import { formatBytes } from './numbers.ts';

/** Bars that can be taken away. */
export interface ProgressBars {
  readonly update: OnProgress;
  stop(): void;
}

/** One bar for each file that is being worked on. */
export function createProgressBars(): ProgressBars {
  const started = new Map<string, number>();
  const bars = new cliProgress.MultiBar({
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    forceRedraw: false,
    barCompleteChar: '\u2588',
    barIncompleteChar: '\u2591',
    format: (options, params, payload: { event?: ProgressEvent }) => line(params.value, params.total, payload.event, started, options),
  });
  const open = new Map<string, cliProgress.SingleBar>();
  return {
    update(event) {
      const key = `${event.phase} ${event.subject}`;
      if (!started.has(key)) started.set(key, Date.now());
      const bar = open.get(key) ?? bars.create(event.bytesTotal, 0, { event });
      open.set(key, bar);
      bar.update(event.bytesDone, { event });
      if (event.bytesDone >= event.bytesTotal) bars.remove(bar);
    },
    stop: () => bars.stop(),
  };
}

function line(
  done: number,
  total: number,
  event: ProgressEvent | undefined,
  started: ReadonlyMap<string, number>,
  { barsize = 28, barCompleteString = '', barIncompleteString = '' }: cliProgress.Options,
): string {
  if (event === undefined) return '';
  const seconds = (Date.now() - (started.get(`${event.phase} ${event.subject}`) ?? Date.now())) / 1000;
  const rate = seconds > 0.2 ? done / seconds : 0;
  const filled = total > 0 ? Math.round((Math.min(28, barsize) * done) / total) : 0;
  const bar = barCompleteString.slice(0, filled) + barIncompleteString.slice(0, Math.min(28, barsize) - filled);
  const pace = rate > 0 ? `   ${formatBytes(rate)}/s   ${clock((total - done) / rate)} left` : '';
  return `${event.phase}  ${bar}  ${formatBytes(done)} / ${formatBytes(total)}${pace}   ${escapeName(event.subject)}`;
}

function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
