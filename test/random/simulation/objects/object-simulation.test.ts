import { describe, expect, it } from 'vitest';
import { objectMutants } from './mutants.ts';
import { type ObjectSimulationOptions, type ObjectSimulationResult, simulateObjects } from './object-simulation.ts';

const strategies = ['watch', 'cache'] as const;
const seeds = Array.from({ length: 15 }, (_, index) => index + 1);
const seedsPerMutant = 20;

/** Undefined when every rule held; otherwise what broke, and how to see it again. */
function verdict(
  { seed, minutes, strategy }: ObjectSimulationOptions,
  { violation }: ObjectSimulationResult,
): string | undefined {
  return violation && `${violation.rule}: ${violation.detail} (${strategy}, seed ${seed}, ${minutes} minutes)`;
}

describe.each(strategies)('a manager of secrets with strategy %s in a simulated cluster', (strategy) => {
  it('keeps every promise with every fixed seed, through every kind of fault', async () => {
    const faults = new Set<string>();
    let reads = 0;
    for (const seed of seeds) {
      const options = { seed, minutes: 5, strategy };
      const result = await simulateObjects(options);
      expect(verdict(options, result)).toBeUndefined();
      for (const kind of result.faults.keys()) faults.add(kind);
      reads += result.reads;
    }
    expect(faults.size).toBe(9);
    expect(reads).toBeGreaterThan(2000);
  });

  it('keeps every promise with three more seeds in runs that are twice as long', async () => {
    for (const seed of [16, 17, 18]) {
      const options = { seed, minutes: 10, strategy };
      expect(verdict(options, await simulateObjects(options))).toBeUndefined();
    }
  });

  it('does the same, step by step, when the seed is the same', async () => {
    const stepsOf = async (seed: number): Promise<string[]> => {
      const steps: string[] = [];
      await simulateObjects({ seed, minutes: 2, strategy, onStep: (line) => steps.push(line) });
      return steps;
    };
    const steps = await stepsOf(7);
    expect(steps.length).toBeGreaterThan(100);
    expect(await stepsOf(7)).toEqual(steps);
    expect(await stepsOf(8)).not.toEqual(steps);
  });
});

describe('the checks of that simulation', () => {
  it.each(objectMutants.map((mutant) => [mutant.name, mutant] as const))('notice when %s', async (_, mutant) => {
    let broken: string | undefined;
    for (let seed = 1; seed <= seedsPerMutant && broken === undefined; seed++) {
      broken = (await simulateObjects({ seed, minutes: 3, strategy: 'watch', mutant })).violation?.rule;
    }
    expect(mutant.breaks).toContain(broken);
  });
});
