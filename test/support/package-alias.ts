import { fileURLToPath } from 'node:url';

const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

/** In tests the package's name stands for its sources, so that an example that a test imports shares their classes. */
export const packageAlias = [
  { find: /^pod-status-manager$/, replacement: source('index.ts') },
  { find: /^pod-status-manager\/([\w-]+)$/, replacement: source('$1.ts') },
];
