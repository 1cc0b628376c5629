import { defineConfig } from 'vitest/config';
import { packageAlias } from '../../support/package-alias.ts';
import { reporters } from '../../support/vitest-reporters.ts';

/** The tests that need a real etcd and kube-apiserver. The suite of test/server also runs without: see test/vitest.config.ts. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/server/**/*.test.ts', 'test/real/cluster/**/*.test.ts'],
    environment: 'node',
    env: { TEST_SERVER: 'real' },
    globalSetup: ['test/support/build-setup.ts', 'test/support/cluster-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
