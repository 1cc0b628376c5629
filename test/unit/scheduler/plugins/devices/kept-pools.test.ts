import { describe, expect, it } from 'vitest';
import { type ApiObject, resources } from '../../../../../src/client/resources/api-resource.ts';
import { ClaimAllocator } from '../../../../../src/scheduler/devices/claim-allocator.ts';
import type { ResourceSlice } from '../../../../../src/scheduler/devices/device-types.ts';
import { CycleState } from '../../../../../src/scheduler/framework/cycle-state.ts';
import { createPodInfo } from '../../../../../src/scheduler/nodes/pod-info.ts';
import { devicesNamed, poolOf, sliceOf } from '../../devices/devices-world.ts';
import { ClaimWorld, claimOf, podWith } from './claim-world.ts';

const names = ['n1', 'n2', 'n3'];

/** A pool of one slice, which is the node's. */
function ownSlice(node: string, more: Partial<ResourceSlice['spec']> = {}): ResourceSlice {
  return sliceOf(`of-${node}`, devicesNamed('a'), { pool: poolOf(node), nodeName: node, ...more });
}

/** A claim for one device that waits for it. */
function gpuClaim(name: string) {
  const claim = claimOf(name);
  const exactly = { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 1 };
  return { ...claim, spec: { devices: { requests: [{ name: 'one', exactly }] } } };
}

/** Three nodes, whose devices are those of the slices, and one claim. */
function worldWith(...slices: readonly ResourceSlice[]): ClaimWorld {
  return new ClaimWorld(
    { resourceClaims: [gpuClaim('c')], resourceSlices: slices },
    {
      nodes: names,
      allocate: (needs, node, claims) => {
        const selectors = { matches: () => true };
        return new ClaimAllocator({ ...needs, selectors, shareId: () => 'share' }).allocate({ metadata: { name: node } }, claims);
      },
    },
  );
}

/** The nodes where the claim can be had. */
function fitting(world: ClaimWorld): readonly string[] {
  const failed = world.judge(podWith('p', 'c'));
  if (typeof failed !== 'object' || failed === null) throw new Error(String(failed));
  return names.filter((name) => !(name in failed));
}

/** The watch brings the slice. */
function bring(world: ClaimWorld, slice: ResourceSlice): void {
  world.objects.set(resources.resourceSlices, slice as unknown as ApiObject);
}

describe('the pools of devices', () => {
  it('are read once for all attempts, and after a change only where it was', () => {
    const reads = new Map<string, number>();
    const counted = (node: string): ResourceSlice => {
      const slice = ownSlice(node);
      const { devices } = slice.spec;
      const spec = Object.defineProperty({ ...slice.spec }, 'devices', {
        enumerable: true,
        get: () => {
          reads.set(node, (reads.get(node) ?? 0) + 1);
          return devices;
        },
      });
      return { ...slice, spec };
    };
    const world = worldWith(...names.map(counted));
    expect(fitting(world)).toEqual(names);
    const first = new Map(reads);
    expect([...first.keys()]).toEqual(names);
    for (let attempt = 0; attempt < 20; attempt++) fitting(world);
    expect(reads).toEqual(first);
    bring(world, counted('n2'));
    for (let attempt = 0; attempt < 20; attempt++) fitting(world);
    expect(reads.get('n2')).toBeLessThanOrEqual(3 * (first.get('n2') ?? 0));
    expect(reads.get('n2')).toBeGreaterThan(first.get('n2') ?? 0);
    expect([reads.get('n1'), reads.get('n3')]).toEqual([first.get('n1'), first.get('n3')]);
  });

  it('are not made before a pod needs them', () => {
    const broken = { metadata: { name: 'broken' }, spec: {} } as ResourceSlice;
    const world = worldWith(broken);
    expect(world.judge(podWith('q'))).toBe('skip');
    expect(() => fitting(world)).toThrow(TypeError);
  });

  it('are those of the slices as they are when the next pod is tried', () => {
    const world = worldWith(ownSlice('n1'));
    expect(fitting(world)).toEqual(['n1']);
    bring(world, ownSlice('n2'));
    expect(fitting(world)).toEqual(['n1', 'n2']);
    bring(world, ownSlice('n2', { nodeName: 'n3' }));
    expect(fitting(world)).toEqual(['n1', 'n3']);
    bring(world, ownSlice('n1', { devices: [] }));
    expect(fitting(world)).toEqual(['n3']);
    world.objects.delete(resources.resourceSlices, undefined, 'of-n2');
    expect(fitting(world)).toEqual([]);
    bring(world, ownSlice('n1'));
    expect(fitting(world)).toEqual(['n1']);
  });

  it('are of a new generation from the moment in which it is known, and whole once it is', () => {
    const everywhere = (name: string, count: number, generation: number) =>
      sliceOf(name, devicesNamed(name), { pool: poolOf('p', count, generation), allNodes: true });
    const world = worldWith(everywhere('x', 1, 1));
    expect(fitting(world)).toEqual(names);
    bring(world, everywhere('y', 2, 2));
    expect(fitting(world)).toEqual([]);
    bring(world, everywhere('x', 2, 2));
    expect(fitting(world)).toEqual(names);
    world.objects.delete(resources.resourceSlices, undefined, 'y');
    expect(fitting(world)).toEqual([]);
    bring(world, everywhere('y', 2, 1));
    bring(world, everywhere('x', 1, 3));
    expect(fitting(world)).toEqual(names);
  });

  it('have the taints that a slice has got', () => {
    const taints = [{ key: 'broken', effect: 'NoSchedule' }];
    const world = worldWith(ownSlice('n1'));
    expect(fitting(world)).toEqual(['n1']);
    bring(world, ownSlice('n1', { devices: [{ name: 'a', taints }] }));
    expect(fitting(world)).toEqual([]);
  });

  it('are the newest also for an attempt that has begun before', () => {
    const world = worldWith(ownSlice('n1'), ownSlice('n2'));
    const [state, info] = [new CycleState(), createPodInfo(podWith('p', 'c'))];
    const snapshot = world.snapshot();
    expect(world.plugin.preFilter?.(state, info, snapshot)).toBeUndefined();
    // other attempts of this one wait for an extender here
    world.objects.delete(resources.resourceSlices, undefined, 'of-n1');
    bring(world, ownSlice('n3'));
    const failed = snapshot.nodes.filter((node) => world.plugin.filter?.(state, info, node) !== undefined);
    expect(failed.map(({ name }) => name)).toEqual(['n1']);
  });

  it('come back after a slice that cannot be read, also for an attempt that has begun before', () => {
    const world = worldWith(ownSlice('n1'), ownSlice('n2'));
    const [state, info] = [new CycleState(), createPodInfo(podWith('p', 'c'))];
    const snapshot = world.snapshot();
    expect(world.plugin.preFilter?.(state, info, snapshot)).toBeUndefined();
    const broken = { metadata: { name: 'of-n1' }, spec: {} } as ResourceSlice;
    expect(() => bring(world, broken)).toThrow(TypeError);
    expect(() => fitting(world)).toThrow(TypeError);
    bring(world, ownSlice('n1', { devices: [] }));
    expect(fitting(world)).toEqual(['n2']);
    const failed = snapshot.nodes.filter((node) => world.plugin.filter?.(state, info, node) !== undefined);
    expect(failed.map(({ name }) => name)).toEqual(['n1', 'n3']);
  });
});
