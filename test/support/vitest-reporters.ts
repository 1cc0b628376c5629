import { join } from 'node:path';
import type { ViteUserConfig } from 'vitest/config';

type Reporters = NonNullable<NonNullable<ViteUserConfig['test']>['reporters']>;

/** The default reporter and, with `VITEST_JSON=FOLDER`, one JSON report per run in that folder, which .ci/run counts. */
export function reporters(env: NodeJS.ProcessEnv = process.env): Reporters {
  const folder = env.VITEST_JSON;
  if (!folder) return ['default'];
  return ['default', ['json', { outputFile: join(folder, `${Date.now()}-${process.pid}.json`) }]];
}
