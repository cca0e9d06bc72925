import { execFileSync } from 'node:child_process';
import { shellWord } from '@assay/core';
import { describe, expect, it } from 'vitest';

describe('a name as a word of a shell', () => {
  it('is left as it is where nothing in it is special', () => {
    expect(shellWord('a/b-1.bin')).toBe('a/b-1.bin');
  });

  it.each(['a b', "it's", '$(touch x)', '`id`', 'a;b', 'ü😀', '*', '~', '!', '', 'back\\slash', 'new\nline', "tab\t'and\\quote", '\u009b', '-rf'])('%j is read back by bash', (name) => {
    const word = shellWord(name);
    expect(word).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    expect(word.startsWith('-')).toBe(false);
    const read = execFileSync('bash', ['-c', `printf %s ${word}`], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8' } });
    expect(read).toBe(name.startsWith('-') ? `./${name}` : name);
  });
});
