import { defineConfig } from 'vitest/config';
import { packageAlias } from '../../support/package-alias.ts';
import { reporters } from '../../support/vitest-reporters.ts';

/** A real storage driver, over the machine's own mounts: `npm run test:csi`. Its programs have to be there: they are in no Go module proxy. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/real/csi/**/*.test.ts'],
    environment: 'node',
    setupFiles: ['test/support/quiet-parts.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
