import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { exemptShare, runFile } from './replay/run-file.ts';
import { variants } from './replay/variants.ts';

const files = ['scenarios-public', 'tables-public', 'scenarios-more', 'tables-more'].map((name) => `${name}.jsonl.gz`);

describe.each(variants)('replay of what the upstream manager did ($name)', ({ exemptAtMost, name: _, ...variant }) => {
  it.each(files)('finds no difference in %s', async (file) => {
    const result = await runFile(fileURLToPath(new URL(file, import.meta.url)), variant);
    expect(result.scenarios + result.tables).toBeGreaterThan(0);
    expect(result.differences).toEqual([]);
    expect(result.tableDifferences).toEqual([]);
    expect(exemptShare(result)).toBeLessThan(exemptAtMost);
  });
});
