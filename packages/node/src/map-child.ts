/**
 * A process that does copy steps over memory maps: when a mapped source shrinks it is this process that dies.
 * Told what to do, and when to end, by its parent only.
 */
import { setImmediate } from 'node:timers/promises';
import { executeStep, type CopyStep, type StepContext, type StepResult } from '@assay/core';
import type { FilePlace } from './blocking-files.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import { openStepContext } from './step-context.ts';

/** What the parent says. */
export type MapChildOrder =
  | { readonly kind: 'open'; readonly sources: readonly FilePlace[]; readonly sink: FilePlace }
  | { readonly kind: 'step'; readonly index: number; readonly step: CopyStep };

/** What the child answers; `written` comes now and then between. */
export type MapChildAnswer =
  | { readonly kind: 'step'; readonly index: number; readonly outcome: Outcome<StepResult> }
  | { readonly kind: 'written'; readonly byteLength: number };

/** How often the parent hears of progress, and the child of the parent's end, in milliseconds. */
const BREATH_MS = 50;

let written = 0;
let lastBreath = performance.now();
let context: Promise<StepContext> | undefined;
let queue: Promise<void> = Promise.resolve();

/** Lets messages in and out; without it a long step would outlive a parent that was killed. */
async function breathe(): Promise<void> {
  answer({ kind: 'written', byteLength: written });
  written = 0;
  lastBreath = performance.now();
  await setImmediate();
}

function answer(message: MapChildAnswer): void {
  process.send?.(message);
}

async function open(sources: readonly FilePlace[], sink: FilePlace): Promise<StepContext> {
  const owned = await openStepContext({
    sources,
    sink,
    mapped: true,
    check: () => undefined,
    async wrote(byteLength) {
      written += byteLength;
      if (performance.now() - lastBreath > BREATH_MS) await breathe();
    },
  });
  return owned.context;
}

async function doStep(index: number, step: CopyStep): Promise<void> {
  const outcome = await outcomeOf(async () => {
    if (context === undefined) throw new TypeError('a step came before its sources');
    return executeStep(step, await context);
  });
  answer({ kind: 'written', byteLength: written });
  written = 0;
  answer({ kind: 'step', index, outcome });
}

process.on('message', (order: MapChildOrder) => {
  if (order.kind === 'open') {
    context = open(order.sources, order.sink);
    // A failure is answered with the first step.
    context.catch(() => undefined);
    return;
  }
  queue = queue.then(() => doStep(order.index, order.step));
});
process.on('disconnect', () => process.exit());
