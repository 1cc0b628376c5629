import { defineConfig } from 'vitest/config';
import { reporters } from './test/support/vitest-reporters.ts';

export default defineConfig({
  test: {
    include: [
      'test/unit/**/*.test.ts',
      'test/conformance/**/*.test.ts',
      'test/apiserver/**/*.test.ts',
      'test/structure/**/*.test.ts',
      'test/package/**/*.test.ts',
    ],
    environment: 'node',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: reporters(),
  },
});
