import { defineConfig } from 'vitest/config';
import { packageAlias } from '../../support/package-alias.ts';
import { reporters } from '../../support/vitest-reporters.ts';

/** The tests over the machine's own kernel: mounts and cgroups. They need root and mounts of their own: `npm run test:kernel`. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/real/kernel/**/*.test.ts'],
    // it is the machine of `npm run test:machine` that has one
    exclude: process.env.RUN_BY_SYSTEMD === '1' ? [] : ['test/real/kernel/systemd-driver.test.ts'],
    environment: 'node',
    setupFiles: ['test/support/quiet-parts.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
