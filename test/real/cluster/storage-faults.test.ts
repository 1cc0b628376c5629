import { expect, it } from 'vitest';
import { runStorageFaults } from '../scheduler/storage-faults.ts';
import { renderStorageReport } from '../scheduler/storage-report.ts';

it('schedulers place pods with claims, whoever is killed or paused: no volume is bound twice or lost, and no pod is left', async () => {
  const report = await runStorageFaults({ seed: 28, nodes: 10, pods: 60, kills: 2, pauses: 1, log: () => {} });
  expect(report.findings, renderStorageReport(report)).toEqual([]);
  expect([report.tookMs === undefined, report.gaps.length, report.claims]).toEqual([false, 3, 66]);
  // what it has judged is there
  expect(Math.min(report.versions.volume, report.versions.claim, report.versions.pod)).toBeGreaterThan(60);
});
