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
  type StepResult,
} from '@assay/core';
import { openBlockingSink, type BlockingSink, type FilePlace } from './blocking-files.ts';
import { ChunkRing, type ChunkRingMemory } from './chunk-ring.ts';
import { CopyControl, type CopyControlMemory } from './copy-control.ts';
import { SharedCrcs, withoutCheck, type ChunkCheck } from './shared-crc.ts';
import { nodeHashers } from './hashers.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import { hashOutput } from './output-hash.ts';
import { openStepContext, type OwnedStepContext, type StepContextOptions } from './step-context.ts';
import { threadLoaded } from './thread-loading.ts';

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
  /** `undefined`: the hashing thread has this result. */
  readonly steps: readonly (readonly [step: number, result: StepResult | undefined])[];
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
  const ring = task.ring === undefined ? undefined : new ChunkRing(task.ring);
  return stopping(control, async () => {
    let sink: BlockingSink | undefined;
    let shared: number | undefined;
    const digest = await startDigest(task, async (target, position) => sink?.readBack(target, position));
    const owned = await openStepContext({
      ...contextOptions(task, control),
      shared: () => shared,
      ...(ring === undefined ? {} : { ring }),
      ...(digest === undefined ? {} : { see: (bytes, position) => digest.wrote(bytes, position) }),
    });
    sink = owned.sink;
    try {
      const steps = await doSteps(task, control, async (step, index) => {
        const lighter = ring === undefined ? undefined : withoutCheck(step);
        shared = lighter === undefined ? undefined : index;
        const result = await executeStep(lighter ?? step, owned.context);
        return lighter === undefined ? result : undefined;
      });
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

/** Does one step; `undefined`: another thread has its result. */
type DoStep = (step: CopyStep, index: number) => Promise<StepResult | undefined>;

/** Does steps that nobody has begun, `atMost` that many. */
async function doSteps(
  { steps, order }: CopyTask,
  control: CopyControl,
  doStep: DoStep,
  atMost = Number.POSITIVE_INFINITY,
): Promise<[number, StepResult | undefined][]> {
  const results: [number, StepResult | undefined][] = [];
  while (results.length < atMost) {
    control.throwIfStopped();
    const index = control.claim(order);
    if (index === undefined) break;
    const step = steps[index];
    if (step === undefined) throw new RangeError(`there is no step ${index} among ${steps.length}`);
    results.push([index, await doStep(step, index)]);
    control.stepDone(index);
  }
  return results;
}

/** Hashes the output while others write it. */
export function hash(task: HashTask): Promise<Outcome<CopyTaskResult>> {
  const control = new CopyControl(task.control);
  return stopping(control, async () => {
    const hasher = await createMultiHasher(nodeHashers, task.digests, task.byteLength);
    const crcs = new SharedCrcs();
    const steps: [number, StepResult | undefined][] = [];
    let owned: OwnedStepContext | undefined;
    const doStep: DoStep = async (step) => {
      owned ??= await openStepContext(contextOptions(task, control));
      return executeStep(step, owned.context);
    };
    const lendHand = async (): Promise<boolean> => {
      const done = await doSteps(task, control, doStep, 1);
      steps.push(...done);
      return done.length > 0;
    };
    const sink = openBlockingSink(task.sink);
    try {
      const ring = task.ring === undefined ? {} : { ring: new ChunkRing(task.ring) };
      const check = (share: ChunkCheck, bytes: Uint8Array): void => crcs.update(share, bytes);
      await hashOutput({ hasher, sink, control, segments: task.segments, byteLength: task.byteLength, check, lendHand, ...ring });
      return { steps: [...steps, ...crcs.results()], digests: hasher.digests() };
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

threadLoaded();
