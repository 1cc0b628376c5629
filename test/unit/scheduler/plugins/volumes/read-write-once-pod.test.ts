import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../../src/api/json/types.ts';
import { CycleState } from '../../../../../src/scheduler/framework/cycle-state.ts';
import { createPodInfo } from '../../../../../src/scheduler/nodes/pod-info.ts';
import { volumeRestrictions } from '../../../../../src/scheduler/plugins/volumes/volume-restrictions.ts';
import { boundClaim, podWith, VolumeWorld, zoneNode } from './volume-world.ts';

const inUse = 'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod';
const claims = ['c', 'e'].map((name) => boundClaim(name, `pv-${name}`, { accessModes: ['ReadWriteOncePod'] }));
const world = new VolumeWorld(
  { persistentVolumeClaims: [...claims, boundClaim('shared', 'pv-shared')] },
  { factory: volumeRestrictions, nodes: [zoneNode('n1'), zoneNode('n2')] },
);
const elsewhere = (pod: WirePod): WirePod => ({ ...pod, metadata: { ...pod.metadata, namespace: 'other' } });

describe('a claim that only one pod may use', () => {
  it('is free where no pod has it', () => {
    expect(world.judge(podWith('p', 'c'))).toBe('skip');
    expect(world.judge(podWith('p', 'shared'), { n1: [podWith('user', 'shared')] })).toBe('skip');
    expect(world.judge(podWith('p', 'c'), { n1: [elsewhere(podWith('user', 'c'))] })).toBe('skip');
  });

  it('is in use on every node where a pod on one has it', () => {
    expect(world.judge(podWith('p', 'c'), { n2: [podWith('user', 'c')] })).toEqual({ n1: inUse, n2: inUse });
  });

  it('is looked for only where it is there', () => {
    expect(world.judge(podWith('p', 'c', 'gone'))).toBe('persistentvolumeclaim "gone" not found');
  });

  /** Whether the node is free once these pods are gone, meanwhile for who did not ask that, and once they are back. */
  function without(pod: WirePod, users: readonly WirePod[], gone: readonly WirePod[]): readonly boolean[] {
    const state = new CycleState();
    world.judge(pod, { n1: users }, state);
    const [node] = world.snapshot({ n1: users }).nodes as [never];
    const info = createPodInfo(pod);
    const whatIf = state.clone();
    const isFree = (of: CycleState): boolean => world.plugin.filter?.(of, info, node) === undefined;
    for (const one of gone) world.plugin.removePod?.(whatIf, info, createPodInfo(one), node);
    const free = [isFree(whatIf), isFree(state)];
    for (const one of gone) world.plugin.addPod?.(whatIf, info, createPodInfo(one), node);
    return [...free, isFree(whatIf)];
  }

  it('is free once the pod that has it is gone, and that is asked of a copy', () => {
    const user = podWith('user', 'c');
    expect(without(podWith('p', 'c'), [user], [user])).toEqual([true, false, false]);
  });

  it('is free only once all pods are gone that have one of the claims', () => {
    const users = [podWith('user', 'c'), podWith('other', 'e')];
    expect(without(podWith('p', 'c', 'e'), users, users.slice(0, 1))).toEqual([false, false, false]);
    expect(without(podWith('p', 'c', 'e'), users, users)).toEqual([true, false, false]);
  });

  it('counts once where the pod names it twice', () => {
    const user = podWith('user', 'c');
    expect(without(podWith('p', 'c', 'c'), [user], [user])).toEqual([true, false, false]);
  });

  it('is not freed by a pod of another namespace with a claim of that name', () => {
    expect(without(podWith('p', 'c'), [podWith('user', 'c')], [elsewhere(podWith('other', 'c'))])).toEqual([false, false, false]);
  });
});
