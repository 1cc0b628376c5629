import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PodAllocations } from '../../../../src/kubelet/resize/pod-allocations.ts';
import { buildPod } from '../../../../src/testing.ts';
import { both, container, podOf, resizeWorld } from './resize-harness.ts';

const small = podOf(1, container('app', both(100, 20)));
const large = podOf(2, container('app', both(200, 40)));
const uid = 'uid-of-web';
const noRoom = { admit: false, reason: 'OutOfcpu', message: 'no room' } as const;

describe('what a pod has been given', () => {
  it('is what its spec asks for, as the same object, until it was admitted and its spec changes', async () => {
    const { allocations } = await resizeWorld();
    expect(allocations.allocated(small)).toBe(small);
    allocations.add(small);
    expect(allocations.allocated(small)).toBe(small);
    expect(allocations.allocated(large)).toMatchObject({
      metadata: { generation: 2 },
      spec: { containers: [{ name: 'app', resources: both(100, 20) }] },
    });
  });

  it('outlives the process, and is not taken back by a second admission', async () => {
    const { allocations, options } = await resizeWorld();
    allocations.add(small);
    const next = new PodAllocations(options);
    next.add(large);
    expect(next.allocated(large).spec?.containers[0]?.resources).toEqual(both(100, 20));
  });

  it('costs a pod of many containers no more than their number: its file is written once and added to', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `c${index}`);
    const { allocations, options } = await resizeWorld();
    allocations.add(podOf(1, ...names.map((name) => container(name, both(100, 20)))));
    const file = join(options.folder, `${uid}.json`);
    const { ino, size } = statSync(file);
    for (const name of names) allocations.setActuated(uid, name, both(100, 20));
    const after = statSync(file);
    expect(after.ino).toBe(ino);
    expect(after.size).toBeLessThan(3 * size);
    const next = new PodAllocations(options);
    expect(Object.keys(next.actuated(uid).containers)).toEqual(names);
  });

  it('is written anew before its file grows without end, and where its end was cut off', async () => {
    const { allocations, options } = await resizeWorld();
    allocations.add(small);
    const file = join(options.folder, `${uid}.json`);
    for (let memory = 1; memory <= 1000; memory += 1) allocations.setActuated(uid, 'app', both(100, memory));
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThanOrEqual(101);
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n{"app":{"requ`);
    const next = new PodAllocations(options);
    expect(next.actuated(uid).containers.app).toEqual(both(100, 1000));
    next.setActuated(uid, 'app', both(200, 2));
    expect(new PodAllocations(options).actuated(uid).containers.app).toEqual(both(200, 2));
    expect(new PodAllocations(options).allocated(large).spec?.containers[0]?.resources).toEqual(both(100, 20));
  });

  it('is forgotten with the pod, on the disk as well', async () => {
    const { allocations, options } = await resizeWorld();
    allocations.add(small);
    allocations.add(buildPod({ metadata: { name: 'other' } }));
    allocations.remove(uid);
    allocations.retain(new Set());
    expect(await readdir(options.folder)).toEqual([]);
    expect(allocations.allocated(large)).toBe(large);
  });

  it('is the spec’s own where a file holds something else, and a uid of a manifest names no other folder', async () => {
    const { allocations, options } = await resizeWorld();
    const hostile = buildPod({ metadata: { name: 'web', uid: '../../escape' } });
    allocations.add(hostile);
    allocations.add(small);
    expect(await readdir(options.folder)).toEqual(['..%2F..%2Fescape.json', `${uid}.json`]);
    writeFileSync(join(options.folder, `${uid}.json`), '{"allocated":{"containers":[1]}}');
    expect(new PodAllocations(options).allocated(large)).toBe(large);
  });
});

