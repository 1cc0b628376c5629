import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Mutant, mutants } from '../chaos/mutants.ts';
import { runFaults } from './fault-run.ts';
import { InMemoryTarget } from './in-memory-target.ts';
import { brokenRules, type FaultReport, renderReport } from './report.ts';

describe('the fault suite, on the in-memory apiserver', () => {
  // The same seed in every run: what fails here can be looked at with `npm run test:faults -- --seed 1 --server in-memory`.
  it('finds nothing lost, out of order, damaged or other than it was said after thousands of updates under faults', async () => {
    await using target = await InMemoryTarget.start();
    const report = await runFaults({ target, seed: 1, pods: 100, updates: 4000, seconds: 6 });
    expect(report, renderReport(report)).toMatchObject({ lost: [], damage: [], convergedInMs: expect.any(Number) });
    expect(report.updates).toBeGreaterThanOrEqual(4000);
    expect(report.faults.size).toBeGreaterThan(4);
    expect(report.checkpoints).toBeGreaterThan(10);
    expect(report.versions).toMatchObject({ watch: { gaps: 0 } });
  });
});

/** These runs mostly wait. */
const mutantsAtOnce = 8;

/** True for one whose damage shows only when all should have come to rest. */
function showsInTheEnd({ breaks }: Mutant): boolean {
  return breaks[0] === 'everything is brought up to date';
}

describe('the fault suite', () => {
  const reports = new Map(mutants.map(({ name }) => [name, Promise.withResolvers<FaultReport>()]));
  // the test that is to fail may not have begun
  for (const { promise } of reports.values()) promise.catch(() => {});
  let target: InMemoryTarget;
  let runs: Promise<unknown>;

  beforeAll(async () => {
    target = await InMemoryTarget.start();
    // the long ones first
    const queue = mutants.toSorted((a, b) => Number(showsInTheEnd(b)) - Number(showsInTheEnd(a)));
    runs = Promise.all(Array.from({ length: mutantsAtOnce }, () => runNext(queue)));
  });
  afterAll(async () => {
    await runs;
    await target[Symbol.asyncDispose]();
  });

  /** A busy server, few pods, and a watch that soon falls silent. */
  async function runNext(queue: Mutant[]): Promise<void> {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const seconds = showsInTheEnd(mutant) ? 1 : 60;
      const storm = { seconds, updates: seconds * 100, rivalPauseMs: 100, faultRate: 8, concurrency: 4, disturbed: false };
      const run = runFaults({ target, mutant, seed: 44, pods: 16, ...storm, convergeWithinMs: 3000 });
      await run.then(reports.get(mutant.name)?.resolve, reports.get(mutant.name)?.reject);
    }
  }

  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))('notices when %s', async (name, mutant) => {
    const report = await reports.get(name)?.promise;
    if (report === undefined) throw new Error('The mutant was not run');
    const broken = brokenRules(report);
    const caughtBy = mutant.breaks.filter((rule) => broken.includes(rule));
    expect(caughtBy, renderReport(report)).not.toEqual([]);
  });
});
