import { defineConfig } from 'vitest/config';
import { packageAlias } from './test/support/package-alias.ts';
import { reporters } from './test/support/vitest-reporters.ts';

/** The tests that need a real container runtime: that of a node kit (test/node-kit). One file at a time: they share it. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/node/runtime/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/node/support/kit-setup.ts'],
    setupFiles: ['test/support/quiet-parts.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
