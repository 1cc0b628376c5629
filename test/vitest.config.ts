import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { packageAlias } from './support/package-alias.ts';
import { reporters } from './support/vitest-reporters.ts';

export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: [
      'test/unit/**/*.test.ts',
      'test/conformance/**/*.test.ts',
      'test/server/**/*.test.ts',
      'test/structure/**/*.test.ts',
      'test/package/**/*.test.ts',
      'test/random/faults/**/*.test.ts',
      'test/random/fuzz/**/*.test.ts',
      'test/random/simulation/**/*.test.ts',
      'examples/testing/**/*.test.ts',
    ],
    // What else does not compile is for `npm run types` to say.
    typecheck: { enabled: true, include: ['test/types/**/*.test-d.ts'], ignoreSourceErrors: true },
    environment: 'node',
    globalSetup: ['test/support/build-setup.ts'],
    // A hundred and fifty child processes load the same modules: Node keeps what it has compiled of them.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)) },
    setupFiles: ['test/support/quiet-parts.ts'],
    // Nothing here keeps state in a module, so files share their workers: a third of the CPU is saved. And with two cores
    // the default is one worker.
    isolate: false,
    maxWorkers: '100%',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
