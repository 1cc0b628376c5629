import { defineConfig } from 'vitest/config';
import { packageAlias } from '../../support/package-alias.ts';
import { reporters } from '../../support/vitest-reporters.ts';

/** Other projects' tests of a virtual node, over a real control plane. One file at a time: each has the port of the node. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/real/virtual-kubelet/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/support/build-setup.ts', 'test/real/virtual-kubelet/support/setup.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    reporters: reporters(),
  },
});
