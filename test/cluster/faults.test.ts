import { describe, expect, it } from 'vitest';
import { runFaults } from '../faults/fault-run.ts';
import { RealTarget } from '../faults/real-target.ts';
import { renderReport } from '../faults/report.ts';

describe('the fault suite, on a control plane of its own', () => {
  it('finds nothing lost, out of order or damaged while kube-apiserver is killed ten times, etcd paused and killed, certificate and token changed', async () => {
    await using target = await RealTarget.start();
    const report = await runFaults({ target, seed: 1, pods: 200, updates: 10_000, seconds: 55 });
    expect(report, renderReport(report)).toMatchObject({ lost: [], damage: [], convergedInMs: expect.any(Number) });
    expect(report.updates).toBeGreaterThanOrEqual(10_000);
    expect(Object.fromEntries(report.disturbances)).toEqual({
      'kube-apiserver killed': 10,
      'etcd paused': 2,
      'etcd killed': 1,
      'certificate rotated': 2,
      'token revoked and given back': 1,
    });
    // etcd's own history is whole, and the watch saw as much of it as a watch can
    expect(report.versions).toMatchObject({ etcd: { gaps: 0 } });
    expect(report.versions.etcd?.read).toBeGreaterThanOrEqual(report.versions.watch?.read ?? 0);
  }, 300_000);
});
