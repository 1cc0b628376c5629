import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Prng } from '../random/chaos/prng.ts';
import { type Measurement, measure, playAll } from './falsify/measure.ts';
import { shuffled } from './falsify/shuffled.ts';
import { readCases } from './replay/read-cases.ts';
import type { Scenario } from './replay/replay-scenario.ts';
import { variants } from './replay/variants.ts';

const files = ['scenarios-public', 'scenarios-more'].map((name) => `${name}.jsonl.gz`);
const leastShare = 0.95;
const seed = 9;
/** All scenarios with a DELETE, which are few, and some of the others. */
const others = 150;

function chosenScenarios(): Scenario[] {
  const paths = files.map((file) => fileURLToPath(new URL(file, import.meta.url)));
  const scenarios = shuffled(
    paths.flatMap((path) => readCases(path).scenarios),
    new Prng(seed),
  );
  const hasDelete = ({ steps }: Scenario): boolean =>
    steps.some(({ expect: { calls } }) => calls?.some(({ verb }) => verb === 'delete'));
  return [...scenarios.filter(hasDelete), ...scenarios.filter((scenario) => !hasDelete(scenario)).slice(0, others)];
}

function printed(name: string, rows: readonly Measurement[]): string {
  const lines = rows.map(({ kind, told, found, foundByOurs, toldOfExempt, foundOfExempt }) => {
    const exempt = `${foundOfExempt} of ${toldOfExempt} in exempt pairs`;
    return `  ${kind.padEnd(24)} ${String(found).padStart(3)} of ${told} found (${exempt}; ${foundByOurs} by what ours did)`;
  });
  return [`falsified recordings (${name})`, ...lines].join('\n');
}

describe.each(variants)('a falsified recording ($name)', ({ name, fetchBeforePatch, patchFormat }) => {
  it('is found by the replay, whatever is told falsely', async () => {
    const variant = { fetchBeforePatch, patchFormat };
    const rows = measure(await playAll(chosenScenarios(), variant), variant, { sample: 40, seed });
    console.log(printed(name, rows));
    for (const { kind, told, found, missed } of rows) {
      expect(told, kind).toBeGreaterThanOrEqual(40);
      expect(found / told, `${kind}: ${missed.join('; ')}`).toBeGreaterThanOrEqual(leastShare);
    }
  });
});
