import { describe, expect, it } from 'vitest';
import type { DamageKind } from './checker.ts';
import { type FaultRunOptions, runFaults } from './fault-run.ts';
import { InMemoryTarget } from './in-memory-target.ts';
import { type MutantName, mutants } from './mutants.ts';
import { type FaultReport, renderReport } from './report.ts';

// The same seed in every run: what fails here can be looked at with `npm run test:faults -- --seed 1 --server in-memory`.
async function run(options: Partial<FaultRunOptions>): Promise<FaultReport> {
  await using target = await InMemoryTarget.start();
  // awaited here: the server must outlive it
  return await runFaults({ target, seed: 1, pods: 100, updates: 4000, seconds: 6, ...options });
}

describe('the fault suite, on the in-memory apiserver', () => {
  it('finds nothing lost, out of order or damaged after thousands of updates under faults', async () => {
    const report = await run({});
    expect(report, renderReport(report)).toMatchObject({ lost: [], damage: [], convergedInMs: expect.any(Number) });
    expect(report.updates).toBeGreaterThanOrEqual(4000);
    expect(report.faults.size).toBeGreaterThan(4);
    expect(report.versions).toMatchObject({ watch: { gaps: 0 } });
  });

  it.each<[MutantName, DamageKind[]]>([
    ['order not kept', ['out of order']],
    ['uid not sent', ['wrong pod', 'wrongly removed']],
    ['foreign conditions replaced', ['foreign damage']],
  ])('catches a broken manager: %s', async (name, kinds) => {
    const report = await run({ pods: 30, seconds: 40, updates: 40_000, wrapClient: mutants[name], untilDamage: kinds });
    expect(
      report.damage.filter(({ kind }) => kinds.includes(kind)),
      renderReport(report),
    ).not.toEqual([]);
  });
});
