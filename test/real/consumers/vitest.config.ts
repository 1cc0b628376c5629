import { defineConfig } from 'vitest/config';
import { reporters } from '../../support/vitest-reporters.ts';

/** The package as its users get it: packed, installed, and used by other versions of Node, compilers, bundlers, test runners. */
export default defineConfig({
  test: {
    include: ['test/real/consumers/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/support/build-setup.ts', 'test/real/consumers/consumer-setup.ts'],
    // Each file works in folders of its own. With two cores the default is one worker.
    maxWorkers: '100%',
    testTimeout: 240_000,
    hookTimeout: 240_000,
    reporters: reporters(),
  },
});
