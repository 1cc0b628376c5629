import { defineConfig } from 'vitest/config';
import { packageAlias } from '../../support/package-alias.ts';
import { reporters } from '../../support/vitest-reporters.ts';

/** Real device plugins over real sockets: `npm run test:devices`. */
export default defineConfig({
  resolve: { alias: packageAlias },
  test: {
    include: ['test/real/devices/**/*.test.ts'],
    environment: 'node',
    setupFiles: ['test/support/quiet-parts.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
