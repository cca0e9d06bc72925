/** One conversion with core's reference runner, into memory. */
import {
  createMemorySink,
  createOneThreadCopyRunner,
  wasmHashers,
  type ByteSink,
  type CopyRunner,
  type TensorArchive,
} from '@assay/core';
import { executeConversion, planConversion, type ConversionReport, type ExecuteOptions, type PlanOptions } from '@assay/convert';
import { defaultKernels } from '@assay/formats';

/** The one-thread runner, with a small buffer so that parts are cut and joined. */
export const runner: CopyRunner = createOneThreadCopyRunner({ kernels: defaultKernels, hashers: wasmHashers, bufferBytes: 64 << 10 });

export interface SinkWatch {
  readonly sink: ByteSink;
  /** The published bytes, once committed. */
  readonly published: Uint8Array | undefined;
  readonly aborted: boolean;
}

/** A sink in memory that remembers what happened to it. */
export function watchedSink(size: number): SinkWatch {
  let published: Uint8Array | undefined;
  let aborted = false;
  const inner = createMemorySink({ name: 'out.safetensors', size, publish: (bytes) => (published = bytes) });
  const sink: ByteSink = {
    ...inner,
    abort: async () => {
      aborted = true;
      await inner.abort();
    },
  };
  return {
    sink,
    get published() {
      return published;
    },
    get aborted() {
      return aborted;
    },
  };
}

/** Plans and executes; the output and the report, or the failure and what became of the sink. */
export async function convert(
  archive: TensorArchive,
  options: PlanOptions & Partial<Omit<ExecuteOptions, 'sink'>> = {},
): Promise<{ bytes: Uint8Array | undefined; aborted: boolean; report?: ConversionReport; failure?: unknown }> {
  const plan = planConversion(archive, options);
  const watch = watchedSink(plan.ok ? plan.output.byteLength : 0);
  try {
    const report = await executeConversion(plan, archive, { runner, ...options, sink: watch.sink });
    return { bytes: watch.published, aborted: watch.aborted, report };
  } catch (failure) {
    return { bytes: watch.published, aborted: watch.aborted, failure };
  }
}
