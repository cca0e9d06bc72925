import { createMemorySink, createMemorySource, type CopyStep, type DigestTask } from '@assay/core';
import { createCopyRunner, createTaskRunner } from '@assay/node';
import { expect, onTestFinished, test } from 'vitest';
import { patterned } from '../conformance/scratch.ts';

const SIZE = 3_000_000;

/** Aborts from a timer, which fires only when the event loop runs. */
function abortedSoon(reason: Error): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 100);
  return controller.signal;
}

test('copying from memory lets timers and signals through', async () => {
  const runner = createCopyRunner({ threads: 1 });
  onTestFinished(() => runner[Symbol.asyncDispose]());
  const step: CopyStep = { parts: [{ kind: 'copy', at: 0, check: true, piece: { kind: 'range', source: 0, start: 0, end: SIZE } }] };
  const reason = new Error('enough');
  const sink = createMemorySink({ size: SIZE, publish: () => undefined });
  const steps = Array.from({ length: 20_000 }, () => step);
  const run = runner.run(steps, [createMemorySource(patterned(SIZE))], sink, { byteLength: SIZE, signal: abortedSoon(reason) });
  await expect(run).rejects.toBe(reason);
});

test.each([false, true])('digests of what is in memory let timers and signals through, the caller helping: %s', async (callerHelps) => {
  const runner = createTaskRunner({ threads: 1, callerHelps });
  onTestFinished(() => runner[Symbol.asyncDispose]());
  const tasks = Array.from({ length: 20_000 }, (): DigestTask => ({ kind: 'digest', source: 0, start: 0, end: SIZE, algorithms: ['sha256'] }));
  const reason = new Error('enough');
  const run = async (): Promise<void> => {
    for await (const result of runner.run(tasks, [createMemorySource(patterned(SIZE))], { signal: abortedSoon(reason) })) {
      expect(result.ok).toBe(true);
    }
  };
  await expect(run()).rejects.toBe(reason);
});
