import { expect, it } from 'vitest';
import { guardedProvider } from '../../../../src/fleet/nodes/guarded-provider.ts';
import type { PodProvider } from '../../../../src/node/provider/pod-provider.ts';

it('a member that does not own a node any more neither takes its pods over nor changes them, and still lets go of them', () => {
  const calls: string[] = [];
  const provider = Object.fromEntries(
    ['adopt', 'createPod', 'updatePod', 'deletePod', 'getPodStatus', 'getPods', 'release'].map((name) => [
      name,
      () => void calls.push(name),
    ]),
  ) as unknown as Required<Pick<PodProvider, 'adopt' | 'updatePod' | 'getPods' | 'release'>> & PodProvider;
  let isOwner = true;
  const guarded = guardedProvider(provider, () => {
    if (!isOwner) throw new Error('no longer');
  }) as typeof provider;
  const call = { signal: new AbortController().signal };
  const pod = { metadata: { uid: '1', name: 'web', namespace: 'default' }, spec: { containers: [] } };
  guarded.adopt([pod], call);
  expect(calls).toEqual(['adopt']);
  isOwner = false;
  for (const change of [
    () => guarded.adopt([pod], call),
    () => guarded.createPod(pod, call),
    () => guarded.updatePod(pod, call),
    () => guarded.deletePod(pod, { ...call, gracePeriodSeconds: 1 }),
  ]) {
    expect(change).toThrow('no longer');
  }
  void guarded.getPodStatus(pod, call);
  void guarded.getPods(call);
  guarded.release(call);
  expect(calls).toEqual(['adopt', 'getPodStatus', 'getPods', 'release']);
  expect('notifyPods' in guarded).toBe(false);
});
