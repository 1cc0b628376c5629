import { expect, it } from 'vitest';
import { SyncLoop } from '../../../../src/node/workers/sync-loop.ts';
import type { UpdatePodOptions } from '../../../../src/node/workers/workers-options.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../../../src/status/status-manager.ts';
import {
  buildContainerStatus,
  buildRunningStatus,
  buildStaticPod,
  buildTerminatedState,
} from '../../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

const static1 = buildStaticPod({ metadata: { name: 'web-node-1' }, spec: { restartPolicy: 'OnFailure' } });
const uid = static1.metadata?.uid ?? '';

/** A loop over workers that know the static pod, or have forgotten it. */
async function housekeepOnce(isKnown: boolean) {
  const clock = new FakeClock();
  const podManager = new BasicPodManager();
  podManager.addPod(static1);
  const podDeletionSafety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => false };
  const statusManager = new StatusManager({ podClient: null, podManager, podDeletionSafety, clock });
  const ended = [buildContainerStatus({ state: buildTerminatedState(0) })];
  statusManager.setPodStatus(static1, buildRunningStatus(static1, { containerStatuses: ended }));
  const begun: UpdatePodOptions[] = [];
  const known = { state: 'sync', orphan: false, hasConfig: true, static: true } as const;
  const loop = new SyncLoop({
    config: { updates: async function* () {}, seenAllSources: () => true },
    podManager,
    podWorkers: {
      updatePod: (update) => void begun.push(update),
      syncKnownPods: () => new Map(isKnown ? [[uid, known]] : []),
      isPodTerminationRequested: () => false,
      isPodKnownTerminated: () => false,
    },
    workQueue: { getWork: () => [], readable: () => new Promise(() => {}) },
    statusManager,
    clock,
  });
  loop.start();
  await clock.advance(2500);
  await loop.stop();
  return { begun, status: statusManager.getPodStatus(uid) };
}

it('a static pod that begins anew under its uid has no status of its earlier life, so that its new containers can be told', async () => {
  const { begun, status } = await housekeepOnce(false);
  expect(begun.map(({ updateType, pod }) => [updateType, pod?.metadata?.uid])).toEqual([['create', uid]]);
  expect(status).toBeUndefined();
});

it('a static pod that the workers know keeps its status', async () => {
  const { begun, status } = await housekeepOnce(true);
  expect(begun).toEqual([]);
  expect(status?.phase).toBe('Running');
});
