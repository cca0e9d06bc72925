/** A checksum file written by others, over real files. */
import { readFileSync } from 'node:fs';
import { createMemorySource, createOneThreadTaskRunner, wasmHashers } from '@assay/core';
import { parseChecksumFile, verifyChecksumFile } from '@assay/verify';
import { expect, it } from 'vitest';

it('verifies all golden files against their published SHA256SUMS', async () => {
  const golden = new URL('../fixtures/golden/', import.meta.url);
  const list = parseChecksumFile(readFileSync(new URL('SHA256SUMS', golden)), { name: 'SHA256SUMS' });
  expect(list.findings).toEqual([]);
  const report = await verifyChecksumFile(list, {
    open: async (name) => createMemorySource(readFileSync(new URL(name, golden)), name),
    tasks: createOneThreadTaskRunner(wasmHashers),
  });
  expect(report).toMatchObject({ ok: true, complete: true, findings: [] });
  expect(report.totals.ok).toBe(list.lines.length);
});
