/**
 * Walks strides: the elements of a view, in C order. The only place that does.
 */
import { inflateWithStreams, type Gather, type Kernels } from '@assay/core';

/** Not built yet. */
export const gatherStrided: Gather = () => {
  throw new TypeError('not built yet');
};

/** The kernels that need nothing of a platform. */
export const defaultKernels: Kernels = { gather: gatherStrided, inflate: inflateWithStreams };
