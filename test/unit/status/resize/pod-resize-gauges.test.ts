import { describe, expect, it, vi } from 'vitest';
import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { PodResizeConditions } from '../../../../src/status/resize/pod-resizes.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { numberedPod } from '../status-harness.ts';
import { started, uid } from './resize-harness.ts';

describe('kubelet_pod_in_progress_resizes', () => {
  it('is not set while there are no pods [T-SM-107]', () => {
    expect(started().gauges).toEqual({});
  });

  it('is 0 for a pod without a condition [T-SM-108]', () => {
    const { manager, gauges } = started();
    manager.resizes.backfillPodResizeConditions([numberedPod(1)]);
    expect(gauges.in_progress_resizes).toBe(0);
  });

  it('is 0 for a pending resize [T-SM-109]', () => {
    const { manager, gauges } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Deferred', '', 1);
    expect(gauges.in_progress_resizes ?? 0).toBe(0);
  });

  it('counts a resize in progress until it is cleared [T-SM-110]', () => {
    const { manager, gauges } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, '', '', 1);
    expect(gauges.in_progress_resizes).toBe(1);
    manager.resizes.clearPodResizeInProgressCondition(uid);
    expect(gauges.in_progress_resizes).toBe(0);
  });

  it('counts a failing resize too [T-SM-111]', () => {
    const { manager, gauges } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, '', '', 1);
    manager.resizes.setPodResizeInProgressCondition('uid-2', 'Error', 'no', 1);
    expect(gauges.in_progress_resizes).toBe(2);
  });
});

describe('kubelet_pod_pending_resizes', () => {
  it('has no series for a pod without a condition [T-SM-112]', () => {
    const { manager, gauges } = started();
    manager.resizes.backfillPodResizeConditions([numberedPod(1)]);
    expect(gauges).toEqual({ in_progress_resizes: 0 });
  });

  it('has no series for a resize in progress [T-SM-113]', () => {
    const { manager, gauges } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, '', '', 1);
    expect(gauges).toEqual({ in_progress_resizes: 1 });
  });

  it('counts a deferred resize [T-SM-114]', () => {
    const { manager, gauges } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Deferred', '', 1);
    expect(gauges).toEqual({ 'pending_resizes{deferred}': 1 });
  });

  it('counts by reason, whatever the messages [T-SM-115]', () => {
    const { manager, gauges } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Infeasible', 'one', 1);
    manager.resizes.setPodResizePendingCondition('uid-2', 'Infeasible', 'two', 1);
    expect(gauges).toEqual({ 'pending_resizes{infeasible}': 2 });
  });

  it('counts each reason separately [T-SM-116]', () => {
    const { manager, gauges } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Infeasible', '', 1);
    manager.resizes.setPodResizePendingCondition('uid-2', 'Deferred', '', 1);
    expect(gauges).toEqual({ 'pending_resizes{infeasible}': 1, 'pending_resizes{deferred}': 1 });
  });

  it('is 0 for every reason when no pod is left, and is not set after that [T-SM-117]', () => {
    const { manager, gauges, metrics } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Infeasible', '', 1);
    manager.resizes.setPodResizePendingCondition('uid-2', 'Deferred', '', 1);
    manager.removeOrphanedStatuses(new Set());
    expect(gauges).toMatchObject({ 'pending_resizes{infeasible}': 0, 'pending_resizes{deferred}': 0 });
    const before = metrics.sets;
    manager.removeOrphanedStatuses(new Set());
    expect(metrics.sets).toBe(before);
  });

  it('counts a pod as infeasible after it was deferred', () => {
    const { manager, gauges } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Deferred', '', 1);
    manager.resizes.setPodResizePendingCondition(uid, 'Infeasible', '', 1);
    expect(gauges).toEqual({ 'pending_resizes{deferred}': 0, 'pending_resizes{infeasible}': 1 });
  });
});

describe('the count of resizes', () => {
  it('costs the same for each pod, however many there are', () => {
    let told = 0;
    const metrics = { increment() {}, observe() {}, set: () => void told++ };
    const conditions = new PodResizeConditions({ clock: new FakeClock(), metrics: metricsOption(metrics) });
    const iterated = vi.spyOn(Map.prototype, Symbol.iterator);
    const values = vi.spyOn(Map.prototype, 'values');
    for (const reason of ['Deferred', 'Infeasible']) {
      for (let n = 0; n < 100; n += 1) conditions.setPending(`uid-${n}`, { reason, message: '', observedGeneration: 1 });
    }
    for (let n = 0; n < 100; n += 1) conditions.setInProgress(`uid-${n}`, { reason: '', message: '', observedGeneration: 1 });
    for (let n = 0; n < 100; n += 1) conditions.clearPending(`uid-${n}`);
    for (let n = 0; n < 100; n += 1) conditions.delete(`uid-${n}`);
    const walks = iterated.mock.calls.length + values.mock.calls.length;
    vi.restoreAllMocks();
    expect([walks, told]).toEqual([0, 100 + 200 + 100 + 100 + 100]);
  });

  it.each([
    ['an earlier life of the agent', ['Deferred', 'Error']],
    ['conditions that come twice', ['Deferred', 'Deferred']],
  ])('is right after %s, and after the pods are gone', (_, reasons) => {
    const { manager, gauges } = started();
    const pods = reasons.map((reason, n) => {
      const condition = { type: 'PodResizePending', status: 'True', reason };
      return {
        ...numberedPod(n),
        status: { conditions: [condition, condition, { type: 'PodResizeInProgress', status: 'True' }] },
      };
    });
    manager.resizes.backfillPodResizeConditions(pods);
    manager.resizes.backfillPodResizeConditions(pods);
    const counts = Object.fromEntries(
      reasons.map((reason) => [`pending_resizes{${reason.toLowerCase()}}`, reasons.filter((one) => one === reason).length]),
    );
    expect(gauges).toEqual({ ...counts, in_progress_resizes: 2 });
    manager.removeOrphanedStatuses(new Set(['uid-0']));
    expect(gauges).toMatchObject({ in_progress_resizes: 1, 'pending_resizes{deferred}': 1 });
    manager.removeOrphanedStatuses(new Set());
    expect(Object.values(gauges).every((count) => count === 0)).toBe(true);
  });
});
