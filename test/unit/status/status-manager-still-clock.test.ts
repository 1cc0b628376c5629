import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../../src/status/status-manager.ts';
import { buildPod } from '../../../src/testing/fakes/builders.ts';
import { FakeClock, settle } from '../../../src/testing/fakes/fake-clock.ts';
import { FakePodClient } from '../../../src/testing/fakes/fake-pod-client.ts';

// the machine's timers alone
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

it('stops while a pod backs off on a clock that nobody moves', async () => {
  const clock = new FakeClock();
  const podClient = new FakePodClient();
  const podManager = new BasicPodManager();
  const pod = podClient.store.create(buildPod());
  podManager.addPod(pod);
  const podDeletionSafety = { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false };
  const manager = new StatusManager({ podClient, podManager, podDeletionSafety, clock, logger: null });
  manager.start();
  podClient.failNext('patch', { code: 500 });
  manager.setPodStatus(pod, { phase: 'Running' });
  await clock.advance(0);
  const stopped = manager.stop();
  await vi.advanceTimersByTimeAsync(999);
  await settle();
  expect(manager.state).toBe('stopping');
  await vi.advanceTimersByTimeAsync(1);
  expect(await stopped).toMatchObject({ pods: [{ podUID: pod.metadata?.uid }], underWay: [] });
  expect([clock.pendingTimers, vi.getTimerCount()]).toEqual([0, 0]);
});
