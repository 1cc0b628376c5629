import { afterEach, describe, expect, it, vi } from 'vitest';
import { AgentView } from '../../../../src/status/sync/agent-view.ts';
import { ApiCopies } from '../../../../src/status/sync/api-copies.ts';
import { SyncRecords } from '../../../../src/status/sync/sync-records.ts';
import { buildMirrorPodOf, buildStaticPod } from '../../../../src/testing/fakes/builders.ts';
import { Harness, numberedPod, settle } from '../status-harness.ts';

// What a manager keeps of a pod must not outlive the pod's entry. The parts of a manager are reached through spies.

afterEach(() => void vi.restoreAllMocks());

describe('after a pod’s entry was dropped', () => {
  it('nothing is kept of a pod that was to be read because its source is silent', async () => {
    const ensured = vi.spyOn(SyncRecords.prototype, 'fetchNext');
    const h = new Harness({ podSource: { lastObservedAt: () => undefined }, staleAfterMs: 1_000, subscribed: false });
    const pods = Array.from({ length: 5 }, (_, n) => h.publish(numberedPod(n)));
    for (const pod of pods) await h.set(pod, { message: 'a' });
    await h.clock.advance(20_000);
    for (const pod of pods) h.podManager.removePod(pod);
    await h.clock.advance(60_000);
    const records = ensured.mock.contexts[0] as SyncRecords;
    expect(pods.map(({ metadata }) => records.state(metadata.uid))).toEqual(pods.map(() => undefined));
  });

  it('no copy is kept of a mirror pod whose status was never acknowledged', async () => {
    const recorded = vi.spyOn(ApiCopies.prototype, 'record');
    const h = new Harness({ subscribed: false, fetchBeforePatch: 'always' });
    const pod = buildStaticPod();
    h.podManager.addPod(pod);
    const mirror = h.publish(buildMirrorPodOf(pod, { metadata: { uid: 'mirror' } }));
    h.rival(mirror, { message: 'not seen by the watch' });
    h.client.failNext('patch', { code: 500, times: 100 });
    await h.set(pod, { message: 'm' });
    const copies = recorded.mock.contexts[0] as ApiCopies;
    expect([...copies.apiUIDs()]).toEqual(['mirror']);
    h.podManager.removePod(mirror);
    await h.batch();
    expect([...copies.apiUIDs()]).toEqual([]);
  });

  it('it is not remembered as shown where a listener has dropped it while it was set', () => {
    const noted = vi.spyOn(AgentView.prototype, 'notePod');
    const h = new Harness({ started: false });
    const pod = h.publish(numberedPod(1));
    h.manager.setPodStatus(pod, { message: 'a' });
    const agent = noted.mock.contexts[0] as AgentView;
    h.manager.removeOrphanedStatuses(new Set());
    h.manager.once('podUpdated', () => h.manager.removeOrphanedStatuses(new Set()));
    h.manager.setPodStatus(pod, { message: 'b' });
    h.podManager.removePod(pod);
    expect([h.manager.getPodStatus('uid-1'), agent.hasVanished('uid-1')]).toEqual([undefined, false]);
  });

  it('it is not remembered as shown by a batch that began before', async () => {
    const noted = vi.spyOn(AgentView.prototype, 'notePod');
    const h = new Harness({ subscribed: false });
    const pods = Array.from({ length: 201 }, (_, n) => h.publish(numberedPod(n)));
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'a' });
    await settle(20);
    const agent = noted.mock.contexts[0] as AgentView;
    noted.mockImplementationOnce(() => queueMicrotask(() => h.manager.removeOrphanedStatuses(new Set())));
    await h.clock.advance(10_000);
    for (const pod of pods) h.podManager.removePod(pod);
    expect(pods.filter(({ metadata }) => agent.hasVanished(metadata.uid))).toEqual([]);
  });
});
