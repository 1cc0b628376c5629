import { describe, expect, it } from 'vitest';
import type { WirePod, WirePodCondition } from '../../../../src/api/json/types.ts';
import { deleting, numberedPod, testPod } from '../status-harness.ts';
import { inProgress, pending, started, times, uid, untimed } from './resize-harness.ts';

describe('the resize conditions of one pod', () => {
  it('are none, and the pod is neither deferred nor infeasible, while nothing is set [T-SM-095]', () => {
    const { manager } = started();
    expect(manager.resizes.getPodResizeConditions(uid)).toEqual([]);
    expect(manager.resizes.isPodResizeDeferred(uid)).toBe(false);
    expect(manager.resizes.isPodResizeInfeasible(uid)).toBe(false);
  });

  it('change with the first in-progress condition [T-SM-096]', () => {
    const { manager } = started();
    const answer = manager.resizes.setPodResizeInProgressCondition(uid, 'some-reason', 'some-message', 1);
    expect(answer).toEqual({ observedGeneration: 1, changed: true });
    const says = { reason: 'some-reason', message: 'some-message' };
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([inProgress(1, says)]);
  });

  it('keep reason and message when both are set empty [T-SM-097]', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, 'some-reason', 'some-message', 1);
    expect(manager.resizes.setPodResizeInProgressCondition(uid, '', '', 1)).toEqual({ observedGeneration: 1, changed: false });
    const says = { reason: 'some-reason', message: 'some-message' };
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([inProgress(1, says)]);
  });

  it('keep the generation of a resize in progress [T-SM-098]', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, 'some-reason', 'some-message', 1);
    expect(manager.resizes.setPodResizeInProgressCondition(uid, '', '', 2)).toEqual({ observedGeneration: 1, changed: false });
    expect(manager.resizes.getPodResizeConditions(uid)[0]?.observedGeneration).toBe(1);
  });

  it('take a new reason or message, and report a change', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, '', '', 1);
    expect(manager.resizes.setPodResizeInProgressCondition(uid, 'Error', 'no memory', 2)).toEqual({
      observedGeneration: 1,
      changed: true,
    });
    expect(manager.resizes.setPodResizeInProgressCondition(uid, 'Error', '', 2)).toEqual({
      observedGeneration: 1,
      changed: true,
    });
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([inProgress(1, { reason: 'Error' })]);
  });

  it('have a new generation when in-progress is set again after a clear [T-SM-099]', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, 'some-reason', 'some-message', 1);
    manager.resizes.clearPodResizeInProgressCondition(uid);
    expect(manager.resizes.setPodResizeInProgressCondition(uid, '', '', 2)).toEqual({ observedGeneration: 2, changed: true });
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([inProgress(2)]);
  });

  it('are Deferred for an unknown reason, and list pending before in-progress [T-SM-100]', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, '', '', 2);
    expect(manager.resizes.setPodResizePendingCondition(uid, 'some-reason', 'some-message', 1)).toBe(true);
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([pending('Deferred', 'some-message', 1), inProgress(2)]);
    expect(manager.resizes.isPodResizeDeferred(uid)).toBe(true);
  });

  it('take a new message of pending without reporting a change [T-SM-101]', () => {
    const { manager } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'some-reason', 'some-message', 1);
    expect(manager.resizes.setPodResizePendingCondition(uid, 'Deferred', 'some-other-message', 1)).toBe(false);
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([pending('Deferred', 'some-other-message', 1)]);
    expect(manager.resizes.isPodResizeDeferred(uid)).toBe(true);
  });

  it('become Infeasible, with another generation [T-SM-102]', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, '', '', 2);
    manager.resizes.setPodResizePendingCondition(uid, 'Deferred', 'some-message', 1);
    expect(manager.resizes.setPodResizePendingCondition(uid, 'Infeasible', 'some-message', 3)).toBe(true);
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([
      pending('Infeasible', 'some-message', 3),
      inProgress(2),
    ]);
    expect(manager.resizes.isPodResizeInfeasible(uid)).toBe(true);
    expect(manager.resizes.isPodResizeDeferred(uid)).toBe(false);
  });

  it('change with the generation alone', () => {
    const { manager } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Deferred', '', 1);
    expect(manager.resizes.setPodResizePendingCondition(uid, 'Deferred', '', 2)).toBe(true);
    expect(manager.resizes.setPodResizePendingCondition(uid, 'Deferred', '', 2)).toBe(false);
  });

  it('keep pending when in-progress is cleared [T-SM-103]', () => {
    const { manager } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Infeasible', 'some-message', 3);
    manager.resizes.setPodResizeInProgressCondition(uid, '', '', 2);
    expect(manager.resizes.clearPodResizeInProgressCondition(uid)).toEqual({ observedGeneration: 2, changed: true });
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([pending('Infeasible', 'some-message', 3)]);
    expect(manager.resizes.isPodResizeInfeasible(uid)).toBe(true);
  });

  it('are none when pending is cleared too [T-SM-104]', () => {
    const { manager } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Infeasible', 'some-message', 3);
    manager.resizes.clearPodResizePendingCondition(uid);
    manager.resizes.clearPodResizePendingCondition(uid);
    expect(manager.resizes.getPodResizeConditions(uid)).toEqual([]);
    expect(manager.resizes.isPodResizeDeferred(uid)).toBe(false);
    expect(manager.resizes.isPodResizeInfeasible(uid)).toBe(false);
  });

  it('return generation 0 for a clear when nothing is set [T-SM-105]', () => {
    const { manager } = started();
    expect(manager.resizes.clearPodResizeInProgressCondition(uid)).toEqual({ observedGeneration: 0, changed: false });
    expect(manager.resizes.getPodResizeConditions(uid)).toEqual([]);
  });

  it('return the cleared generation for a clear [T-SM-106]', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, '', '', 1);
    expect(manager.resizes.clearPodResizeInProgressCondition(uid)).toEqual({ observedGeneration: 1, changed: true });
    expect(manager.resizes.getPodResizeConditions(uid)).toEqual([]);
  });

  it('have a new probe time after every call, and a new transition time when the reason changes', async () => {
    const { h, manager } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Deferred', 'one', 1);
    const begin = times(manager.resizes.getPodResizeConditions(uid)[0])[0];
    await h.clock.advance(2_000);
    manager.resizes.setPodResizePendingCondition(uid, 'Deferred', 'two', 1);
    const [probed, transition] = times(manager.resizes.getPodResizeConditions(uid)[0]);
    expect(transition).toBe(begin);
    expect(probed).not.toBe(begin);
    manager.resizes.setPodResizePendingCondition(uid, 'Infeasible', 'two', 1);
    expect(times(manager.resizes.getPodResizeConditions(uid)[0])).toEqual([probed, probed]);
  });

  it('send nothing and change no status by themselves, and are part of the next status', async () => {
    const { h, manager } = started();
    const pod = h.publish(numberedPod(1));
    manager.resizes.setPodResizePendingCondition(uid, 'Deferred', 'later', 3);
    expect(await h.calls()).toEqual([]);
    expect(manager.getPodStatus(uid)).toBeUndefined();
    await h.set(pod, { conditions: [...manager.resizes.getPodResizeConditions(uid)] });
    expect(h.apiStatus(pod).conditions).toMatchObject([pending('Deferred', 'later', 3)]);
  });
});

