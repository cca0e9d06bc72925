import { defineConfig } from 'vitest/config';

// Tests import packages by name: their source through an exports condition, or with ASSAY_TEST_TARGET=dist what is published.
const conditions = process.env['ASSAY_TEST_TARGET'] === 'dist' ? [] : ['@assay/source'];

export default defineConfig({
  resolve: { conditions: [...conditions, 'module', 'node', 'import', 'default'] },
  ssr: { resolve: { conditions: [...conditions, 'module', 'node', 'import', 'default'] } },
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
  },
});
