import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { reporters } from '../../support/vitest-reporters.ts';

/** The tests of what a part keeps over a long life. Each part is measured in a process of its own, one after the other. */
export default defineConfig({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  test: {
    include: ['test/random/soak/**/*.test.ts'],
    environment: 'node',
    testTimeout: 240_000,
    maxWorkers: 1,
    reporters: reporters(),
  },
});
