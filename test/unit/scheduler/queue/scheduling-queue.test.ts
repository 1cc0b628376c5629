import { describe, expect, it } from 'vitest';
import type { Plugin } from '../../../../src/scheduler/framework/plugin.ts';
import { nodeAdd } from '../../../../src/scheduler/queue/cluster-event.ts';
import { giveBack, node, nodeWaiter, pod, queueOf } from './queue-world.ts';

const queues = (name: string): string => (name === 'good' ? 'Queue' : 'Skip');

describe('a scheduling queue', () => {
  it('gives the most important pod first, and of equal ones the one that came first', async () => {
    const { queue, clock } = queueOf();
    for (const [uid, priority] of [
      ['a', 0],
      ['b', 10],
      ['c', 0],
      ['d', 10],
    ] as const) {
      queue.add(pod(uid, { priority }));
      await clock.advance(1);
    }
    expect([1, 2, 3, 4, 5].map(() => queue.pop()?.podInfo.uid)).toEqual(['b', 'd', 'a', 'c', undefined]);
  });

  it('wakes its reader for a pod that can be tried, and not for one that is gated', () => {
    const { queue, woken } = queueOf();
    queue.add(pod('gated', { schedulingGates: [{ name: 'g' }] }));
    expect(woken).toEqual([]);
    expect(queue.counts()).toMatchObject({ active: 0, unschedulable: 0, gated: 1 });
    queue.update(pod('gated', {}, '2'));
    expect(woken).toHaveLength(1);
    expect(queue.pop()?.podInfo.pod.spec?.schedulingGates).toBeUndefined();
  });

  it('keeps a rejected pod until an event that its plugin waits for, also one that came while it was tried', () => {
    const { queue } = queueOf([nodeWaiter('w', queues), nodeWaiter('other', () => 'Queue')]);
    const see = (name: string): void => queue.see({ event: nodeAdd, before: undefined, after: node(name) });
    queue.add(pod('a'));
    queue.pop();
    see('good');
    giveBack(queue, 'a', 'w');
    expect(queue.placeOf('a')).toMatchObject({ place: 'backoff' });
    queue.pop();
    see('bad');
    giveBack(queue, 'a', 'w');
    expect(queue.placeOf('a')).toMatchObject({ place: 'unschedulable' });
    see('bad');
    expect(queue.placeOf('a')).toMatchObject({ place: 'unschedulable' });
    see('good');
    expect(queue.placeOf('a')).toMatchObject({ place: 'backoff', info: { attempts: 2, rejections: 2 } });
  });

  it('lets a pod whose attempt ended with an error wait for its back-off, whatever else there is to do', async () => {
    const { queue, clock } = queueOf();
    queue.add(pod('a'));
    queue.pop();
    giveBack(queue, 'a');
    expect(queue.pop()).toBeUndefined();
    await clock.advance(1999);
    expect(queue.pop()).toBeUndefined();
    await clock.advance(1);
    expect(queue.pop()?.podInfo.uid).toBe('a');
  });

  it('brings back the newest version of a pod, and none that has gone', () => {
    const { queue } = queueOf();
    queue.add(pod('a'));
    queue.add(pod('b'));
    queue.pop();
    queue.pop();
    queue.update(pod('a', {}, '2'));
    expect(giveBack(queue, 'a', 'w')?.pod.metadata?.resourceVersion).toBe('2');
    queue.delete('b');
    expect(giveBack(queue, 'b', 'w')).toBeUndefined();
    expect(queue.placeOf('b')).toBeUndefined();
    expect(queue.counts()).toMatchObject({ inFlight: 0, unschedulable: 1 });
  });

  it('does not try a pod twice at a time that is added again while it is tried', () => {
    const { queue } = queueOf();
    queue.add(pod('a'));
    queue.pop();
    queue.add(pod('a', {}, '2'));
    expect(queue.pop()).toBeUndefined();
    expect(giveBack(queue, 'a', 'w')?.pod.metadata?.resourceVersion).toBe('2');
  });

  it('tries a pod again that nothing has helped for five minutes', async () => {
    const { queue, clock } = queueOf([nodeWaiter('w', queues)]);
    await clock.advance(100);
    queue.add(pod('a'));
    queue.pop();
    giveBack(queue, 'a', 'w');
    await clock.advance(300_000);
    expect(queue.hasReady).toBe(false);
    await clock.advance(30_000);
    expect(queue.pop()?.podInfo.uid).toBe('a');
  });

  it.each([-3_600_000, 3_600_000])('lets pods wait as long as they have to when the clock is set by %i', async (ms) => {
    const { queue, clock } = queueOf();
    for (const uid of ['error', 'rejected']) queue.add(pod(uid));
    for (let i = 0; i < 2; i += 1) queue.pop();
    giveBack(queue, 'error');
    giveBack(queue, 'rejected', 'w');
    await clock.advance(10);
    clock.jump(ms);
    queue.add(pod('later'));
    expect(queue.counts()).toMatchObject({ active: 1, backoff: 1, unschedulable: 1 });
    await clock.advance(3000);
    expect(queue.counts()).toMatchObject({ active: 2, backoff: 0, unschedulable: 1 });
    // in the order in which they came
    expect([queue.pop(), queue.pop()].map((entry) => entry?.podInfo.uid)).toEqual(['error', 'later']);
    await clock.advance(330_000);
    expect(queue.pop()?.podInfo.uid).toBe('rejected');
  });

  it('has no timer while nothing waits, and none once it is closed', () => {
    const { queue, clock } = queueOf();
    expect(clock.pendingTimers).toBe(0);
    for (const uid of ['a', 'b']) queue.add(pod(uid));
    expect(clock.pendingTimers).toBe(0);
    for (let i = 0; i < 2; i += 1) queue.pop();
    giveBack(queue, 'a');
    giveBack(queue, 'b', 'w');
    expect(clock.pendingTimers).toBe(2);
    queue.close();
    expect(clock.pendingTimers).toBe(0);
    queue.add(pod('c'));
    queue.pop();
    giveBack(queue, 'c');
    expect(clock.pendingTimers).toBe(0);
  });

  it('knows no back-off where the longest is 0', () => {
    const { queue } = queueOf([], { initialMs: 1000, maxMs: 0 });
    queue.add(pod('a'));
    queue.pop();
    giveBack(queue, 'a');
    expect(queue.placeOf('a')).toMatchObject({ place: 'active', backoffEnd: undefined });
  });

  it('lets a pod be tried at once that somebody activates, unless it is gated', () => {
    const { queue } = queueOf();
    queue.add(pod('gated', { schedulingGates: [{ name: 'g' }] }));
    for (const uid of ['a', 'b', 'c']) queue.add(pod(uid));
    for (let i = 0; i < 3; i += 1) queue.pop();
    giveBack(queue, 'a');
    giveBack(queue, 'b', 'w');
    for (const uid of ['gated', 'a', 'b', 'c']) expect(queue.activate(uid)).toBe(true);
    expect(queue.activate('unknown')).toBe(false);
    expect(['gated', 'a', 'b'].map((uid) => queue.placeOf(uid)?.place)).toEqual(['unschedulable', 'active', 'active']);
    giveBack(queue, 'c', 'w');
    expect(queue.placeOf('c')?.place).toBe('backoff');
  });

  it('asks about a gated pod only where the plugin that gates it has asked for the event', () => {
    const gate: Plugin = { name: 'gate', eventsToRegister: () => [], preEnqueue: () => (isOpen ? undefined : closed) };
    const closed = { code: 'Unschedulable', reasons: ['closed'] } as const;
    let isOpen = false;
    const { queue } = queueOf([gate, nodeWaiter('w', queues)]);
    const see = (): void => queue.see({ event: nodeAdd, before: undefined, after: node('good') });
    queue.add(pod('a'));
    queue.activate('a');
    isOpen = true;
    see();
    expect(queue.placeOf('a')).toMatchObject({ place: 'unschedulable', info: { gatedBy: 'gate' } });
    // rejected by a plugin that waits for nodes, and gated only then
    queue.activate('a');
    queue.pop();
    giveBack(queue, 'a', 'w');
    isOpen = false;
    see();
    expect(queue.placeOf('a')).toMatchObject({ place: 'unschedulable', info: { gatedBy: 'gate' } });
    isOpen = true;
    see();
    expect(queue.placeOf('a')).toMatchObject({ place: 'unschedulable', info: { gatedBy: 'gate' } });
  });

  it('takes no notice of a version that it knows', () => {
    const { queue } = queueOf([{ name: 'w' }]);
    queue.add(pod('a'));
    queue.pop();
    giveBack(queue, 'a', 'w');
    queue.update(pod('a', { priority: 3 }));
    expect(queue.placeOf('a')).toMatchObject({ place: 'unschedulable', info: { podInfo: { priority: 0 } } });
    queue.update(pod('a', { priority: 3 }, '2'));
    expect(queue.placeOf('a')).toMatchObject({ place: 'backoff', info: { podInfo: { priority: 3 } } });
  });

  it('tries a pod at once that an event helps of which a plugin has said that it waits', () => {
    const { queue } = queueOf([nodeWaiter('w', queues), nodeWaiter('v', queues)]);
    queue.add(pod('a'));
    queue.pop();
    queue.giveBack('a', { unschedulablePlugins: ['v'], pendingPlugins: ['w'] });
    queue.see({ event: nodeAdd, before: undefined, after: node('good') });
    expect(queue.placeOf('a')?.place).toBe('active');
  });
});
