import { describe, expect, it } from 'vitest';
import type { WirePod, WirePodCondition } from '../../../../src/wire/types.ts';
import { deleting, numberedPod, testPod } from '../harness.ts';
import { inProgress, pending, started, times, uid, untimed } from './resize-harness.ts';

describe('one pod through a whole resize', () => {
  it('has no condition, and is neither deferred nor infeasible, while nothing is set [T-SM-095]', () => {
    const { manager } = started();
    expect(manager.resizes.getPodResizeConditions(uid)).toEqual([]);
    expect(manager.resizes.isPodResizeDeferred(uid)).toBe(false);
    expect(manager.resizes.isPodResizeInfeasible(uid)).toBe(false);
  });

  it('changes with the first in-progress condition [T-SM-096]', () => {
    const { manager } = started();
    const answer = manager.resizes.setPodResizeInProgressCondition(uid, 'some-reason', 'some-message', 1);
    expect(answer).toEqual({ observedGeneration: 1, changed: true });
    const says = { reason: 'some-reason', message: 'some-message' };
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([inProgress(1, says)]);
  });

  it('keeps reason and message when both come empty [T-SM-097]', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, 'some-reason', 'some-message', 1);
    expect(manager.resizes.setPodResizeInProgressCondition(uid, '', '', 1)).toEqual({ observedGeneration: 1, changed: false });
    const says = { reason: 'some-reason', message: 'some-message' };
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([inProgress(1, says)]);
  });

  it('keeps the generation of a resize under way [T-SM-098]', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, 'some-reason', 'some-message', 1);
    expect(manager.resizes.setPodResizeInProgressCondition(uid, '', '', 2)).toEqual({ observedGeneration: 1, changed: false });
    expect(manager.resizes.getPodResizeConditions(uid)[0]?.observedGeneration).toBe(1);
  });

  it('takes a new reason or message, and says so', () => {
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

  it('begins anew, with a new generation, once in-progress was cleared [T-SM-099]', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, 'some-reason', 'some-message', 1);
    manager.resizes.clearPodResizeInProgressCondition(uid);
    expect(manager.resizes.setPodResizeInProgressCondition(uid, '', '', 2)).toEqual({ observedGeneration: 2, changed: true });
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([inProgress(2)]);
  });

  it('is deferred for any unknown reason, with pending before in-progress [T-SM-100]', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, '', '', 2);
    expect(manager.resizes.setPodResizePendingCondition(uid, 'some-reason', 'some-message', 1)).toBe(true);
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([pending('Deferred', 'some-message', 1), inProgress(2)]);
    expect(manager.resizes.isPodResizeDeferred(uid)).toBe(true);
  });

  it('stores a new message without calling it a change [T-SM-101]', () => {
    const { manager } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'some-reason', 'some-message', 1);
    expect(manager.resizes.setPodResizePendingCondition(uid, 'Deferred', 'some-other-message', 1)).toBe(false);
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([pending('Deferred', 'some-other-message', 1)]);
    expect(manager.resizes.isPodResizeDeferred(uid)).toBe(true);
  });

  it('becomes infeasible, with another generation [T-SM-102]', () => {
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

  it('changes with the generation alone', () => {
    const { manager } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Deferred', '', 1);
    expect(manager.resizes.setPodResizePendingCondition(uid, 'Deferred', '', 2)).toBe(true);
    expect(manager.resizes.setPodResizePendingCondition(uid, 'Deferred', '', 2)).toBe(false);
  });

  it('keeps pending when in-progress is cleared [T-SM-103]', () => {
    const { manager } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Infeasible', 'some-message', 3);
    manager.resizes.setPodResizeInProgressCondition(uid, '', '', 2);
    expect(manager.resizes.clearPodResizeInProgressCondition(uid)).toEqual({ observedGeneration: 2, changed: true });
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([pending('Infeasible', 'some-message', 3)]);
    expect(manager.resizes.isPodResizeInfeasible(uid)).toBe(true);
  });

  it('has nothing left when pending is cleared too [T-SM-104]', () => {
    const { manager } = started();
    manager.resizes.setPodResizePendingCondition(uid, 'Infeasible', 'some-message', 3);
    manager.resizes.clearPodResizePendingCondition(uid);
    manager.resizes.clearPodResizePendingCondition(uid);
    expect(manager.resizes.getPodResizeConditions(uid)).toEqual([]);
    expect(manager.resizes.isPodResizeDeferred(uid)).toBe(false);
    expect(manager.resizes.isPodResizeInfeasible(uid)).toBe(false);
  });

  it('answers a clear of nothing with generation 0 [T-SM-105]', () => {
    const { manager } = started();
    expect(manager.resizes.clearPodResizeInProgressCondition(uid)).toEqual({ observedGeneration: 0, changed: false });
    expect(manager.resizes.getPodResizeConditions(uid)).toEqual([]);
  });

  it('answers a clear with the generation that was there [T-SM-106]', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, '', '', 1);
    expect(manager.resizes.clearPodResizeInProgressCondition(uid)).toEqual({ observedGeneration: 1, changed: true });
    expect(manager.resizes.getPodResizeConditions(uid)).toEqual([]);
  });

  it('is probed at every call, and in transition when the reason changes', async () => {
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

  it('sends nothing and changes no status by itself, and what it says goes into the next status', async () => {
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

  it('takes over what five pods have on the apiserver [T-SM-118]', () => {
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

  it('makes them True with fresh times, and leaves an unknown reason as it is', () => {
    const { h, manager, gauges } = started();
    const old = { ...pending('Whatever', '', 1), status: 'False', lastTransitionTime: '1999-01-01T00:00:00Z' };
    manager.resizes.backfillPodResizeConditions([stored(1, old)]);
    const [condition] = manager.resizes.getPodResizeConditions(uid);
    expect(condition).toMatchObject({ status: 'True', reason: 'Whatever' });
    expect(condition?.lastTransitionTime?.getTime()).toBe(Math.floor(h.clock.now() / 1000) * 1000);
    expect(gauges['pending_resizes{whatever}']).toBe(1);
    expect([manager.resizes.isPodResizeDeferred(uid), manager.resizes.isPodResizeInfeasible(uid)]).toEqual([false, false]);
  });

  it('overwrites what was there', () => {
    const { manager } = started();
    manager.resizes.setPodResizeInProgressCondition(uid, 'Error', 'no', 7);
    manager.resizes.backfillPodResizeConditions([stored(1, inProgress(1))]);
    expect(untimed(manager.resizes.getPodResizeConditions(uid))).toEqual([inProgress(1)]);
  });
});

describe('the end of a pod', () => {
  it('takes the conditions of pods that are not known any more, of those never cached too', () => {
    const { manager, gauges } = started();
    manager.setPodStatus(numberedPod(1), { phase: 'Running' });
    for (const podUID of [uid, 'uid-2', 'uid-3']) manager.resizes.setPodResizeInProgressCondition(podUID, '', '', 1);
    manager.removeOrphanedStatuses(new Set(['uid-3']));
    expect([uid, 'uid-2', 'uid-3'].map((podUID) => manager.resizes.getPodResizeConditions(podUID).length)).toEqual([0, 0, 1]);
    expect(gauges.in_progress_resizes).toBe(1);
  });

  it('takes the conditions with the entry when the pod was deleted', async () => {
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

describe('what is handed out and taken in', () => {
  it('hands out frozen copies that no later call changes', () => {
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
    ['no negative generation', [uid, 'Deferred', '', -1], 'observedGeneration'],
  ])('insists on %s', (_, args, name) => {
    const { manager, metrics } = started();
    const rule = expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message: expect.stringContaining(`\`${name}\``) });
    expect(() => Reflect.apply(manager.resizes.setPodResizePendingCondition, manager.resizes, args)).toThrow(rule);
    expect(() => Reflect.apply(manager.resizes.setPodResizeInProgressCondition, manager.resizes, args)).toThrow(rule);
    expect(metrics.sets).toBe(0);
  });

  it('refuses a backfill with a pod without a uid as a whole', () => {
    const { manager } = started();
    const pod: WirePod = { ...numberedPod(1), status: { conditions: [inProgress(1) as WirePodCondition] } };
    const refusal = expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message: expect.stringContaining('pods[1]') });
    expect(() => manager.resizes.backfillPodResizeConditions([pod, {}])).toThrow(refusal);
    expect(manager.resizes.getPodResizeConditions(uid)).toEqual([]);
    expect(() => manager.resizes.backfillPodResizeConditions({} as never)).toThrow('`pods` to be a list of pods');
  });

  it('answers questions, and refuses changes, once the manager is stopped', async () => {
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
