/**
 * For `npm run test:long`: every property runs until its share of the time is spent, whatever number of runs it asks for.
 */
import { vi } from 'vitest';

vi.mock('fast-check', async (importOriginal) => {
  const original = await importOriginal<typeof import('fast-check')>();
  const longer = {
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: Number(process.env['ASSAY_FUZZ_MS_PER_PROPERTY']),
  };
  const assert: typeof original.assert = (property, parameters) => original.assert(property as never, { ...parameters, ...longer });
  return { ...original, assert, default: { ...original.default, assert } };
});
