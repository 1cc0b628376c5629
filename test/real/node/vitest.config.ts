import { defineConfig } from 'vitest/config';
import { packageAlias } from '../../support/package-alias.ts';
import { reporters } from '../../support/vitest-reporters.ts';

/** The tests over a one-node cluster (test/peers/node-kit): those of a container runtime, and Kubernetes' own. One file at a time. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/real/node/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/support/build-setup.ts'],
    setupFiles: ['test/support/quiet-parts.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
