import { codes, finding, type Code } from '@assay/core';
import { findingWords, remedyFor } from 'assay';
import { describe, expect, it } from 'vitest';

describe('the words for findings', () => {
  it('exist for every code of the table, with an action for everything that somebody can act on', () => {
    const without: Code[] = [];
    for (const [code, { blame }] of codes) {
      expect(findingWords(finding(code, 'error', {})).length, code).toBeGreaterThan(5);
      if (blame !== 'note' && remedyFor({ code, severity: 'error' }) === undefined) without.push(code);
    }
    expect(without).toEqual([]);
  });

  it('say where, what was found and what was expected', () => {
    const words = findingWords(
      finding('SAFETENSORS_SIZE_MISMATCH', 'error', { tensor: 'a\u001b[31m', start: 1_000_000, end: 1_000_016 }, { found: 16, expected: 24, reference: 'rejects' }),
    );
    expect(words).toContain('a\\u{1b}[31m: ');
    expect(words).toContain('found 16, expected 24');
    expect(words).toContain('bytes 1 000 000 - 1 000 016');
    expect(words).not.toContain('rejects');
  });
});
