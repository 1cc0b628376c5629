import { defineConfig } from 'vitest/config';
import { packageAlias } from '../../support/package-alias.ts';
import { reporters } from '../../support/vitest-reporters.ts';

/** The tests in a machine with systemd and cgroups of version 2 (test/peers/node-machine). One file at a time. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/real/machine/**/*.test.ts'],
    environment: 'node',
    setupFiles: ['test/support/quiet-parts.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
    reporters: reporters(),
  },
});
