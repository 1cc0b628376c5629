import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import { silentLogger } from '../../../src/base/logging/logger.ts';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import { differsFromServer } from '../../../src/status/rules/server-fill-ins.ts';
import { PodStatuses } from '../../../src/status/status-cache.ts';
import { AgentView } from '../../../src/status/sync/agent-view.ts';
import { ApiCopies } from '../../../src/status/sync/api-copies.ts';
import { orphanedUIDs } from '../../../src/status/sync/look.ts';
import { PodSourceView } from '../../../src/status/sync/pod-source-view.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { asUpstream, Harness, numberedPod, randomStatus, testPod } from './status-harness.ts';

const mirror = (uid: string): WirePod =>
  testPod({ metadata: { uid, annotations: { 'kubernetes.io/config.mirror': 'x', 'kubernetes.io/config.source': 'api' } } });
const staticPod = testPod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } });

describe('orphanedUIDs', () => {
  function orphans(podManager: BasicPodManager, cachedUID?: string): string[] {
    const podStatuses = new PodStatuses();
    const clock = new FakeClock();
    const copies = new ApiCopies(clock, new PodSourceView(undefined, clock));
    if (cachedUID !== undefined) {
      const rest = { at: 0, agesFrom: 0, setAt: 0, podIsFinished: false, finishedByManager: false, deletionSeenAt: undefined };
      podStatuses.store(cachedUID, { status: {}, podName: 'foo', podNamespace: 'new', ...rest });
    }
    const safety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => false };
    const agent = new AgentView(podManager, safety, copies, silentLogger);
    const apiStatusVersions = new Map([
      ['12345678', 100],
      ['mirror', 200],
    ]);
    return orphanedUIDs(agent, podStatuses, apiStatusVersions.keys());
  }

  it('names versions that belong neither to a cached pod nor to a known mirror pod [T-SM-067]', () => {
    expect(orphans(new BasicPodManager())).toEqual(['12345678', 'mirror']);
  });

  it('names no version of a cached pod or a known mirror pod [T-SM-068]', () => {
    const podManager = new BasicPodManager();
    podManager.setPods([mirror('mirror'), staticPod]);
    expect(orphans(podManager, '12345678')).toEqual([]);
  });
});

