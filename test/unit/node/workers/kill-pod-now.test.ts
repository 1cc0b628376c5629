import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { pod, World } from './workers-world.ts';

function outcomeOf(promise: Promise<void>): string[] {
  const outcome: string[] = [];
  promise.then(
    () => outcome.push('killed'),
    (error) => outcome.push(error.code),
  );
  return outcome;
}

describe('killPodNow', () => {
  it('resolves once no container of the pod runs, and leaves no timer', async () => {
    const world = new World();
    const status: { reason?: string } = {};
    const podStatusFn = (given: object) => void Object.assign(given, { reason: 'Evicted' });
    const outcome = outcomeOf(world.workers.killPodNow(pod('u1'), { evict: true, gracePeriodSeconds: 5, podStatusFn }));
    await settle();
    expect(world.takeLog()).toEqual(['terminating u1 5 1 Evicted']);
    expect(status).toEqual({});
    await world.end('u1');
    expect(outcome).toEqual(['killed']);
    expect(world.clock.pendingTimers).toBe(0);
    expect(world.workers.shouldPodContentBeRemoved('u1')).toBe(true);
  });

  it.each([
    [{}, 10],
    [{ gracePeriodSeconds: 6 }, 10],
    [{ gracePeriodSeconds: 21 }, 31],
  ])('with %j gives up after %i s, with an event', async (options, seconds) => {
    const world = new World();
    const outcome = outcomeOf(world.workers.killPodNow(pod('u1'), options));
    await world.clock.advance(seconds * 1000 - 1);
    expect(outcome).toEqual([]);
    await world.clock.advance(1);
    expect(outcome).toEqual(['ERR_KILL_TIMEOUT']);
    expect(world.events).toEqual([
      'Warning ExceededGracePeriod Container runtime did not kill the pod within specified grace period.',
    ]);
    expect(world.open.get('u1')?.signal.aborted).toBe(false);
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('waits for the pod’s own grace period where nobody gives one', async () => {
    const world = new World();
    const outcome = outcomeOf(world.workers.killPodNow(pod('u1', { terminationGracePeriodSeconds: 30 })));
    await world.clock.advance(44_999);
    expect(outcome).toEqual([]);
    await world.clock.advance(1);
    expect(outcome).toEqual(['ERR_KILL_TIMEOUT']);
  });

  it('gives up at no time beyond what a timer can hold', async () => {
    const world = new World();
    const outcome = outcomeOf(world.workers.killPodNow(pod('u1'), { gracePeriodSeconds: Number.MAX_SAFE_INTEGER }));
    await world.clock.advance(86_400_000);
    expect(outcome).toEqual([]);
  });

  it('of a pod that is over resolves at once, or times out where the agent wants the kubelet’s ways', async () => {
    for (const exactlyAsKubelet of [false, true]) {
      const world = new World({ exactlyAsKubelet });
      world.isQuick = true;
      await world.update('kill', pod('u1'));
      const outcome = outcomeOf(world.workers.killPodNow(pod('u1')));
      await world.clock.advance(10_000);
      expect(outcome).toEqual([exactlyAsKubelet ? 'ERR_KILL_TIMEOUT' : 'killed']);
    }
  });

  it('rejects when the workers are stopped, and leaves no timer', async () => {
    const world = new World();
    const outcome = outcomeOf(world.workers.killPodNow(pod('u1'), { gracePeriodSeconds: 60 }));
    await settle();
    const stopped = world.workers.stop({ timeoutMs: 100 });
    await settle();
    expect(outcome).toEqual(['ERR_STOPPED']);
    await world.clock.advance(100);
    expect(await stopped).toEqual({ unsettled: ['u1'] });
    expect(world.clock.pendingTimers).toBe(0);
    await expect(world.workers.killPodNow(pod('u1'))).rejects.toMatchObject({ code: 'ERR_STOPPED' });
  });

  it.each([
    [undefined, {}],
    [{}, {}],
    [pod('u1'), null],
    [pod('u1'), { gracePeriodSeconds: -1 }],
    [pod('u1'), { podStatusFn: 'reason' }],
    [pod('u1'), { gracePeriod: 5 }],
    [pod('u1'), { completed: () => {} }],
  ])('rejects arguments that break a rule: %j, %j', async (given, options) => {
    const { workers } = new World();
    await expect(workers.killPodNow(given as never, options as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' });
  });
});
