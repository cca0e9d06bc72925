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
import { openStepContext } from './step-context.ts';

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

/** The hashing of one output. */
export interface HashTask {
  readonly sink: FilePlace;
  readonly control: CopyControlMemory;
  readonly segments: readonly OutputSegment[];
  readonly ring?: ChunkRingMemory;
  readonly digests: readonly DigestAlgorithm[];
  readonly byteLength: number;
}

/** Claims and does steps until none is left. */
export function copy(task: CopyTask): Promise<Outcome<CopyTaskResult>> {
  const control = new CopyControl(task.control);
  return stopping(control, async () => {
    const ring = task.ring === undefined ? undefined : new ChunkRing(task.ring);
    let sink: BlockingSink | undefined;
    const digest = await startDigest(task, async (target, position) => sink?.readBack(target, position));
    const owned = await openStepContext({
      sources: task.sources,
      sink: task.sink,
      mapped: false,
      check: () => control.throwIfStopped(),
      wrote: (byteLength) => control.addWritten(byteLength),
      ...(ring === undefined ? {} : { ring }),
      ...(digest === undefined ? {} : { see: (bytes, position) => digest.wrote(bytes, position) }),
    });
    sink = owned.sink;
    try {
      const steps = await doSteps(task, control, owned.context);
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

async function doSteps({ steps, order }: CopyTask, control: CopyControl, context: StepContext): Promise<[number, StepResult][]> {
  const results: [number, StepResult][] = [];
  for (let claimed = control.claim(order.length); claimed !== undefined; claimed = control.claim(order.length)) {
    control.throwIfStopped();
    const index = order[claimed] ?? -1;
    const step = steps[index];
    if (step === undefined) throw new RangeError(`there is no step ${index} among ${steps.length}`);
    results.push([index, await executeStep(step, context)]);
    control.stepDone(index);
  }
  return results;
}

/** Hashes the output while others write it. */
export function hash(task: HashTask): Promise<Outcome<Digests>> {
  const control = new CopyControl(task.control);
  return stopping(control, async () => {
    const hasher = await createMultiHasher(nodeHashers, task.digests, task.byteLength);
    const sink = openBlockingSink(task.sink);
    try {
      const ring = task.ring === undefined ? {} : { ring: new ChunkRing(task.ring) };
      hashOutput({ hasher, sink, control, segments: task.segments, byteLength: task.byteLength, ...ring });
      return hasher.digests();
    } finally {
      sink[Symbol.dispose]();
    }
  });
}

/** An outcome; after a failure no other thread has to go on. */
async function stopping<T>(control: CopyControl, work: () => Promise<T>): Promise<Outcome<T>> {
  const outcome = await outcomeOf(work);
  if (outcome.kind === 'failed') control.stop();
  return outcome;
}
