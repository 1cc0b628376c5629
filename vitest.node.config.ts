import { defineConfig } from 'vitest/config';
import { packageAlias } from './test/support/package-alias.ts';
import { reporters } from './test/support/vitest-reporters.ts';

/** The tests that need root: real mounts and cgroups, and the containers of a node kit (test/node-kit). They run one file at a time. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/node/**/*.test.ts'],
    // those need mounts of their own and no kit: `npm run test:mounts`
    exclude: process.env.OWN_MOUNTS === '1' ? [] : ['test/node/volumes/**'],
    environment: 'node',
    globalSetup: ['test/node/support/kit-setup.ts'],
    setupFiles: ['test/support/quiet-parts.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
