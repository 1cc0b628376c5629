import { describe, expect, it } from 'vitest';
import { Harness, settle, testPod } from './status-harness.ts';

const invalid = (path: string) =>
  expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message: expect.stringContaining(`\`${path}\``) });
const named = (...names: string[]) => names.map((name) => ({ name }));
const id = (containerID: unknown) => ({ containerStatuses: [{ name: 'c', containerID }] });

/** Runs a call that must throw on a manager with one pod, and checks that nothing has changed. */
async function refused(act: (h: Harness) => unknown, path: string): Promise<void> {
  const h = new Harness();
  const pod = h.publish(testPod());
  await h.set(pod, { phase: 'Running', containerStatuses: [{ name: 'c', containerID: 'test://1' } as never] });
  const events = [h.record('podUpdated'), h.record('podRemoved'), h.record('illegalTransition')];
  const before = { status: h.manager.getPodStatus('12345678'), ...h.manager.explain('12345678') };
  expect(() => act(h)).toThrow(invalid(path));
  await settle();
  expect({ status: h.manager.getPodStatus('12345678'), ...h.manager.explain('12345678') }).toEqual(before);
  expect(events.flat()).toEqual([]);
  expect(h.client.actions).toEqual([]);
}

describe('StatusManager, an invalid pod', () => {
  it.each([
    [undefined, 'pod'],
    [null, 'pod'],
    ['pod', 'pod'],
    [{}, 'pod.metadata.uid'],
    [{ metadata: { name: 'n', namespace: 'ns' } }, 'pod.metadata.uid'],
    [testPod({ metadata: { uid: '' } }), 'pod.metadata.uid'],
    [testPod({ metadata: { uid: 7 as never } }), 'pod.metadata.uid'],
    [{ metadata: { uid: 'u', namespace: 'ns' } }, 'pod.metadata.name'],
    [{ metadata: { uid: 'u', name: 'n' } }, 'pod.metadata.namespace'],
    [testPod({ metadata: { name: '' } }), 'pod.metadata.name'],
    [testPod({ metadata: { namespace: '' } }), 'pod.metadata.namespace'],
    [testPod({ metadata: { name: '../secrets' } }), 'pod.metadata.name'],
    [testPod({ metadata: { namespace: '..' } }), 'pod.metadata.namespace'],
    [testPod({ metadata: { name: 'a%2fb' } }), 'pod.metadata.name'],
  ])('is refused: %j', async (pod, path) => {
    await refused(({ manager }) => manager.setPodStatus(pod as never, { phase: 'Failed' }), path);
    await refused(({ manager }) => manager.terminatePod(pod as never), path);
  });
});

describe('StatusManager, an invalid status', () => {
  it.each([
    [undefined, 'status'],
    [null, 'status'],
    ['Running', 'status'],
    [[], 'status'],
    [new Date(0), 'status'],
    [{ containerStatuses: named('a', 'b', 'a') }, 'status.containerStatuses'],
    [{ initContainerStatuses: named('a', 'a') }, 'status.initContainerStatuses'],
    [{ ephemeralContainerStatuses: named('a', 'a') }, 'status.ephemeralContainerStatuses'],
    [{ conditions: 'Ready' }, 'status.conditions'],
    [{ startTime: 'now' }, 'status.startTime'],
    [id('abc'), 'status.containerStatuses[c].containerID'],
    [id('://abc'), 'status.containerStatuses[c].containerID'],
    [id('containerd://'), 'status.containerStatuses[c].containerID'],
    [id('container d://x'), 'status.containerStatuses[c].containerID'],
  ])('is refused: %j', async (status, path) => {
    await refused(({ manager }) => manager.setPodStatus(testPod(), status as never), path);
  });

  it('may name a container once in each list, and a container without an id', () => {
    const h = new Harness({ started: false });
    const lists = { containerStatuses: named('a'), initContainerStatuses: named('a'), ephemeralContainerStatuses: named('a') };
    expect(h.manager.setPodStatus(testPod(), lists as never)).toBe(true);
    expect(h.manager.setPodStatus(testPod({ metadata: { uid: 'b' } }), id('') as never)).toBe(true);
    expect(h.manager.setPodStatus(testPod({ metadata: { uid: 'c' } }), id('cri-o://a/b:c') as never)).toBe(true);
  });
});

describe('StatusManager, a probe result with an invalid id', () => {
  it.each([undefined, '', 5])('is refused for pod uid %j', async (podUID) => {
    await refused(({ manager }) => manager.setContainerReadiness(podUID as never, 'test://1', true), 'podUID');
    await refused(({ manager }) => manager.setContainerStartup(podUID as never, 'test://1', true), 'podUID');
  });

  it.each([undefined, '', 'abc', 'test:/1', '://1', 5])('is refused for container id %j', async (containerID) => {
    await refused(({ manager }) => manager.setContainerReadiness('12345678', containerID as never, true), 'containerID');
    await refused(({ manager }) => manager.setContainerStartup('12345678', containerID as never, true), 'containerID');
  });
});

describe('StatusManager, a probe result that is no boolean', () => {
  it.each([undefined, null, 'false', 1, 0, Promise.resolve(false)])('is refused: %j', async (result) => {
    await refused(({ manager }) => manager.setContainerReadiness('12345678', 'test://1', result as never), 'ready');
    await refused(({ manager }) => manager.setContainerStartup('12345678', 'test://1', result as never), 'started');
  });
});

describe('StatusManager, uids that are no set', () => {
  it.each([[['12345678']], [undefined], [null], [{}], ['12345678']])('are refused as a whole: %j', async (uids) => {
    await refused((h) => h.manager.removeOrphanedStatuses(uids as never), 'knownPodUIDs');
  });
});
