import { describe, expect, it } from 'vitest';
import { SchedulerCache } from '../../../../src/scheduler/cache/scheduler-cache.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { podInfo as framedPod } from '../framework-world.ts';

const podInfo = (name: string, nodeName?: string, spec: object = {}) =>
  framedPod(name, { ...(nodeName && { nodeName }), ...spec });
const node = (name: string, zone?: string, images: readonly string[] = []) => ({
  metadata: { name, labels: zone ? { 'topology.kubernetes.io/zone': zone } : {} },
  status: { allocatable: { cpu: '2' }, images: images.map((image) => ({ names: [image], sizeBytes: 7 })) },
});
const friendly = { affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } } };
const containers = [{ name: 'c', resources: { requests: { cpu: '1' } } }];

function makeCache(assumedPodTTLMs?: number) {
  const clock = new FakeClock();
  const cache = new SchedulerCache({ clock, assumedPodTTLMs });
  const names = () => cache.updateSnapshot().nodes.map(({ name }) => name);
  return { cache, clock, names };
}

describe('an assumed pod', () => {
  it('has its place at once, until it is forgotten', () => {
    const { cache } = makeCache();
    cache.addNode(node('n1'));
    const info = podInfo('a', undefined, { containers });
    expect(cache.assumePod(info, 'n1')).toBeUndefined();
    expect(cache.updateSnapshot().get('n1')?.requested.milliCPU).toBe(1000);
    expect([cache.isAssumed('u-a'), cache.nodeNameOf('u-a'), cache.podCount]).toEqual([true, 'n1', 1]);
    expect(cache.assumePod(info, 'n1')).toBe("pod u-a is in the cache, so can't be assumed");
    expect(cache.forgetPod(info, 'n2')).toBe('pod u-a was assumed on n2 but assigned to n1');
    expect(cache.forgetPod(info, 'n1')).toBeUndefined();
    expect(cache.updateSnapshot().get('n1')?.requested.milliCPU).toBe(0);
    expect(cache.forgetPod(info, 'n1')).toBe("pod u-a wasn't assumed so cannot be forgotten");
  });

  it('is confirmed by the watch, and counts as the watch brings it', () => {
    const { cache } = makeCache();
    cache.addNode(node('n1'));
    cache.assumePod(podInfo('a'), 'n1');
    const confirmed = podInfo('a', 'n1', { containers });
    expect(cache.addPod(confirmed)).toBeUndefined();
    expect(cache.isAssumed('u-a')).toBe(false);
    expect(cache.podOf('u-a')).toBe(confirmed);
    expect(cache.updateSnapshot().get('n1')?.requested.milliCPU).toBe(1000);
    expect(cache.forgetPod(confirmed, 'n1')).toBe("pod u-a wasn't assumed so cannot be forgotten");
    expect(cache.addPod(confirmed)).toBe('pod u-a was already in added state');
  });

  it('moves where the watch brings it on another node', () => {
    const { cache } = makeCache();
    for (const name of ['n1', 'n2']) cache.addNode(node(name));
    cache.assumePod(podInfo('a'), 'n1');
    cache.addPod(podInfo('a', 'n2'));
    const snapshot = cache.updateSnapshot();
    expect([snapshot.get('n1')?.pods.length, snapshot.get('n2')?.pods.length]).toEqual([0, 1]);
  });

  it('expires when its time since the end of its binding is over, and not before', async () => {
    const { cache, clock } = makeCache(30_000);
    cache.addNode(node('n1'));
    cache.assumePod(podInfo('a'), 'n1');
    cache.assumePod(podInfo('b'), 'n1');
    await clock.advance(60_000);
    cache.finishBinding('u-a');
    await clock.advance(30_000);
    expect(cache.expireAssumedPods()).toEqual([]);
    await clock.advance(1);
    expect(cache.expireAssumedPods().map(({ info, nodeName }) => [info.name, nodeName])).toEqual([['a', 'n1']]);
    expect([...cache.assumedPods]).toEqual(['u-b']);
  });

  it('never expires without a time to live', async () => {
    const { cache, clock } = makeCache();
    cache.assumePod(podInfo('a'), 'n1');
    cache.finishBinding('u-a');
    await clock.advance(10 ** 9);
    expect(cache.expireAssumedPods()).toEqual([]);
  });
});

describe('pods of the watch', () => {
  it('are taken off as they were added, whatever version says that they are gone', () => {
    const { cache } = makeCache();
    cache.addNode(node('n1'));
    cache.addPod(podInfo('a', 'n1', { containers }));
    expect(
      cache.updatePod(podInfo('a', 'n1'), podInfo('a', 'n1', { containers: [...containers, ...containers] })),
    ).toBeUndefined();
    expect(cache.updateSnapshot().get('n1')?.requested.milliCPU).toBe(2000);
    expect(cache.removePod({ uid: 'u-a' })).toBeUndefined();
    expect(cache.updateSnapshot().get('n1')?.requested.milliCPU).toBe(0);
    expect(cache.removePod({ uid: 'u-a' })).toMatch(/is not found/);
    expect(cache.updatePod(podInfo('a', 'n1'), podInfo('a', 'n1'))).toMatch(/cannot be updated/);
  });

  it('may come before their node, and outlive it', () => {
    const { cache, names } = makeCache();
    cache.addPod(podInfo('a', 'n1'));
    expect(names()).toEqual([]);
    cache.addNode(node('n1'));
    expect(cache.updateSnapshot().get('n1')?.pods).toHaveLength(1);
    cache.removeNode(node('n1'));
    expect([names(), cache.nodeOf('n1'), cache.stateOf('n1')?.pods.length]).toEqual([[], undefined, 1]);
    cache.removePod({ uid: 'u-a' });
    expect(cache.stateOf('n1')).toBeUndefined();
    expect(cache.removeNode(node('n1'))).toBe('node n1 is not found');
  });
});

