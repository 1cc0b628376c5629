import { describe, expect, it } from 'vitest';
import { runFaults } from '../../random/faults/fault-run.ts';
import { RealTarget } from '../../random/faults/real-target.ts';
import { renderReport } from '../../random/faults/report.ts';
import { TwoApiServersTarget } from '../../random/faults/two-apiservers-target.ts';

describe('the fault suite, on a control plane of its own', () => {
  it('finds nothing lost, out of order, damaged or other than it was said while kube-apiserver is killed ten times, etcd paused and killed, certificate and token changed', async () => {
    await using target = await RealTarget.start();
    const report = await runFaults({ target, seed: 1, pods: 200, updates: 10_000, seconds: 55 });
    expect(report, renderReport(report)).toMatchObject({ lost: [], damage: [], convergedInMs: expect.any(Number) });
    expect(report.updates).toBeGreaterThanOrEqual(10_000);
    expect(report.overwritten).toBeLessThanOrEqual(3);
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

describe('the fault suite, on two kube-apiservers over one etcd behind a balancer', () => {
  it('finds nothing lost, and nothing older after something newer, while one lags, stands still and starts anew', async () => {
    await using target = await TwoApiServersTarget.start({ rounds: 1 });
    const report = await runFaults({ target, seed: 1, pods: 100, updates: 5000, seconds: 30 });
    expect(report, renderReport(report)).toMatchObject({ lost: [], damage: [], convergedInMs: expect.any(Number) });
    expect(report.updates).toBeGreaterThanOrEqual(5000);
    expect(report.overwritten).toBeLessThanOrEqual(3);
    expect(Object.fromEntries(report.disturbances)).toMatchObject({
      'second apiserver lags': 2,
      'second apiserver paused': 1,
      'second apiserver restarted': 1,
      'first apiserver killed': 1,
    });
    // what one of them answered is newer than what the other one's watch tells after that
    expect(report.copiesBackInTime.olderThanAnAnswer).toBeGreaterThan(0);
    expect(report.versions).toMatchObject({ etcd: { gaps: 0 } });
  }, 300_000);
});
