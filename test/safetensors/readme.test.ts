import * as core from '@assay/core';
import * as safetensors from 'safetensors-js';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

it('runs the example of the README', async () => {
  const readme = await readFile(new URL('../../packages/safetensors/README.md', import.meta.url), 'utf8');
  const example = /```js\n([^]*?)```/.exec(readme)?.[1]?.replace(/^import .*$/gm, '') ?? '';
  const lines: unknown[][] = [];
  const given = {
    ...core,
    ...safetensors,
    console: { log: (...items: unknown[]) => lines.push(items) },
    readFile: () => readFile(new URL('golden/dtype-before-name.safetensors', import.meta.url)),
  };
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
  const run = new AsyncFunction(...Object.keys(given), example) as (...values: unknown[]) => Promise<void>;
  await run(...Object.values(given));
  expect(lines[0]).toEqual(['I64', [1], 'b']);
  expect(lines.slice(-2)).toEqual([[8, 'bytes'], [true, 0, 72, 72]]);
});
