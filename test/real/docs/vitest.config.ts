import { defineConfig } from 'vitest/config';
import { packageAlias } from '../../support/package-alias.ts';
import { reporters } from '../../support/vitest-reporters.ts';

/** The tests of the documents: what is written, and the site as it is built and as a browser shows it. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/real/docs/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/real/docs/support/build-site.ts', 'test/real/browser/support/chromium-setup.ts'],
    testTimeout: 900_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