describe('a resize', () => {
  it('is given when there is room, with a condition, an event and a sync', async () => {
    const { allocations, pods, events, synced, resizes } = await resizeWorld();
    allocations.add(small);
    pods.set(uid, large);
    allocations.update(large);
    expect(allocations.allocated(large)).toBe(large);
    expect(synced).toEqual(['web']);
    expect(resizes.getPodResizeConditions(uid)).toMatchObject([{ type: 'PodResizeInProgress', observedGeneration: 2 }]);
    expect(events).toEqual([
      'Normal ResizeStarted Pod resize started: {"containers":[{"name":"app","resources":' +
        '{"limits":{"cpu":"200m","memory":"40Mi"},"requests":{"cpu":"200m","memory":"40Mi"}}}],"generation":2}',
    ]);
  });

  it('waits while there is no room, told once, and is given as soon as there is', async () => {
    let answer: typeof noRoom | { admit: true } = noRoom;
    const { allocations, pods, events, synced, resizes } = await resizeWorld({ admitResize: () => answer });
    allocations.add(small);
    pods.set(uid, large);
    allocations.update(large);
    allocations.retry();
    expect(resizes.isPodResizeDeferred(uid)).toBe(true);
    expect(allocations.hasPending).toBe(true);
    expect([synced.length, events.length]).toEqual([1, 1]);
    expect(events[0]).toContain('Warning ResizeDeferred Pod resize OutOfcpu: {"containers"');
    answer = { admit: true };
    allocations.retry();
    expect(resizes.isPodResizeDeferred(uid)).toBe(false);
    expect([allocations.hasPending, allocations.allocated(large)]).toEqual([false, large]);
  });

  it('is not tried again where it never can be given', async () => {
    const { allocations, pods, resizes } = await resizeWorld({ admitResize: () => ({ ...noRoom, reason: 'Infeasible' }) });
    allocations.add(small);
    pods.set(uid, large);
    allocations.update(large);
    expect([resizes.isPodResizeInfeasible(uid), allocations.hasPending]).toEqual([true, false]);
  });

  it('that is taken back leaves no condition', async () => {
    const { allocations, pods, resizes } = await resizeWorld({ admitResize: () => noRoom });
    allocations.add(small);
    pods.set(uid, large);
    allocations.update(large);
    allocations.update(podOf(3, container('app', both(100, 20))));
    expect([resizes.getPodResizeConditions(uid), allocations.hasPending]).toEqual([[], false]);
  });

  it('waits when the question throws or is answered with nonsense', async () => {
    const answers = [
      () => {
        throw new Error('broken');
      },
      () => 'yes',
    ];
    for (const admitResize of answers) {
      const { allocations, pods, resizes } = await resizeWorld({ admitResize: admitResize as never });
      allocations.add(small);
      pods.set(uid, large);
      allocations.update(large);
      expect(resizes.isPodResizeDeferred(uid)).toBe(true);
    }
  });

  it('is looked at beside what the others have, not what they want', async () => {
    const seen: unknown[] = [];
    const other = (cpu: number) => ({ ...podOf(1, container('app', both(cpu, 20))), metadata: { name: 'other', uid: 'other' } });
    const { allocations, pods } = await resizeWorld({
      admitResize: (_pod, others) => {
        seen.push(others.map(({ spec }) => spec?.containers[0]?.resources?.requests?.cpu));
        return { admit: true };
      },
    });
    for (const pod of [small, other(100)]) allocations.add(pod);
    pods.set(uid, large).set('other', other(900));
    allocations.update(large);
    expect(seen).toEqual([['100m']]);
  });

  it('of a pod that asks for less comes before one of higher priority that asks for more', async () => {
    const order: string[] = [];
    let open = false;
    const { allocations, pods } = await resizeWorld({
      admitResize: (pod) => {
        if (open) order.push(pod.metadata?.name ?? '');
        return open ? { admit: true } : noRoom;
      },
    });
    const named = (name: string, cpu: number, priority: number) => {
      const containers = [container('app', both(cpu, 20))];
      return buildPod({ metadata: { name, uid: name, generation: 1 }, spec: { priority, containers } });
    };
    for (const name of ['more', 'urgent', 'less']) allocations.add(named(name, 500, 0));
    for (const pod of [named('more', 900, 0), named('urgent', 900, 9), named('less', 100, 0)]) {
      pods.set(pod.metadata?.uid ?? '', pod);
      allocations.update(pod);
    }
    open = true;
    allocations.retry();
    expect(order).toEqual(['less', 'urgent', 'more']);
  });
});
