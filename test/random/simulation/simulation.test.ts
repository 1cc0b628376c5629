import { describe, expect, it } from 'vitest';
import { mutants } from '../chaos/mutants.ts';
import { Prng } from '../chaos/prng.ts';
import { catchMutant } from './mutant-run.ts';
import { type SimulationOptions, type SimulationResult, simulate } from './simulation.ts';
import { commandFor, Tally } from './tally.ts';

const fixedRuns = Array.from({ length: 34 }, (_, i) => ({ seed: i + 1, minutes: 2 }));

/** Undefined when every rule held; otherwise what broke, and how to see it again. */
function verdict(options: SimulationOptions, { violation }: SimulationResult): string | undefined {
  return violation && `${violation.rule}: ${violation.detail}\n${commandFor(options)}`;
}

describe('the manager in simulated clusters', () => {
  it('keeps every promise with every fixed seed, through every kind of fault and on every rare path', async () => {
    const tally = new Tally();
    for (const run of fixedRuns) {
      const result = await simulate(run);
      tally.add(result);
      expect(verdict(run, result)).toBeUndefined();
    }
    const expected = ['clockJump', 'duplication', 'failing', 'lossyNetwork', 'managerCrash', 'managerRestart', 'refusing'];
    expected.push('serverRestart', 'slowNetwork', 'straggling', 'throttling', 'watchGap', 'watchLag', 'watch dies');
    expected.push('request duplicated', 'request lost', 'request straggles', 'answer lost');
    expected.push('answer 422', 'answer 429', 'answer 503');
    expect(tally.faultKinds).toEqual(expect.arrayContaining(expected));
    console.log(tally.summary());
    expect(tally.writesLanded).toBeGreaterThan(1000);
    expect(tally.checkpoints).toBeGreaterThan(200);
    expect(tally.paths['status quarantined']).toBeGreaterThan(40);
    expect(tally.paths['channel overflowed']).toBeGreaterThan(300);
    expect(tally.paths['hint lost']).toBeGreaterThan(40);
    expect(tally.paths['status of a vanished pod dropped']).toBeGreaterThan(20);
  });

  it('keeps every promise with three more seeds in runs that are twice as long', async () => {
    const runs = [35, 36, 37].map((seed) => ({ seed, minutes: 4 }));
    for (const run of runs) expect(verdict(run, await simulate(run))).toBeUndefined();
  });

  it('does the same, step by step, when the seed is the same', async () => {
    const run = async (seed: number): Promise<string[]> => {
      const steps: string[] = [];
      await simulate({ seed, minutes: 2, onStep: (line) => steps.push(line) });
      return steps;
    };
    const steps = await run(7);
    expect(steps.length).toBeGreaterThan(100);
    expect(await run(7)).toEqual(steps);
    expect(await run(8)).not.toEqual(steps);
  });
});

describe('the checks', () => {
  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))('notice when %s', async (_, mutant) => {
    const { rule } = await catchMutant(mutant, 1);
    expect(mutant.breaks).toContain(rule);
  });
});

describe('Prng', () => {
  it('gives the same numbers for the same seed, and streams that do not depend on one another', () => {
    const draw = (prng: Prng): number[] => Array.from({ length: 5 }, () => prng.next());
    const [a, b] = [new Prng(1), new Prng(1)];
    const forked = a.fork('network');
    draw(forked);
    expect(draw(a)).toEqual(draw(b));
    expect(draw(new Prng(1).fork('network'))).toEqual(draw(new Prng(1).fork('network')));
    expect(draw(new Prng(1).fork('network'))).not.toEqual(draw(new Prng(1).fork('agent')));
    expect(draw(new Prng(2))).not.toEqual(draw(new Prng(1)));
  });

  it('draws whole numbers within both bounds', () => {
    const prng = new Prng(3);
    const drawn = new Set(Array.from({ length: 200 }, () => prng.int(1, 3)));
    expect([...drawn].sort()).toEqual([1, 2, 3]);
  });
});
