import type { KnipConfig } from 'knip';
import { doors } from '../structure/rooms.ts';

/** What knip looks at. Each entry that is ignored says why. */
export default {
  entry: [
    ...doors.map((door) => `src/${door}.ts`),
    'test/**/*.test.ts',
    'test/**/*.test-d.ts',
    'test/**/*-setup.ts',
    'examples/**/*.ts',
    '.ci/*.mjs',
  ],
  project: ['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'examples/**/*.ts', '.ci/*.mjs'],
} satisfies KnipConfig;
