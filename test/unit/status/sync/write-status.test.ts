import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { noMetrics } from '../../../../src/base/metrics/metrics.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { PodStatuses } from '../../../../src/status/status-cache.ts';
import { AgentView } from '../../../../src/status/sync/agent-view.ts';
import { ApiCopies } from '../../../../src/status/sync/api-copies.ts';
import { PodSourceView } from '../../../../src/status/sync/pod-source-view.ts';
import { RequestGate } from '../../../../src/status/sync/request-gate.ts';
import { writeStatus } from '../../../../src/status/sync/sync-pod.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakePodClient } from '../../../../src/testing/fakes/fake-pod-client.ts';
import { testPod } from '../status-harness.ts';

const uid = '12345678';
const safety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => false };

describe('writeStatus', () => {
  it('keeps no copy of a pod whose status was dropped during the GET', async () => {
    const clock = new FakeClock();
    const podClient = new FakePodClient();
    podClient.store.put(testPod());
    const copies = new ApiCopies(clock, new PodSourceView(undefined, clock));
    const podStatuses = new PodStatuses();
    const rest = { podIsFinished: false, finishedByManager: false, deletionSeenAt: undefined, at: 0, agesFrom: 0, setAt: 0 };
    podStatuses.store(uid, { status: { message: 'm' }, podName: 'foo', podNamespace: 'new', ...rest });
    const context = {
      podClient,
      podStatuses,
      agent: new AgentView(new BasicPodManager(), safety, copies, silentLogger),
      copies,
      gate: new RequestGate({ clock, metrics: noMetrics, requestTimeoutMs: 1_000, rateLimiter: undefined }),
      clock,
      metrics: noMetrics,
      fetchBeforePatch: 'always',
      patchFormat: 'strategic',
      ownedConditionTypes: new Set<string>(),
    } as const;
    podClient.hold('get');
    const written = writeStatus(context, {
      podUID: uid,
      token: { prepaid: false },
      fetch: true,
      inDoubt: false,
      waitsOn: undefined,
    });
    podStatuses.delete(uid);
    podClient.release();
    expect(await written).toEqual({ kind: 'done' });
    expect([podClient.verbs(), copies.freshest(uid, undefined)]).toEqual([['get'], undefined]);
  });
});
