/**
 * What the threads of a copy runner do: copy steps, or hash the output.
 * Started from `dist` by a pool; imports little, because every run waits for it.
 */
import {
  createMultiHasher,
  executeStep,
  InOrderDigest,
  type CopyStep,
  type DigestAlgorithm,
  type Digests,
  type OutputSegment,
  type ReadBack,
  type StepContext,
  type StepResult,
} from '@assay/core';
import { openBlockingSink, type BlockingSink, type FilePlace } from './blocking-files.ts';
import { ChunkRing, type ChunkRingMemory } from './chunk-ring.ts';
import { CopyControl, type CopyControlMemory } from './copy-control.ts';
import { nodeHashers } from './hashers.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import { hashOutput } from './output-hash.ts';
import { openStepContext, type OwnedStepContext, type StepContextOptions } from './step-context.ts';

/** Steps for one thread among several. */
export interface CopyTask {
  readonly steps: readonly CopyStep[];
  /** Which steps these threads do, in the order in which they are claimed. */
  readonly order: readonly number[];
  readonly sources: readonly FilePlace[];
  readonly sink: FilePlace;
  readonly control: CopyControlMemory;
  readonly ring?: ChunkRingMemory;
  /** Digests that this thread, the only one, computes as it goes. */
  readonly digests?: readonly DigestAlgorithm[];
  readonly byteLength: number;
}

/** Results by step, and digests where they were asked for. */
export interface CopyTaskResult {
  readonly steps: readonly (readonly [step: number, result: StepResult])[];
  readonly digests?: Digests;
}

/** The hashing of one output; this thread lends the others a hand. */
export interface HashTask extends CopyTask {
  /** Which step writes what, in output order. */
  readonly segments: readonly OutputSegment[];
  readonly digests: readonly DigestAlgorithm[];
}

/** Claims and does steps until none is left. */
export function copy(task: CopyTask): Promise<Outcome<CopyTaskResult>> {
  const control = new CopyControl(task.control);
  return stopping(control, async () => {
    const ring = task.ring === undefined ? undefined : new ChunkRing(task.ring);
    let sink: BlockingSink | undefined;
    const digest = await startDigest(task, async (target, position) => sink?.readBack(target, position));
    const owned = await openStepContext({
      ...contextOptions(task, control),
      ...(ring === undefined ? {} : { ring }),
      ...(digest === undefined ? {} : { see: (bytes, position) => digest.wrote(bytes, position) }),
    });
    sink = owned.sink;
    try {
      const steps: [number, StepResult][] = [];
      const next = () => doNextStep(task, control, async () => owned.context);
      for (let done = await next(); done !== undefined; done = await next()) steps.push(done);
      return { steps, ...(digest === undefined ? {} : { digests: digest.digests() }) };
    } finally {
      ring?.close();
      await owned[Symbol.asyncDispose]();
    }
  });
}

async function startDigest({ digests = [], byteLength }: CopyTask, readBack: ReadBack): Promise<InOrderDigest | undefined> {
  return digests.length === 0 ? undefined : InOrderDigest.start(nodeHashers, digests, byteLength, readBack);
}

/** Does the next step that nobody has begun; `undefined` when none is left. */
async function doNextStep(
  { steps, order }: CopyTask,
  control: CopyControl,
  context: () => Promise<StepContext>,
): Promise<[number, StepResult] | undefined> {
  control.throwIfStopped();
  const index = control.claim(order);
  if (index === undefined) return undefined;
  const step = steps[index];
  if (step === undefined) throw new RangeError(`there is no step ${index} among ${steps.length}`);
  const result = await executeStep(step, await context());
  control.stepDone(index);
  return [index, result];
}

/** Hashes the output while others write it. */
export function hash(task: HashTask): Promise<Outcome<CopyTaskResult>> {
  const control = new CopyControl(task.control);
  return stopping(control, async () => {
    const hasher = await createMultiHasher(nodeHashers, task.digests, task.byteLength);
    const steps: [number, StepResult][] = [];
    let owned: OwnedStepContext | undefined;
    const context = async (): Promise<StepContext> => (owned ??= await openStepContext(contextOptions(task, control))).context;
    const lendHand = async (): Promise<boolean> => {
      const done = await doNextStep(task, control, context);
      if (done !== undefined) steps.push(done);
      return done !== undefined;
    };
    const sink = openBlockingSink(task.sink);
    try {
      const ring = task.ring === undefined ? {} : { ring: new ChunkRing(task.ring) };
      await hashOutput({ hasher, sink, control, segments: task.segments, byteLength: task.byteLength, lendHand, ...ring });
      return { steps, digests: hasher.digests() };
    } finally {
      sink[Symbol.dispose]();
      await owned?.[Symbol.asyncDispose]();
    }
  });
}

function contextOptions({ sources, sink }: CopyTask, control: CopyControl): StepContextOptions {
  return {
    sources,
    sink,
    mapped: false,
    check: () => control.throwIfStopped(),
    wrote: (byteLength) => control.addWritten(byteLength),
  };
}

/** An outcome; after a failure no other thread has to go on. */
async function stopping<T>(control: CopyControl, work: () => Promise<T>): Promise<Outcome<T>> {
  const outcome = await outcomeOf(work);
  if (outcome.kind === 'failed') control.stop();
  return outcome;
}
