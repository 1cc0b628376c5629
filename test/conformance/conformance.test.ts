import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { excesses } from './replay/ceilings.ts';
import { runFile } from './replay/run-file.ts';
import { variants } from './replay/variants.ts';

const files = ['scenarios-public', 'tables-public', 'scenarios-more', 'tables-more', 'scenarios-found'].map(
  (name) => `${name}.jsonl.gz`,
);

describe.each(variants)('replay of what the upstream manager did ($name)', ({ ceilings, name: _, ...variant }) => {
  it.each(files)('finds no difference in %s, and no rule excuses more than it may', async (file) => {
    const result = await runFile(fileURLToPath(new URL(file, import.meta.url)), variant);
    expect(result.scenarios + result.tables).toBeGreaterThan(0);
    expect(result.differences).toEqual([]);
    expect(result.tableDifferences).toEqual([]);
    expect(excesses(ceilings, result)).toEqual([]);
  });
});
