import { describe, expect, it } from 'vitest';
import { statusesOfKnownPods } from '../../../../src/kubelet/pods/agent-pod-statuses.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../../../src/status/status-manager.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakePodClient } from '../../../../src/testing/fakes/fake-pod-client.ts';
import { container, podOf, SyncerWorld } from './syncer-world.ts';

/** An agent's pod that runs; its status is on the apiserver. */
async function setUp() {
  const podManager = new BasicPodManager();
  const podClient = new FakePodClient();
  const clock = new FakeClock();
  const podDeletionSafety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => true };
  const manager = new StatusManager({ podClient, podManager, podDeletionSafety, clock, logger: null });
  const world = new SyncerWorld({ syncer: { statusManager: statusesOfKnownPods(manager, podManager) } });
  const pod = podOf({ containers: [container('app')] });
  const stored = podClient.store.put(pod);
  podManager.addPod(stored);
  manager.start();
  await world.sync(stored);
  await clock.advance(10_000);
  return { podManager, podClient, clock, manager, world, pod: stored };
}

describe('a pod that ends', () => {
  it('after its source has dropped it, and its status was forgotten, costs no request', async () => {
    const { podManager, podClient, clock, manager, world, pod } = await setUp();
    await using _ = world;
    expect(podClient.verbs()).toContain('patch');
    podClient.store.remove('default', 'web');
    podManager.removePod(pod);
    manager.removeOrphanedStatuses(new Set());
    podClient.clearActions();
    await world.end(pod);
    await world.finish(pod);
    await clock.advance(60_000);
    expect(podClient.verbs()).toEqual([]);
    expect((await world.runtime.listContainers()).map(({ state }) => state)).toEqual(['exited']);
    await manager.stop();
  });

  it('while its source still shows it is told to its end', async () => {
    const { podClient, clock, manager, world, pod } = await setUp();
    await using _ = world;
    await world.end(pod);
    await world.finish(pod);
    await clock.advance(60_000);
    expect(podClient.store.get('default', 'web')?.status?.phase).toBe('Succeeded');
    expect(manager.getPodStatus('web')?.phase).toBe('Succeeded');
    await manager.stop();
  });
});
