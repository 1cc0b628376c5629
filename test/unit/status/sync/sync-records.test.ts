import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { BasicPodManager } from '../../../../src/pod/basic-pod-manager.ts';
import { silentLogger } from '../../../../src/seams/logger.ts';
import { PodStatuses, type VersionedPodStatus } from '../../../../src/status/cache/pod-statuses.ts';
import { AgentView } from '../../../../src/status/sync/agent-view.ts';
import { ApiCopies, apiPodOf } from '../../../../src/status/sync/api-copies.ts';
import { RequestFailure, RequestGate } from '../../../../src/status/sync/request-gate.ts';
import { isUrgent } from '../../../../src/status/sync/sync-batch.ts';
import { type SyncFailure, SyncRecords } from '../../../../src/status/sync/sync-records.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { testPod } from '../harness.ts';

const uid = '12345678';
const noSafety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => false };
const noMetrics = { increment: () => {}, observe: () => {}, set: () => {} };
const rest = {
  podName: 'foo',
  podNamespace: 'new',
  at: 0,
  podIsFinished: false,
  finishedByManager: false,
  deletionSeenAt: undefined,
};

function recordsOf(draws: readonly number[] = [0.5]) {
  const clock = new FakeClock();
  const podStatuses = new PodStatuses();
  const copies = new ApiCopies();
  const gate = new RequestGate({ clock, metrics: noMetrics, requestTimeoutMs: 1000, rateLimiter: undefined, onOpen: () => {} });
  const failures: SyncFailure[] = [];
  let drawn = 0;
  const records = new SyncRecords({
    podStatuses,
    agent: new AgentView(new BasicPodManager(), noSafety, copies, silentLogger),
    copies,
    gate,
    clock,
    random: () => draws[drawn++ % draws.length] ?? 0,
    events: {
      acknowledged: () => {},
      failed: (_, failure) => failures.push(failure),
      ended: () => {},
      changed: () => {},
    },
    enqueue: () => {},
  });
  return { clock, podStatuses, copies, gate, records, failures };
}

const failed = (status: number, retryAfterMs?: number) => {
  const cause = new ApiError({ status, reason: 'r', message: 'm', retryAfterMs });
  const errorClass = status === 429 ? 'throttled' : 'unavailable';
  return { kind: 'failed', failure: new RequestFailure('patch', errorClass, cause), version: 1 } as const;
};

describe('SyncRecords, what is kept of a pod', () => {
  it('is nothing once all is well', () => {
    const { records } = recordsOf();
    expect(records.begin(uid).inFlight).toBe(true);
    records.finish(uid, { kind: 'acknowledged' });
    expect(records.state(uid)).toBeUndefined();
  });

  it('is dropped with its status: versions, copies, waits and their timers', () => {
    const { clock, podStatuses, copies, records } = recordsOf();
    const entry = podStatuses.store(uid, { status: {}, ...rest });
    records.begin(uid);
    const copy = apiPodOf(testPod({ metadata: { resourceVersion: '7' } }));
    records.acknowledge(uid, { entry, copy, patched: true, phaseHeldBack: true });
    records.finish(uid, failed(500));
    expect([records.apiStatusVersions.size, clock.pendingTimers, copies.freshest(uid, undefined)]).toEqual([1, 1, copy]);
    records.forget(uid);
    expect([records.apiStatusVersions.size, clock.pendingTimers, copies.freshest(uid, undefined)]).toEqual([0, 0, undefined]);
    expect(records.state(uid)).toBeUndefined();
  });

  it('is the mark of the request in flight, until that has settled', () => {
    const { records } = recordsOf();
    records.begin(uid).failures = 3;
    records.forget(uid);
    expect(records.state(uid)).toMatchObject({ inFlight: true, life: 1, lifeInFlight: 0, failures: 0 });
    records.forget(uid);
    expect(records.state(uid)).toMatchObject({ life: 2, lifeInFlight: 0 });
    expect(records.finish(uid, failed(500))).toBe(true);
    expect(records.state(uid)).toBeUndefined();
  });
});

describe('SyncRecords, the pause of the whole client', () => {
  it('counts requests that failed together as one failure', () => {
    const { clock, gate, records, failures } = recordsOf([0.5]);
    for (const podUID of ['a', 'b', 'c']) records.begin(podUID);
    for (const podUID of ['a', 'b', 'c']) records.finish(podUID, failed(429));
    expect(failures.map(({ retryInMs }) => retryInMs)).toEqual([500, 500, 500]);
    expect(gate.pausedUntil).toBe(clock.now() + 500);
  });

  it('is as long as the last that says how long, and doubles for those that do not', async () => {
    const { clock, records, failures } = recordsOf([0.5]);
    records.begin('a');
    records.begin('b');
    records.finish('a', failed(429));
    records.finish('b', failed(429, 2000));
    await clock.advance(2000);
    records.begin('a');
    records.finish('a', failed(429));
    expect(failures.map(({ retryInMs }) => retryInMs)).toEqual([500, 2000, 1000]);
  });
});

describe('isUrgent', () => {
  const entryOf = (status: object, podIsFinished = false): VersionedPodStatus =>
    new PodStatuses().store(uid, { ...rest, status, podIsFinished });
  const copyOf = (status: object) => apiPodOf(testPod({ status }));
  const ready = (status: string) => ({ conditions: [{ type: 'Ready', status }] });

  it.each([
    ['a finished pod', entryOf({ phase: 'Failed' }, true), copyOf({ phase: 'Failed' }), true],
    ['an end the apiserver does not know', entryOf({ phase: 'Succeeded' }), copyOf({ phase: 'Running' }), true],
    ['an end it knows', entryOf({ phase: 'Succeeded' }), copyOf({ phase: 'Succeeded' }), false],
    ['an end of a pod it shows nothing of', entryOf({ phase: 'Failed' }), undefined, true],
    ['a first Ready', entryOf(ready('True')), copyOf(ready('False')), true],
    ['a Ready that is lost', entryOf(ready('False')), copyOf(ready('True')), true],
    ['a Ready that it knows', entryOf(ready('True')), copyOf(ready('True')), false],
    ['a Ready of a pod it shows nothing of', entryOf(ready('True')), undefined, true],
    ['a pod that is not Ready and that it shows nothing of', entryOf(ready('False')), undefined, false],
    ['an unknown Ready for one that is False', entryOf(ready('Unknown')), copyOf(ready('False')), false],
  ])('%s', (_, entry, copy, expected) => {
    expect(isUrgent(entry, copy)).toBe(expected);
  });
});
