import { defineConfig } from 'vitest/config';
import { packageAlias } from './test/support/package-alias.ts';
import { reporters } from './test/support/vitest-reporters.ts';

/** The tests that need root: real mounts and cgroups, and the containers of a node kit (test/node-kit). They run one file at a time. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/node/**/*.test.ts'],
    exclude: ['test/node/runtime/**'],
    environment: 'node',
    setupFiles: ['test/support/quiet-parts.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
