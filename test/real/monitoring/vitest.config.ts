import { defineConfig } from 'vitest/config';
import { packageAlias } from '../../support/package-alias.ts';
import { reporters } from '../../support/vitest-reporters.ts';

/** The tests that need promtool, which Debian has: see test/support/promtool.ts. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/real/monitoring/**/*.test.ts'],
    environment: 'node',
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