describe('StatusManager, the periodic batch', () => {
  it.each([
    'strategic',
    'json',
  ] as const)('sends nothing for a shared condition that another controller wrote (%s)', async (patchFormat) => {
    const h = new Harness({ patchFormat });
    const conditions = ['DisruptionTarget', 'PodScheduled', 'Initialized'].map((type) => ({ type, status: 'True' }));
    const pod = h.publish(testPod({ status: { phase: 'Failed', conditions } }));
    const ours = ['Initialized', 'PodScheduled'].map((type) => ({ type, status: 'True' }));
    await h.set(pod, { phase: 'Failed', conditions: ours });
    h.observe(pod);
    const synced = h.record('synced');
    for (let tick = 0; tick < 3; tick++) expect(await h.batch()).toEqual([]);
    expect(synced).toEqual([]);
  });

  it('forgets the version of an old mirror pod, and keeps that of a known one [T-SM-067] [T-SM-068]', async () => {
    const h = new Harness();
    h.podManager.setPods([staticPod, h.client.store.put(mirror('m1'))]);
    expect(await h.set(staticPod, randomStatus())).toEqual(['patch']);
    h.observe(staticPod);
    expect(await h.batch()).toEqual([]);
    expect(h.manager.explain('12345678').acknowledgedVersion).toBe(1);
    const m2 = mirror('m2');
    h.podManager.setPods([staticPod, h.client.store.put(m2)]);
    expect(await h.batch()).toEqual(['patch']);
    h.podManager.setPods([staticPod, mirror('m1')]);
    expect(h.manager.explain('12345678').acknowledgedVersion).toBe(0);
  });

  it('sends nothing for an ended pod whose agent still sets Ready True', async () => {
    const h = new Harness();
    const pod = h.publish(numberedPod(1));
    const readyForEver = { phase: 'Failed', conditions: [{ type: 'Ready', status: 'True' }] };
    expect(await h.set(pod, readyForEver)).toEqual(['patch']);
    h.observe(pod);
    expect(h.apiStatus(pod).conditions?.map(({ status }) => status)).toEqual(['False', 'False']);
    for (let i = 0; i < 5; i++) expect(await h.batch()).toEqual([]);
  });

  it.each([
    ['as upstream', asUpstream],
    ['by default', {}],
  ])('sends nothing while the pod manager shows the cached status, %s [T-SM-069]', async (_way, options) => {
    const h = new Harness(options);
    const pod = h.publish(testPod());
    const status = randomStatus();
    await h.set(pod, status);
    h.podManager.updatePod({ ...pod, status: h.apiStatus(pod) });
    expect(await h.set(pod, status)).toEqual([]);
    expect(await h.batch()).toEqual([]);
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
  });

  it('counts a time with fractions of a second as equal to the stored one [T-SM-070]', async () => {
    const h = new Harness(asUpstream);
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'm', startTime: '1999-01-01T00:00:00.999Z' });
    const status = { ...h.apiStatus(pod), startTime: '1999-01-01T00:00:00.5Z' };
    h.podManager.updatePod({ ...h.api(pod), status });
    expect(await h.batch()).toEqual([]);
  });

  it.each([
    ['as upstream', asUpstream, ['get', 'patch']],
    ['by default', {}, ['patch']],
  ] as const)('repairs a status that another controller has changed, %s [T-SM-071]', async (_way, options, calls) => {
    const h = new Harness(options);
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'ours' });
    h.rival(pod, { message: 'theirs' });
    h.observe(pod);
    expect(await h.batch()).toEqual(calls);
    expect(h.apiStatus(pod).message).toBe('ours');
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
  });

  it('finds out whether two statuses need a repair [T-SM-069] [T-SM-071]', () => {
    const none: ReadonlySet<string> = new Set();
    expect(differsFromServer({ message: 'a' }, { message: 'a' }, none)).toBe(false);
    expect(differsFromServer({ message: 'a' }, { message: 'b' }, none)).toBe(true);
    expect(
      differsFromServer({ podIP: '10.0.0.1' }, { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }], qosClass: 'Burstable' }, none),
    ).toBe(false);
    expect(differsFromServer({ podIP: '10.0.0.1' }, { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.2' }] }, none)).toBe(true);
    expect(differsFromServer({}, { conditions: [{ type: 'x.io/y', status: 'True' }] }, none)).toBe(false);
    expect(differsFromServer({}, { conditions: [{ type: 'x.io/y', status: 'True' }] }, new Set(['x.io/y']))).toBe(true);
  });

  it('retries the failed PATCH of a repair until the statuses are equal', async () => {
    const h = new Harness({ subscribed: false });
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'ours' });
    h.rival(pod, { message: 'theirs' });
    h.observe(pod);
    h.client.failNext('patch', { code: 500 });
    expect(await h.batch()).toEqual(['patch']);
    await h.clock.advance(500);
    expect(await h.calls()).toEqual(['patch']);
    expect(h.apiStatus(pod).message).toBe('ours');
  });

  it('uses its own newer API copy when the pod manager’s is older', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'one' });
    await h.set(pod, { message: 'two' });
    expect(await h.batch()).toEqual([]);
  });

  it('looks at every pod, even in several turns of the event loop', async () => {
    const h = new Harness({ channelCapacity: 1000 });
    const pods = Array.from({ length: 450 }, (_, n) => h.publish(numberedPod(n)));
    for (const pod of pods) h.manager.setPodStatus(pod, { phase: 'Running' });
    await h.clock.advance(100);
    for (const pod of pods) {
      h.rival(pod, { phase: 'Unknown' });
      h.observe(pod);
    }
    await h.clock.advance(10_000);
    await h.clock.advance(100);
    expect(pods.filter((pod) => h.apiStatus(pod).phase !== 'Running')).toEqual([]);
  });

  it('drops the statuses of unknown pods, and no others', async () => {
    const h = new Harness();
    const pods = [1, 2, 3].map((n) => h.publish(numberedPod(n)));
    for (const pod of pods) h.manager.setPodStatus(pod, { phase: 'Running' });
    await h.calls();
    h.manager.removeOrphanedStatuses(new Set(['uid-2']));
    expect(pods.map((pod) => h.manager.getPodStatus(pod.metadata.uid)?.phase)).toEqual([undefined, 'Running', undefined]);
    expect(h.manager.explain('uid-1')).toMatchObject({ phase: 'unknown', acknowledgedVersion: 0 });
    expect(await h.batch()).toEqual([]);
  });

  it('sends a dropped pod again when it is set again', async () => {
    const h = new Harness();
    const pod = h.publish(numberedPod(1));
    await h.set(pod, { phase: 'Running' });
    h.manager.removeOrphanedStatuses(new Set());
    h.observe(pod);
    expect(await h.set(pod, { phase: 'Running', message: 'back' })).toEqual(['patch']);
    expect(h.apiStatus(pod).message).toBe('back');
  });
});
