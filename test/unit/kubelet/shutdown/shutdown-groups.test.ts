import { describe, expect, it } from 'vitest';
import {
  gracePeriodSeconds,
  requireShutdownPeriods,
  type ShutdownSettings,
  shortened,
  shutdownGroups,
  shutdownPeriods,
  wholePeriodMs,
} from '../../../../src/kubelet/shutdown/shutdown-groups.ts';
import { buildPod } from '../../../../src/testing.ts';

const none: ShutdownSettings = {
  shutdownGracePeriodMs: 0,
  shutdownGracePeriodCriticalPodsMs: 0,
  shutdownGracePeriodByPodPriority: [],
};
const period = (priority: number, shutdownGracePeriodSeconds = 10) => ({ priority, shutdownGracePeriodSeconds });
const pod = (name: string, priority?: number) => buildPod({ metadata: { name }, spec: { priority } } as object);

describe('the groups in which pods end at a shutdown', () => {
  it('are none without a setting', () => {
    expect(shutdownPeriods(none)).toEqual([]);
  });

  it('are the critical pods and all others, where only times are given', () => {
    const settings = { ...none, shutdownGracePeriodMs: 30_000, shutdownGracePeriodCriticalPodsMs: 10_000 };
    expect(shutdownPeriods(settings)).toEqual([period(0, 20), period(2_000_000_000, 10)]);
    expect(wholePeriodMs(shutdownPeriods(settings))).toBe(30_000);
    expect(shutdownPeriods({ ...none, shutdownGracePeriodMs: 2500 })).toEqual([period(0, 2), period(2_000_000_000, 0)]);
  });

  it('are those of the list otherwise, the lowest priority first', () => {
    const shutdownGracePeriodByPodPriority = [period(100), period(-5), period(7)];
    expect(shutdownPeriods({ ...none, shutdownGracePeriodByPodPriority }).map(({ priority }) => priority)).toEqual([-5, 7, 100]);
  });

  it('have each pod in the highest group that is not above it, and those below all in the lowest', () => {
    const pods = [-9, -5, -1, 0, 6, 7, 8, 99, 100, 2_000_001_000].map((priority) => pod(`p${priority}`, priority));
    const groups = shutdownGroups([period(-5), period(7), period(100)], [...pods, pod('plain')]);
    expect(groups.map((group) => group.pods.map(({ metadata }) => metadata?.name))).toEqual([
      ['p-9', 'p-5', 'p-1', 'p0', 'p6', 'plain'],
      ['p7', 'p8', 'p99'],
      ['p100', 'p2000001000'],
    ]);
  });

  it('give a pod no more than its own grace period', () => {
    const withGrace = (seconds?: number) => buildPod({ spec: { terminationGracePeriodSeconds: seconds } } as object);
    const times = [undefined, 0, 5, 10, 30].map((seconds) => gracePeriodSeconds(withGrace(seconds), period(0, 10)));
    expect(times).toEqual([10, 0, 5, 10, 10]);
  });

  it('share what the machine waits, where that is less', () => {
    const periods = [period(0, 20), period(100, 10)];
    expect(shortened(periods, 30_000)).toBe(periods);
    expect(shortened(periods, 15_000)).toEqual([period(0, 10), period(100, 5)]);
    expect(shortened(periods, 0)).toEqual([period(0, 0), period(100, 0)]);
  });

  it.each([
    [1000, [0, 0, 1]],
    [2000, [1, 0, 1]],
    [5000, [3, 0, 2]],
    [7500, [5, 0, 2]],
    [55_000, [36, 4, 15]],
    [59_999, [39, 4, 16]],
  ])('with %d ms in place of 60 s have what is left over for the highest priorities', (atMostMs, seconds) => {
    const periods = [period(0, 40), period(100, 4), period(2_000_000_000, 16)];
    const fitting = shortened(periods, atMostMs);
    expect(fitting.map(({ shutdownGracePeriodSeconds }) => shutdownGracePeriodSeconds)).toEqual(seconds);
    expect(wholePeriodMs(fitting)).toBe(Math.trunc(atMostMs / 1000) * 1000);
  });

  it.each<[string, Partial<Record<keyof ShutdownSettings, unknown>>]>([
    ['`shutdownGracePeriodMs` to be a number from 0', { shutdownGracePeriodMs: -1 }],
    ['`shutdownGracePeriodMs` to be 0, or at least 1000, got 999', { shutdownGracePeriodMs: 999 }],
    [
      '`shutdownGracePeriodCriticalPodsMs` to be 0, or at least',
      { shutdownGracePeriodMs: 5000, shutdownGracePeriodCriticalPodsMs: 1 },
    ],
    ['`shutdownGracePeriodCriticalPodsMs` to be at most shutdown', { shutdownGracePeriodCriticalPodsMs: 1000 }],
    ['`shutdownGracePeriodByPodPriority` to be a list', { shutdownGracePeriodByPodPriority: {} }],
    [
      'to be left out where shutdownGracePeriodMs is given',
      { shutdownGracePeriodMs: 1000, shutdownGracePeriodByPodPriority: [period(0)] },
    ],
    ['Priority[0].priority` to be an integer', { shutdownGracePeriodByPodPriority: [{ shutdownGracePeriodSeconds: 1 }] }],
    ['Priority[1].priority` to be a number from', { shutdownGracePeriodByPodPriority: [period(0), period(2 ** 31)] }],
    ['Priority[0].shutdownGracePeriodSeconds` to be an integer from 0', { shutdownGracePeriodByPodPriority: [period(0, -1)] }],
    ['Priority[0].grace` to be absent', { shutdownGracePeriodByPodPriority: [{ ...period(0), grace: 1 }] }],
    ['Priority[0]` to be an object', { shutdownGracePeriodByPodPriority: [null] }],
    ['to be at most 1073741 s in all, got 2000000', { shutdownGracePeriodByPodPriority: [period(0, 1e6), period(1, 1e6)] }],
  ])('are refused with the rule: %s', (message, settings) => {
    expect(() => requireShutdownPeriods({ ...none, ...settings } as ShutdownSettings)).toThrow(message);
  });

  it('take what a kubelet takes', () => {
    requireShutdownPeriods({ ...none, shutdownGracePeriodMs: 60_000, shutdownGracePeriodCriticalPodsMs: 60_000 });
    const shutdownGracePeriodByPodPriority = [period(-(2 ** 31), 0), period(2_000_000_000), period(2_000_000_000)];
    requireShutdownPeriods({ ...none, shutdownGracePeriodByPodPriority });
    expect(shutdownPeriods({ ...none, shutdownGracePeriodByPodPriority })).toHaveLength(3);
  });
});
