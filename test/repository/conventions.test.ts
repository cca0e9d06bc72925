/**
 * The conventions that no compiler and no linter sees: names of files, their heads, what index.ts may hold, documented exports.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, packages, root } from './workspace.ts';

const sources = packages.flatMap(({ path, folder }) =>
  filesBelow(join(path, 'src')).map((name) => ({
    path: `packages/${folder}/src/${name}`,
    name,
    text: readFileSync(join(path, 'src', name), 'utf8'),
  })),
);
const modules = sources.filter(({ name }) => name !== 'index.ts');

describe('every source file', () => {
  it('is named in kebab case, after what it holds', () => {
    for (const { path, name } of sources) {
      expect(path).toMatch(/^[a-z0-9/-]+\.ts$/);
      expect(name).not.toMatch(/(^|[/-])(utils?|helpers?|misc|common)([/.-]|$)/);
    }
  });

  it('begins by saying what it knows', () => {
    expect(modules.filter(({ text }) => !/^(#![^\n]*\n)?\/\*\*\n \* \S/.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('documents what it exports', () => {
    const undocumented = modules.flatMap(({ path, text }) => undocumentedExports(text).map((name) => `${path}: ${name}`));
    expect(undocumented).toEqual([]);
  });

  it('is exported, where it is index.ts, name by name', () => {
    for (const { path, name, text } of sources) {
      if (name !== 'index.ts') continue;
      const rest = text.replaceAll(/\/\*[\s\S]*?\*\/|export (type )?\{[^}]*\} from '\.\/[^']+\.ts';/g, '').trim();
      expect(rest, path).toBe('');
    }
  });
});

describe('the tests', () => {
  it('are never left out silently', () => {
    const marks = new RegExp(String.raw`\b(it|test|describe)\.(only|skip|todo)\(`);
    const files = filesBelow(join(root, 'test')).filter((name) => name.endsWith('.test.ts') && !name.startsWith('repository/conventions'));
    expect(files.filter((name) => marks.test(readFileSync(join(root, 'test', name), 'utf8')))).toEqual([]);
  });
});

/** The exported declarations that no comment precedes. */
function undocumentedExports(text: string): string[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const name = /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|class|interface|type) (\w+)/.exec(line)?.[1];
    return name === undefined || (lines[index - 1] ?? '').trimEnd().endsWith('*/') || isOverload(lines, index, name) ? [] : [name];
  });
}

/** The first of several signatures carries the comment. */
function isOverload(lines: readonly string[], index: number, name: string): boolean {
  return lines.slice(0, index).some((line) => new RegExp(`^export (async )?function ${name}\\(`).test(line));
}
