import { defineConfig } from 'vitest/config';
import { packageAlias } from '../../support/package-alias.ts';
import { reporters } from '../../support/vitest-reporters.ts';

/** The tests that need a browser. A missing Chromium is installed where that can be done: see test/real/browser/support. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/real/browser/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/real/browser/support/chromium-setup.ts'],
    // Each file starts a browser: one after the other, so that they do not take the processor from each other.
    fileParallelism: false,
    // what a browser does takes as long as the machine is busy
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
