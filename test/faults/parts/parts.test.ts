import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partsMutants } from '../../chaos/parts/mutants.ts';
import { InMemoryTarget } from '../in-memory-target.ts';
import { runPartsMutants } from './mutant-run.ts';
import { type PartsFaultReport, runPartsFaults } from './parts-fault-run.ts';
import { catchOfParts, renderPartsReport } from './parts-report.ts';

describe('the fault suite of reflector, object managers and mirror pods, on the in-memory apiserver', () => {
  // The same seeds in every run. The first has watches over HTTP/2, the second over HTTP/1.1.
  it.each([1, 4])('finds nothing old, lost, damaged or left behind with seed %i', async (seed) => {
    await using target = await InMemoryTarget.start({ bookmarkIntervalMs: 2000 });
    const report = await runPartsFaults({ target, seed, seconds: 5 });
    expect(report, renderPartsReport(report)).toMatchObject({ damage: [], convergedInMs: expect.any(Number) });
    expect(report.faults.size).toBeGreaterThan(8);
    expect(report.overHttp2 > 50).toBe(seed === 1);
    expect(report.counts.get('read: a value')).toBeGreaterThan(100);
  });
});

describe('the fault suite of the parts', () => {
  let target: InMemoryTarget;
  let reports: ReadonlyMap<string, Promise<PartsFaultReport>>;

  beforeAll(async () => {
    target = await InMemoryTarget.start({ bookmarkIntervalMs: 2000 });
    reports = runPartsMutants(target, partsMutants, 1);
  });
  afterAll(async () => {
    await Promise.allSettled(reports.values());
    await target[Symbol.asyncDispose]();
  });

  it.each(partsMutants.map((mutant) => [mutant.name, mutant] as const))('notices when %s', async (name, mutant) => {
    const report = await reports.get(name);
    if (report === undefined) throw new Error('The mutant was not run');
    expect(catchOfParts(mutant, report), renderPartsReport(report)).toBeDefined();
  });
});
