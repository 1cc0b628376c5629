import { describe, expect, it } from 'vitest';
import type { WirePodStatus } from '../../../../src/api/json/types.ts';
import type { SyncTerminatedPodRequest, SyncTerminatingPodRequest } from '../../../../src/node/workers/pod-syncer.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { pod, World } from './workers-world.ts';

const evict = (status: WirePodStatus): void => {
  Object.assign(status, { phase: 'Failed', reason: 'Evicted' });
};

/** Workers of a syncer that stores the pod's status at the end of its call, as most do. */
function storingWorld(exactlyAsKubelet: boolean) {
  const stored: WirePodStatus[] = [];
  const given: SyncTerminatingPodRequest['podStatusFn'][] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const world = new World(
    { exactlyAsKubelet },
    {
      syncTerminatingPod: async ({ podStatusFn }: SyncTerminatingPodRequest) => {
        given.push(podStatusFn);
        await ended;
        const status: WirePodStatus = {};
        podStatusFn?.(status);
        stored.push(status);
      },
    },
  );
  world.isQuick = true;
  return { world, stored, given, end };
}

describe('the function that changes the status of a pod that ends', () => {
  it.each([
    [false, { phase: 'Failed', reason: 'Evicted' }],
    [true, {}],
  ])('holds for the last status, but exactly as the kubelet’s (%j), and none given after the end does', async (exactly, expected) => {
    const last: WirePodStatus[] = [];
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const world = new World(
      { exactlyAsKubelet: exactly },
      {
        syncTerminatedPod: async ({ podStatusFn }: SyncTerminatedPodRequest) => {
          await held;
          const status: WirePodStatus = {};
          podStatusFn?.(status);
          last.push(status);
        },
      },
    );
    world.isQuick = true;
    await world.update('kill', pod('u1'), { podStatusFn: evict });
    await world.update('sync', pod('u1'));
    await world.update('kill', pod('u1'), { podStatusFn: (status) => Object.assign(status, { reason: 'too late' }) });
    release();
    await settle();
    expect(last).toEqual([expected]);
  });

  it.each([
    [false, [{ phase: 'Failed', reason: 'Evicted' }]],
    [true, [{}]],
  ])('counts also where it comes while the pod is ended already, but exactly as the kubelet’s (%j)', async (exactly, expected) => {
    const { world, stored, end } = storingWorld(exactly);
    await world.update('kill', pod('u1'));
    const killed = world.workers.killPodNow(pod('u1'), { evict: true, podStatusFn: evict });
    await settle();
    expect(stored).toEqual([]);
    end();
    await killed;
    expect(stored).toEqual(expected);
  });

  it.each([
    [false, [{ phase: 'Failed', reason: 'Evicted' }]],
    [true, [{ reason: 'first' }]],
  ])('is the last one given, but exactly as the kubelet’s (%j)', async (exactly, expected) => {
    const { world, stored, end } = storingWorld(exactly);
    const first = (status: WirePodStatus): void => {
      Object.assign(status, { reason: 'first' });
    };
    await world.update('kill', pod('u1'), { podStatusFn: first });
    await world.update('kill', pod('u1'), { podStatusFn: evict });
    end();
    await settle();
    expect(stored).toEqual(expected);
  });

  it('changes nothing where nobody has given one, and none is there exactly as the kubelet’s', async () => {
    for (const exactly of [false, true]) {
      const { world, stored, given, end } = storingWorld(exactly);
      await world.update('kill', pod('u1'));
      end();
      await settle();
      expect([stored, typeof given[0]]).toEqual([[{}], exactly ? 'undefined' : 'function']);
    }
  });
});
