import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mutants } from '../chaos/mutants.ts';
import { runFaults } from './fault-run.ts';
import { InMemoryTarget } from './in-memory-target.ts';
import { brokenRules, renderReport } from './report.ts';

describe('the fault suite, on the in-memory apiserver', () => {
  // The same seed in every run: what fails here can be looked at with `npm run test:faults -- --seed 1 --server in-memory`.
  it('finds nothing lost, out of order, damaged or other than it was said after thousands of updates under faults', async () => {
    await using target = await InMemoryTarget.start();
    const report = await runFaults({ target, seed: 1, pods: 100, updates: 4000, seconds: 6 });
    expect(report, renderReport(report)).toMatchObject({ lost: [], damage: [], convergedInMs: expect.any(Number) });
    expect(report.updates).toBeGreaterThanOrEqual(4000);
    expect(report.faults.size).toBeGreaterThan(4);
    expect(report.checkpoints).toBeGreaterThan(50);
    expect(report.syncErrors.get('invalid')).toBeGreaterThan(5);
    expect(report.versions).toMatchObject({ watch: { gaps: 0 } });
  });
});

describe('the fault suite', () => {
  let target: InMemoryTarget;

  beforeAll(async () => {
    target = await InMemoryTarget.start();
  });
  afterAll(() => target[Symbol.asyncDispose]());

  it.concurrent.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    'notices when %s',
    async (_, mutant) => {
      // what is never done shows when all has come to rest, what is done wrong as soon as it is done
      const seconds = mutant.breaks[0] === 'everything is brought up to date' ? 2 : 60;
      const report = await runFaults({
        target,
        mutant,
        seed: 1,
        pods: 20,
        updates: seconds * 150,
        seconds,
        convergeWithinMs: 4000,
        rivalPauseMs: 100,
        faultRate: 4,
        disturbed: false,
      });
      const broken = brokenRules(report);
      expect(
        mutant.breaks.filter((rule) => broken.includes(rule)),
        renderReport(report),
      ).not.toEqual([]);
    },
    120_000,
  );
});
