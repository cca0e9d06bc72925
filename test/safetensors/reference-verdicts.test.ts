import { isAssayError } from '@assay/core';
import { openSafetensors } from 'safetensors-js';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sourceOf } from './file-bytes.ts';

// Origin: make-goldens.py, which asks deserialize() of safetensors 0.8.0.
interface Row {
  readonly name: string;
  readonly hex: string;
  readonly accepts: boolean;
}
const rows = JSON.parse(readFileSync(new URL('golden/verdicts.json', import.meta.url), 'utf8')) as readonly Row[];

async function opens(row: Row, rules: 'strict' | 'reference'): Promise<boolean> {
  try {
    await openSafetensors(sourceOf(new Uint8Array(Buffer.from(row.hex, 'hex'))), { rules });
    return true;
  } catch (error) {
    if (isAssayError(error)) return false;
    throw error;
  }
}

describe('reference rules', () => {
  it.each(rows)('decide as safetensors 0.8.0 does: $name', async (row) => {
    expect(await opens(row, 'reference')).toBe(row.accepts);
  });
});

it('are never stricter than strict ones', async () => {
  for (const row of rows) if (await opens(row, 'strict')) expect(row).toMatchObject({ accepts: true });
});
