/**
 * One switch decides whether the tests run on source or on what is published.
 */
import { readBytes, createMemorySource } from '@assay/core';
import { expect, it } from 'vitest';

it('the tests run on the code that ASSAY_TEST_TARGET names', async () => {
  const folder = process.env['ASSAY_TEST_TARGET'] === 'dist' ? 'dist' : 'src';
  const source = createMemorySource(new Uint8Array(1));
  const error: unknown = await readBytes(source, 0, 2).catch((reason: unknown) => reason);
  expect((error as Error).stack?.replaceAll('\\', '/')).toMatch(new RegExp(`packages/core/${folder}/`));
});
