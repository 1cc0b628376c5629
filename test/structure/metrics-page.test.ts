import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { pageFile, pageText } from '../real/monitoring/metrics-page.ts';

it('docs/metrics.md is what metricDefinitions make: npm run docs:metrics', () => {
  expect(readFileSync(pageFile, 'utf8')).toBe(pageText());
});
