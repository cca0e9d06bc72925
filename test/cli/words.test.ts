import { codes, finding, type Code, type Facts } from '@assay/core';
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

  it('have units, counts in words and no names of fields', () => {
    const words = (code: Code, args: Facts): string => findingWords(finding(code, 'error', {}, args));
    expect(words('TORCH_VIEW_REPEATS', { byteLength: 240, storageByteLength: 64 })).toContain('240 bytes, of 64 bytes that are stored');
    expect(words('SAFETENSORS_DATA_SHORT', { found: 0, expected: 2n ** 54n, missing: 2n ** 54n, whole: 1 })).toContain(
      '18 014 398 509 481 984 bytes missing, 1 tensor before it whole',
    );
    expect(words('SIZE_MISMATCH', { found: 2191, expected: 2190, extra: 1 })).toContain('found 2 191 bytes, expected 2 190 bytes, 1 byte too many');
    expect(words('CHECKSUM_LINES_MALFORMED', { count: 2, lines: [{ line: 1, reason: 'no-digest' }, { line: 5, reason: 'bad-escape' }] })).toContain(
      'line 1 (no digest), line 5 (bad escape)',
    );
    expect(words('CHECKSUM_CONFLICT', { name: 'a', lines: [1, 2], digests: ['0'.repeat(64), '1'.repeat(64)] })).toContain('lines 1, 2, digests 00000000…00000 and');
    expect(words('ZIP_ENTRY_METHOD', { recordOffset: 1234567 })).toContain('record offset 1 234 567');
    expect(words('CHECKSUM_EMPTY', { malformed: 0 })).not.toContain('0');
    expect(words('TORCH_NO_TENSORS', { found: 'dict', select: '' })).not.toContain('select');
  });

  it('never print a whole name, or none at all', () => {
    expect(findingWords(finding('SAFETENSORS_NAME_ODD', 'warning', { tensor: 'n'.repeat(1_000_000) })).length).toBeLessThan(300);
    expect(findingWords(finding('SAFETENSORS_NAME_ODD', 'warning', { tensor: '' }))).toMatch(/^"": /);
  });
});