describe('a snapshot', () => {
  it('has the zones take turns', () => {
    const { cache, names } = makeCache();
    for (const [name, zone] of [['a1', 'a'], ['a2', 'a'], ['a3', 'a'], ['b1', 'b'], ['c1']] as const)
      cache.addNode(node(name, zone));
    expect(names()).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
    cache.updateNode(node('a1', 'a'), node('a1', 'b'));
    expect(names()).toEqual(['a2', 'b1', 'c1', 'a3', 'a1']);
    cache.removeNode(node('c1'));
    expect(names()).toEqual(['a2', 'b1', 'a3', 'a1']);
  });

  it('puts a zone that was empty behind the others', () => {
    const { cache, names } = makeCache();
    for (const [name, zone] of [
      ['a1', 'a'],
      ['b1', 'b'],
    ] as const) {
      cache.addNode(node(name, zone));
    }
    cache.removeNode(node('a1', 'a'));
    cache.addNode(node('a2', 'a'));
    expect(names()).toEqual(['b1', 'a2']);
  });

  it('says when nodes have come, have gone, or have other labels', () => {
    const { cache } = makeCache();
    const version = () => cache.updateSnapshot().labelsVersion;
    cache.addNode(node('n1', 'a'));
    const first = version();
    cache.addNode(node('n2', 'a'));
    const second = version();
    cache.updateNode(node('n2', 'a'), node('n2', 'a', ['web']));
    cache.assumePod(podInfo('a'), 'n2');
    expect(version()).toBe(second);
    const labelled = {
      ...node('n2', 'a'),
      metadata: { name: 'n2', labels: { 'topology.kubernetes.io/zone': 'a', disk: 'ssd' } },
    };
    cache.updateNode(node('n2', 'a'), labelled);
    const third = version();
    cache.removeNode(labelled);
    expect(new Set([first, second, third, version()]).size).toBe(4);
  });

  it('shares what has not changed, and leaves the states that it handed out as they were', () => {
    const { cache } = makeCache();
    for (const name of ['n1', 'n2']) cache.addNode(node(name));
    const snapshot = cache.updateSnapshot();
    const [first, second] = snapshot.nodes;
    cache.assumePod(podInfo('a', undefined, { containers, ...friendly }), 'n1');
    expect(first?.requested.milliCPU).toBe(0);
    expect(snapshot.get('n1')).toBe(first);
    expect(cache.updateSnapshot()).toBe(snapshot);
    expect(first?.requested.milliCPU).toBe(0);
    expect(snapshot.nodes[0]?.requested.milliCPU).toBe(1000);
    expect(snapshot.nodes[1]).toBe(second);
    expect(snapshot.nodesWithAffinity).toEqual([snapshot.nodes[0]]);
    cache.assumePod(podInfo('b', undefined, friendly), 'n1');
    cache.updateSnapshot();
    expect(snapshot.nodesWithAffinity).toEqual([snapshot.get('n1')]);
    expect(snapshot.nodesWithAffinity[0]?.pods).toHaveLength(2);
    cache.forgetPod(podInfo('a'), 'n1');
    cache.forgetPod(podInfo('b'), 'n1');
    expect(cache.updateSnapshot().nodesWithAffinity).toEqual([]);
  });

  it('counts on how many nodes an image is now', () => {
    const { cache } = makeCache();
    cache.addNode(node('n1', 'a', ['web', 'web', 'db']));
    cache.addNode(node('n2', 'a', ['web']));
    const countOf = (name: string, image: string) => cache.updateSnapshot().get(name)?.images.get(image)?.nodes;
    expect([countOf('n1', 'web'), countOf('n1', 'db'), countOf('n2', 'web')]).toEqual([2, 1, 2]);
    cache.updateNode(node('n1'), node('n1', 'a', ['db']));
    expect([countOf('n1', 'web'), countOf('n2', 'web')]).toEqual([undefined, 1]);
    cache.removeNode(node('n1'));
    cache.addNode(node('n1', 'a', ['db']));
    expect([countOf('n1', 'db'), cache.nodeCount]).toEqual([1, 2]);
  });

  it('keeps a node as it was where its next version is refused', () => {
    const { cache } = makeCache();
    cache.addNode(node('n1', 'a', ['web']));
    const bad = { ...node('n1', 'a'), status: { allocatable: { cpu: 'many' } } };
    expect(() => cache.updateNode(node('n1'), bad)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
    expect(cache.updateSnapshot().get('n1')?.images.get('web')?.nodes).toBe(1);
  });

  it('says by a version that images are counted otherwise, and counts nothing of a node that is refused halfway', () => {
    const { cache } = makeCache();
    const version = () => cache.updateSnapshot().imagesVersion;
    cache.addNode(node('n1', 'a', ['web']));
    cache.addNode(node('n2', 'a', ['web']));
    const before = version();
    const halfway = node('n1', 'a', ['db']);
    halfway.status.images.push(null as never);
    expect(() => cache.updateNode(node('n1'), halfway)).toThrow(TypeError);
    const snapshot = cache.updateSnapshot();
    expect([snapshot.get('n1'), snapshot.get('n2')].map((info) => info?.images.get('web')?.nodes)).toEqual([2, 2]);
    expect(version()).toBe(before);
    cache.addNode(node('n3', 'a', ['db']));
    expect(cache.updateSnapshot().get('n3')?.images.get('db')?.nodes).toBe(1);
    expect(version()).not.toBe(before);
  });
});