describe('backfillPodResizeConditions', () => {
  const stored = (n: number, ...conditions: object[]): WirePod => ({
    ...numberedPod(n),
    status: { conditions: conditions as WirePodCondition[] },
  });

  it('takes over the conditions that five pods have on the apiserver [T-SM-118]', () => {
    const { manager, gauges } = started();
    const error = { reason: 'Error', message: 'some error' };
    const pods = [
      stored(1, inProgress(1)),
      stored(2, inProgress(1, error)),
      stored(3, inProgress(1), pending('Deferred', 'no room', 1)),
      stored(4, pending('Infeasible', 'never', 1)),
      stored(5, { type: 'PodScheduled', status: 'True' }),
    ];
    manager.resizes.backfillPodResizeConditions(pods);
    const listed = [1, 2, 3, 4, 5].map((n) => untimed(manager.resizes.getPodResizeConditions(`uid-${n}`)));
    expect(listed).toEqual([
      [inProgress(1)],
      [inProgress(1, error)],
      [pending('Deferred', 'no room', 1), inProgress(1)],
      [pending('Infeasible', 'never', 1)],
      [],
    ]);
    expect(gauges).toEqual({ 'pending_resizes{deferred}': 1, 'pending_resizes{infeasible}': 1, in_progress_resizes: 3 });
  });

  it('makes them True with new times, and keeps an unknown reason', () => {
    const { h, manager, gauges } = started();
    const old = { ...pending('Whatever', '', 1), status: 'False', lastTransitionTime: '1999-01-01T00:00:00Z' };
    manager.resizes.backfillPodResizeConditions([stored(1, old)]);
    const [condition] = manager.resizes.getPodResizeConditions(uid);
    expect(condition).toMatchObject({ status: 'True', reason: 'Whatever' });
    expect(condition?.lastTransitionTime?.getTime()).toBe(Math.floor(h.clock.now() / 1000) * 1000);
    expect(gauges['pending_resizes{whatever}']).toBe(1);
    expect([manager.resizes.isPodResizeDeferred(uid), manager.resizes.isPodResizeInfeasible(uid)]).toEqual([false, false]);
  });

  it('replaces earlier conditions', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, 'Error', 'no', 7);
    manager.resizes.backfillPodResizeConditions([stored(1, inProgress(1))]);
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([inProgress(1)]);
  });
});

