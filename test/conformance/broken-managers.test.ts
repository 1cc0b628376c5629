import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Prng } from '../random/chaos/prng.ts';
import { canShow, type Defect, defects } from './falsify/broken-managers.ts';
import { shuffled } from './falsify/shuffled.ts';
import { judge } from './replay/judge-scenario.ts';
import { play, type Variant } from './replay/play-scenario.ts';
import { readCases } from './replay/read-cases.ts';
import type { Scenario } from './replay/replay-scenario.ts';
import { variants } from './replay/variants.ts';

const files = ['scenarios-public', 'scenarios-more'].map((name) => `${name}.jsonl.gz`);
const sample = 25;
const leastShare = 0.95;

function scenariosFor(defect: Defect): Scenario[] {
  const paths = files.map((file) => fileURLToPath(new URL(file, import.meta.url)));
  const able = paths.flatMap((path) => readCases(path).scenarios).filter((scenario) => canShow(defect, scenario));
  return shuffled(able, new Prng(9)).slice(0, sample);
}

/** The scenarios in which the defect showed, and whether the replay found it in each. */
async function found(defect: Defect, variant: Variant): Promise<Map<string, boolean>> {
  const results = new Map<string, boolean>();
  for (const scenario of scenariosFor(defect)) {
    let hasActed = false;
    const outcomes = await play(scenario, variant, (client) => defect.between(client, () => (hasActed = true)));
    if (hasActed) results.set(scenario.name, judge(scenario, variant, outcomes).differences.length > 0);
  }
  return results;
}

describe.each(variants)('the replay of a broken manager ($name)', ({ name: _, ceilings: __, ...variant }) => {
  it.each(Object.entries(defects))('finds a manager that %s', async (_title, defect) => {
    const results = await found(defect, variant);
    expect(results.size).toBeGreaterThanOrEqual(10);
    const missed = [...results].filter(([, isFound]) => !isFound).map(([scenario]) => scenario);
    expect(missed.length / results.size, `missed in ${missed.join(', ')}`).toBeLessThanOrEqual(1 - leastShare);
  });
});
