/**
 * Which steps run over memory maps, and the child processes that run them.
 * A child that dies of SIGBUS read a source that had shrunk.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { pieceByteLength, type CopyStep, type StepResult } from '@assay/core';
import type { FilePlace } from './blocking-files.ts';
import { isRemote } from './disk-space.ts';
import type { MapChildAnswer, MapChildOrder } from './map-child.ts';
import { nativeLibrary } from './native-library.ts';
import { errorOf } from './outcome.ts';
import { sourceChanged } from './system-errors.ts';
import { builtModule, workerDied } from './worker-pool.ts';

/** How local files are read: `auto` maps where a map is the better tool. */
export type Reader = 'auto' | 'mmap' | 'pread';

/** Strided bytes that are worth a process of their own, which takes some 80 ms to start. */
const MIN_MAPPED_BYTES = 64 << 20;

/** The indexes of the steps that are done over maps. */
export async function chooseMapped(steps: readonly CopyStep[], sources: readonly FilePlace[], reader: Reader): Promise<number[]> {
  if (reader === 'pread') return [];
  if (reader === 'mmap') return [...steps.keys()];
  const strided = [...steps.keys()].filter((index) => steps[index]?.parts.some(isStridedRange));
  const byteLength = strided.reduce((sum, index) => sum + stridedBytes(steps[index]), 0);
  if (byteLength < MIN_MAPPED_BYTES || sources.some(({ path }) => isRemote(path))) return [];
  return (await nativeLibrary())?.mapFile === undefined ? [] : strided;
}

function isStridedRange(part: CopyStep['parts'][number]): boolean {
  return part.kind === 'copy' && part.piece.kind === 'strided' && part.piece.storage.kind === 'range';
}

function stridedBytes(step: CopyStep | undefined): number {
  return (step?.parts ?? []).reduce((sum, part) => (isStridedRange(part) ? sum + partBytes(part) : sum), 0);
}

function partBytes(part: CopyStep['parts'][number]): number {
  return part.kind === 'copy' ? pieceByteLength(part.piece) : 0;
}

/** What the children are given and whom they tell. */
export interface MappedRun {
  readonly steps: readonly CopyStep[];
  /** Which of the steps. */
  readonly order: readonly number[];
  readonly sources: readonly FilePlace[];
  readonly sink: FilePlace;
  readonly processes: number;
  readonly onStep: (index: number, result: StepResult) => void;
  readonly onWritten: (byteLength: number) => void;
  /** Ends all children at once. */
  readonly signal: AbortSignal;
}

/**
 * Does steps in child processes; resolves when all are done and the processes are gone.
 * @throws {AssayError} `SOURCE_CHANGED` when a mapped source shrank; `WORKER_DIED`; as the steps
 */
export async function runMapped(run: MappedRun): Promise<void> {
  const next = run.order.values();
  const count = Math.min(run.processes, run.order.length);
  const ended = new AbortController();
  const signal = AbortSignal.any([run.signal, ended.signal]);
  // Two at hand, where there are enough for all: then no child waits for its next.
  const atHand = run.order.length >= 2 * count ? 2 : 1;
  let failure: { readonly error: unknown } | undefined;
  const children = Array.from({ length: count }, () =>
    runChild(run, next, atHand, signal).catch((error: unknown) => {
      // The others die of it, so theirs say nothing.
      failure ??= { error };
      ended.abort();
    }),
  );
  await Promise.all(children);
  if (failure !== undefined) throw failure.error;
}

function send(child: ChildProcess, order: MapChildOrder): void {
  // A child that is gone is met by its exit.
  child.send(order, () => undefined);
}

async function runChild(run: MappedRun, next: Iterator<number>, atHand: number, signal: AbortSignal): Promise<void> {
  // V8's young generation is kept small, as in the threads.
  const child = fork(builtModule('map-child'), [], {
    serialization: 'advanced',
    execArgv: ['--max-semi-space-size=1'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  if (signal.aborted) kill();
  const gone = new Promise<{ code: number | null; by: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, by) => resolve({ code, by }));
    child.once('error', () => resolve({ code: null, by: null }));
  });
  let failure: Error | undefined;
  let pending = 0;
  const give = (): void => {
    const claimed = next.next();
    const step = claimed.done === true ? undefined : run.steps[claimed.value];
    if (claimed.done === true || step === undefined) {
      if (pending === 0 && child.connected) child.disconnect();
      return;
    }
    pending += 1;
    send(child, { kind: 'step', index: claimed.value, step });
  };
  child.on('message', (answer: MapChildAnswer) => {
    if (answer.kind === 'written') {
      run.onWritten(answer.byteLength);
      return;
    }
    pending -= 1;
    const { index, outcome } = answer;
    if (outcome.kind === 'done') {
      run.onStep(index, outcome.value);
      give();
    } else {
      failure ??= outcome.kind === 'failed' ? errorOf(outcome) : undefined;
      kill();
    }
  });
  send(child, { kind: 'open', sources: run.sources, sink: run.sink });
  for (let given = 0; given < atHand; given += 1) give();
  const { code, by } = await gone;
  signal.removeEventListener('abort', kill);
  if (failure !== undefined) throw failure;
  if (code === 0 && pending === 0) return;
  if (by === 'SIGBUS') throw sourceChanged(run.sources.map(({ name }) => name).join(', '));
  throw workerDied(new Error(`a process that read memory maps ended with ${by ?? code}`));
}
