import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partsMutants } from '../../chaos/parts/mutants.ts';
import { InMemoryTarget } from '../in-memory-target.ts';
import { runPartsMutants } from './mutant-run.ts';
import { type PartsFaultReport, runPartsFaults } from './parts-fault-run.ts';
import { catchOfParts, renderPartsReport } from './parts-report.ts';

/** The runs are in real time, all at once, up to three for a mutant: on a busy machine the last one ends late. */
const longestMs = 400_000;

/** The same in every run. The sound parts pass each of them, and a mutant is caught by one of them. */
const seeds = [1, 4, 2];

describe('the fault suite of reflector, object managers and mirror pods, on the in-memory apiserver', {
  timeout: longestMs,
}, () => {
  // The first and the last have watches over HTTP/2, the second over HTTP/1.1.
  it('finds nothing old, lost, damaged or left behind, over HTTP/2 and over HTTP/1.1', async () => {
    await using target = await InMemoryTarget.start({ bookmarkIntervalMs: 2000 });
    const reports = await Promise.all(seeds.map((seed) => runPartsFaults({ target, seed, seconds: 5 })));
    for (const report of reports) {
      expect(report, renderPartsReport(report)).toMatchObject({ damage: [], convergedInMs: expect.any(Number) });
      expect(report.faults.size).toBeGreaterThan(4);
      expect(report.counts.get('read: a value')).toBeGreaterThan(50);
    }
    expect(reports.map(({ overHttp2 }) => overHttp2 > 20)).toEqual([true, false, true]);
  });
});

describe('the fault suite of the parts', { timeout: longestMs }, () => {
  let target: InMemoryTarget;
  let reports: ReadonlyMap<string, Promise<PartsFaultReport>>;

  beforeAll(async () => {
    target = await InMemoryTarget.start({ bookmarkIntervalMs: 2000 });
    reports = runPartsMutants(target, partsMutants, seeds);
  });
  afterAll(async () => {
    await Promise.allSettled(reports.values());
    await target[Symbol.asyncDispose]();
  }, longestMs);

  it.each(partsMutants.map((mutant) => [mutant.name, mutant] as const))('notices when %s', async (name, mutant) => {
    const report = await reports.get(name);
    if (report === undefined) throw new Error('The mutant was not run');
    expect(catchOfParts(mutant, report), renderPartsReport(report)).toBeDefined();
  });
});
