import { defineConfig } from 'vitest/config';
import { packageAlias } from './test/support/package-alias.ts';
import { reporters } from './test/support/vitest-reporters.ts';

/** The tests that need the rights of root: real mounts, real containers. They run in namespaces of their own. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/node/**/*.test.ts'],
    environment: 'node',
    setupFiles: ['test/support/quiet-parts.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
