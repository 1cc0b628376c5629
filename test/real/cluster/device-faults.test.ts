import { expect, it } from 'vitest';
import { renderDeviceReport, runDeviceFaults } from '../scheduler/device-faults.ts';

it('schedulers place pods with claims of devices, whoever is killed or paused: no device is given away twice, and none is kept for nobody', async () => {
  const report = await runDeviceFaults({ seed: 28, nodes: 6, pods: 60, kills: 2, pauses: 1, log: () => {} });
  expect(report.findings, renderDeviceReport(report)).toEqual([]);
  expect([report.leftThatFit, report.refusals]).toEqual([[], []]);
  // what it has judged is there: there were too few devices
  expect([report.open.length, report.mostWaiting > 0]).toEqual([3, true]);
  expect(Math.min(report.versions.claim, report.versions.pod)).toBeGreaterThan(60);
});
