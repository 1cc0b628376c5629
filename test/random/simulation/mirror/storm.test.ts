import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { type MirrorMutant, storm } from './storm.ts';
import type { Fault } from './storm-server.ts';

const seeds = Array.from({ length: 150 }, (_, index) => index + 1);
const seedsOfAMutant = 40;

const mutants: readonly MirrorMutant[] = [
  {
    name: 'deletes whatever has the name',
    options: ({ mirrorPodClient: client }) => ({
      mirrorPodClient: {
        createMirrorPod: (pod, call) => client.createMirrorPod(pod, call),
        deleteMirrorPod: (name, _uid, call) => client.deleteMirrorPod(name, undefined, call),
        getMirrorPod: (name, call) => client.getMirrorPod(name, call),
      },
    }),
  },
  { name: 'never deletes orphans', options: () => ({ isPodTerminating: () => true }) },
  {
    name: 'forgets to try again',
    options: ({ clock = systemClock }) => ({
      clock: {
        now: () => clock.now(),
        setTimer: (callback, delayMs, options) =>
          delayMs === 10_000 || delayMs === 30_000 ? clock.setTimer(callback, delayMs, options) : () => {},
      },
    }),
  },
  {
    name: 'takes the first list for granted',
    options: () => ({ podSource: { lastListedAt: () => 0 } }),
  },
  {
    name: 'hears of no change',
    options: ({ podManager }) => ({
      podManager: {
        getPodsAndMirrorPods: (() => {
          const before = podManager.getPodsAndMirrorPods();
          return () => before;
        })(),
        getPodByUID: (uid) => podManager.getPodByUID(uid),
        getMirrorPodByPod: (pod) => podManager.getMirrorPodByPod(pod),
        subscribe: () => () => {},
      },
    }),
  },
  {
    name: 'takes a taken name for a mirror pod',
    options: ({ mirrorPodClient: client }) => ({
      mirrorPodClient: {
        createMirrorPod: async (pod, call) => {
          const result = await client.createMirrorPod(pod, call);
          if (result.outcome !== 'alreadyExists') return result;
          const { name, namespace, annotations } = pod.metadata ?? {};
          const metadata = { name, namespace, annotations: { ...annotations }, uid: 'unknown' };
          metadata.annotations['kubernetes.io/config.mirror'] = annotations?.['kubernetes.io/config.hash'] ?? '';
          return { outcome: 'created', mirrorPod: { metadata } as never };
        },
        deleteMirrorPod: (name, uid, call) => client.deleteMirrorPod(name, uid, call),
        getMirrorPod: () => new Promise(() => {}),
      },
    }),
  },
];

describe('a mirror pod reconciler in a storm', () => {
  it('ends with one mirror pod of each static pod, and has deleted no other pod, with every seed', async () => {
    const met = new Map<Fault, number>();
    let requests = 0;
    for (const seed of seeds) {
      const result = await storm(seed);
      expect(result.broken, `seed ${seed}`).toEqual([]);
      for (const [fault, count] of result.met) met.set(fault, (met.get(fault) ?? 0) + count);
      requests += result.requests;
    }
    console.log(`mirror storms: ${seeds.length} seeds, ${requests} requests, ${JSON.stringify(Object.fromEntries(met))}`);
    for (const fault of [
      'lost',
      'answerLost',
      'hangs',
      'straggles',
      'answer403',
      'answer409',
      'answer429',
      'answer500',
    ] as const) {
      expect(met.get(fault) ?? 0, fault).toBeGreaterThan(20);
    }
    // a storm of 60 deeds: a reconciler that does not know when to stop would send many times as many
    expect(requests / seeds.length).toBeLessThan(400);
  });

  it.each(mutants)('is found broken when it $name', async (mutant) => {
    for (let seed = 1; seed <= seedsOfAMutant; seed++) {
      const { broken } = await storm(seed, { mutant });
      if (broken.length > 0) return;
    }
    expect.unreachable(`${mutant.name}: not found with ${seedsOfAMutant} seeds`);
  });
});
