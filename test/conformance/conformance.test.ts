import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { excesses } from './replay/ceilings.ts';
import type { Variant } from './replay/play-scenario.ts';
import { type FileResult, runFile } from './replay/run-file.ts';
import { variants } from './replay/variants.ts';

const files = ['scenarios-public', 'tables-public', 'scenarios-more', 'tables-more'].map((name) => `${name}.jsonl.gz`);

/** Runs the file, which agrees with what was recorded. */
async function agreeing(file: string, variant: Variant): Promise<FileResult> {
  const result = await runFile(fileURLToPath(new URL(file, import.meta.url)), variant);
  expect(result.scenarios + result.tables).toBeGreaterThan(0);
  expect(result.differences).toEqual([]);
  expect(result.tableDifferences).toEqual([]);
  return result;
}

describe.each(variants)('replay of what the upstream manager did ($name)', ({ ceilings, name: _, ...variant }) => {
  it.each(files)('finds no difference in %s, and no rule excuses more than it may', async (file) => {
    expect(excesses(ceilings, await agreeing(file, variant))).toEqual([]);
  });

  // Chosen for what rules explain: a ceiling, which is a share of scenarios drawn at random, does not count here.
  it('finds no difference in scenarios of other seeds that an earlier judge found different', async () => {
    expect((await agreeing('scenarios-found.jsonl.gz', variant)).scenarios).toBe(33);
  });
});
