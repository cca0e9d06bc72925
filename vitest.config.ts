/**
 * How the tests run: on source by default, on what is published with ASSAY_TEST_TARGET=dist (or `--mode dist`),
 * and with `--mode long` only the property tests, each with as many runs as ASSAY_FUZZ_SECONDS allow in all.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const workers = Math.max(2, availableParallelism());

export default defineConfig(({ mode }) => {
  const target = process.env['ASSAY_TEST_TARGET'] ?? (mode === 'dist' ? 'dist' : 'source');
  // Tests import packages by name: this condition of their exports maps leads to their source.
  const conditions = [...(target === 'dist' ? [] : ['@assay/source']), 'module', 'node', 'import', 'default'];
  const properties = mode === 'long' ? propertyTests() : undefined;
  return {
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      include: properties?.files ?? ['test/**/*.test.ts'],
      pool: 'forks',
      maxWorkers: workers,
      testTimeout: properties === undefined ? 60_000 : properties.secondsInAll * 1000,
      // On Linux nothing is skipped where CI is set.
      reporters: process.env['CI'] !== undefined && process.platform === 'linux' ? ['default', './test/nothing-skipped.ts'] : ['default'],
      env: {
        ASSAY_TEST_TARGET: target,
        ...(properties === undefined ? {} : { ASSAY_FUZZ_MS_PER_PROPERTY: String(properties.msPerProperty) }),
      },
      setupFiles: properties === undefined ? [] : ['test/longer-properties.ts'],
      // Published code is loaded by Node itself, as a user's is.
      server: { deps: { external: target === 'dist' ? [/\/packages\/[^/]+\/dist\//] : [] } },
    },
  };
});

/** The files with properties, and the time that each property gets so that all together take about ASSAY_FUZZ_SECONDS. */
function propertyTests(): { files: string[]; msPerProperty: number; secondsInAll: number } {
  const secondsInAll = Number(process.env['ASSAY_FUZZ_SECONDS'] ?? 300);
  const files = readdirSync(join(import.meta.dirname, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => join('test', name));
  const counts = new Map(files.map((file) => [file, readFileSync(file, 'utf8').split('fc.assert(').length - 1]));
  const count = [...counts.values()].reduce((sum, inFile) => sum + inFile, 0);
  return {
    files: files.filter((file) => (counts.get(file) ?? 0) > 0),
    msPerProperty: Math.floor((secondsInAll * 1000 * workers) / Math.max(1, count)),
    secondsInAll: Math.max(60, secondsInAll * workers),
  };
}
