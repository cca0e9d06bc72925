/**
 * Runs copy steps one after another on the calling thread: the reference implementation of the port.
 */
import type { CopyRunner, StepResult } from './copy-step.ts';
import { executeStep } from './execute-step.ts';
import type { HasherProvider } from './hasher.ts';
import { InOrderDigest } from './in-order-digest.ts';
import type { Kernels } from './kernels.ts';

/** What the runner uses. */
export interface OneThreadOptions {
  readonly kernels: Kernels;
  readonly hashers: HasherProvider;
  /** Size of the one buffer, in bytes; at least 64 KiB. */
  readonly bufferBytes?: number;
}

/** A runner on the calling thread; its memory is one buffer and what a gather needs. */
export function createOneThreadCopyRunner(options: OneThreadOptions): CopyRunner {
  const { kernels, hashers, bufferBytes = 1 << 20 } = options;
  return {
    async run(steps, sources, sink, { signal, onBytes, digests = [], byteLength }) {
      const digest =
        digests.length === 0
          ? undefined
          : await InOrderDigest.start(hashers, digests, byteLength, (target, position) => sink.readInto(target, position));
      const results: StepResult[] = [];
      const buffer = new Uint8Array(bufferBytes);
      const context = {
        sources,
        kernels,
        hashers,
        buffer: () => buffer,
        chunkBytes: bufferBytes,
        ...(signal === undefined ? {} : { signal }),
        async write(bytes: Uint8Array, position: number) {
          await sink.writeAt(bytes, position, signal === undefined ? {} : { signal });
          await digest?.wrote(bytes, position);
          onBytes?.(bytes.length);
        },
      };
      for (const step of steps) {
        signal?.throwIfAborted();
        results.push(await executeStep(step, context));
      }
      return { steps: results, digests: digest?.digests() ?? new Map() };
    },
  };
}
