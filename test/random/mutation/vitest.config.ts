import { defineConfig } from 'vitest/config';

/** The tests that are run against mutants: those in virtual time, and those over loopback that take no time either. */
export default defineConfig({
  test: {
    include: ['test/unit/{status,api,client,node/sources,security}/**/*.test.ts'],
    environment: 'node',
    // as in test/vitest.config.ts: no file keeps state in a module, and importing all of them again for each mutant takes the time
    isolate: false,
    testTimeout: 20_000,
  },
});
