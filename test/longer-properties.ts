/**
 * For `npm run test:long`: every property runs until its share of the time is spent, instead of 100 times.
 */
import fc from 'fast-check';

fc.configureGlobal({
  numRuns: Number.MAX_SAFE_INTEGER,
  interruptAfterTimeLimit: Number(process.env['ASSAY_FUZZ_MS_PER_PROPERTY']),
});