describe('resize conditions at the end of a pod', () => {
  it('are dropped for pods that are no longer known, also for those never cached', () => {
    const { manager, gauges } = started();
    manager.setPodStatus(numberedPod(1), { phase: 'Running' });
    for (const podUID of [uid, 'uid-2', 'uid-3']) manager.resizes.setPodResizeInProgressCondition(podUID, '', '', 1);
    manager.removeOrphanedStatuses(new Set(['uid-3']));
    expect([uid, 'uid-2', 'uid-3'].map((podUID) => manager.resizes.getPodResizeConditions(podUID).length)).toEqual([0, 0, 1]);
    expect(gauges.in_progress_resizes).toBe(1);
  });

  it('are dropped with the entry when the pod was deleted', async () => {
    const { h, manager, gauges } = started();
    const pod = h.publish(testPod({ metadata: deleting, status: { phase: 'Succeeded' } }));
    manager.resizes.setPodResizePendingCondition(pod.metadata.uid, 'Deferred', '', 1);
    h.safety.reclaimed = true;
    manager.terminatePod(pod);
    await h.calls();
    expect(manager.getPodStatus(pod.metadata.uid)).toBeUndefined();
    expect(manager.resizes.getPodResizeConditions(pod.metadata.uid)).toEqual([]);
    expect(gauges['pending_resizes{deferred}']).toBe(0);
  });
});

describe('manager.resizes, results and arguments', () => {
  it('returns frozen copies that no later call changes', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, 'a', '', 1);
    const before = manager.resizes.getPodResizeConditions(uid);
    before[0]?.lastProbeTime?.setTime(0);
    manager.resizes.setPodResizeInProgressCondition(uid, 'b', '', 1);
    expect(before[0]?.reason).toBe('a');
    expect(Object.isFrozen(before) && Object.isFrozen(before[0])).toBe(true);
    expect(manager.resizes.getPodResizeConditions(uid)[0]?.lastProbeTime?.getTime()).not.toBe(0);
  });

  it.each([
    ['a pod uid', ['', 'Deferred', '', 1], 'podUID'],
    ['a reason', [uid, undefined, '', 1], 'reason'],
    ['a message', [uid, 'Deferred', 7, 1], 'message'],
    ['a whole generation', [uid, 'Deferred', '', 1.5], 'observedGeneration'],
    ['a generation that is not negative', [uid, 'Deferred', '', -1], 'observedGeneration'],
  ])('requires %s', (_, args, name) => {
    const { manager, metrics } = started();
    const rule = expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message: expect.stringContaining(`\`${name}\``) });
    expect(() => Reflect.apply(manager.resizes.setPodResizePendingCondition, manager.resizes, args)).toThrow(rule);
    expect(() => Reflect.apply(manager.resizes.setPodResizeInProgressCondition, manager.resizes, args)).toThrow(rule);
    expect(metrics.sets).toBe(0);
  });

  it('refuses a whole backfill when one pod has no uid', () => {
    const { manager } = started();
    const pod: WirePod = { ...numberedPod(1), status: { conditions: [inProgress(1) as WirePodCondition] } };
    const refusal = expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message: expect.stringContaining('pods[1]') });
    expect(() => manager.resizes.backfillPodResizeConditions([pod, {}])).toThrow(refusal);
    expect(manager.resizes.getPodResizeConditions(uid)).toEqual([]);
    expect(() => manager.resizes.backfillPodResizeConditions({} as never)).toThrow('`pods` to be a list of pods');
  });

  it('still answers, and refuses changes, after the manager has stopped', async () => {
    const { manager } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Deferred', '', 1);
    await manager.stop();
    expect(manager.resizes.isPodResizeDeferred(uid)).toBe(true);
    const stopped = expect.objectContaining({ code: 'ERR_STOPPED' });
    expect(() => manager.resizes.setPodResizePendingCondition(uid, 'Deferred', '', 1)).toThrow(stopped);
    expect(() => manager.resizes.setPodResizeInProgressCondition(uid, '', '', 1)).toThrow(stopped);
    expect(() => manager.resizes.clearPodResizePendingCondition(uid)).toThrow(stopped);
    expect(() => manager.resizes.clearPodResizeInProgressCondition(uid)).toThrow(stopped);
    expect(() => manager.resizes.backfillPodResizeConditions([])).toThrow(stopped);
  });
});
