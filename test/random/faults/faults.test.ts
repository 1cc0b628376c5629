import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mutants } from '../chaos/mutants.ts';
import { runFaults } from './fault-run.ts';
import { InMemoryTarget } from './in-memory-target.ts';
import { catchOf, runMutants } from './mutant-run.ts';
import { type FaultReport, renderReport } from './report.ts';

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

describe('the fault suite', () => {
  let target: InMemoryTarget;
  let reports: ReadonlyMap<string, Promise<FaultReport>>;

  beforeAll(async () => {
    target = await InMemoryTarget.start();
    reports = runMutants(target, mutants, 44);
  });
  afterAll(async () => {
    await Promise.allSettled(reports.values());
    await target[Symbol.asyncDispose]();
  });

  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))('notices when %s', async (name, mutant) => {
    const report = await reports.get(name);
    if (report === undefined) throw new Error('The mutant was not run');
    expect(catchOf(mutant, report), renderReport(report)).toBeDefined();
  });
});
