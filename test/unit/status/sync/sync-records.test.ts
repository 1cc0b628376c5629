import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { PodStatuses } from '../../../../src/status/status-cache.ts';
import { AgentView } from '../../../../src/status/sync/agent-view.ts';
import { ApiCopies, apiPodOf } from '../../../../src/status/sync/api-copies.ts';
import { PodSourceView } from '../../../../src/status/sync/pod-source-view.ts';
import { RequestFailure } from '../../../../src/status/sync/request-failure.ts';
import type { SyncEffect, SyncOutcome } from '../../../../src/status/sync/sync-context.ts';
import { SyncRecords } from '../../../../src/status/sync/sync-records.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { testPod } from '../status-harness.ts';

const uid = '12345678';
const noSafety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => false };
const rest = {
  podName: 'foo',
  podNamespace: 'new',
  at: 0,
  agesFrom: 0,
  setAt: 0,
  podIsFinished: false,
  finishedByManager: false,
  deletionSeenAt: undefined,
};

function recordsOf() {
  const clock = new FakeClock();
  const podStatuses = new PodStatuses();
  const copies = new ApiCopies(clock, new PodSourceView(undefined, clock));
  const podManager = new BasicPodManager();
  const agent = new AgentView(podManager, noSafety, copies, silentLogger);
  const records = new SyncRecords({ podStatuses, agent, copies, clock, random: () => 0.5 });
  const store = (podUID = uid) => podStatuses.store(podUID, { status: {}, ...rest });
  return { clock, podManager, podStatuses, copies, records, store };
}

const errors = { 403: 'forbidden', 429: 'throttled', 500: 'unavailable', 503: 'unavailable' } as const;

function failed(status: keyof typeof errors, retryAfterMs?: number, settled?: Promise<void>): SyncOutcome {
  const cause = new ApiError({ status, reason: 'r', message: 'm', retryAfterMs });
  const failure = new RequestFailure('patch', errors[status], cause, settled);
  return { kind: 'failed', failure, version: 1, resourceVersion: undefined };
}

const kinds = (effects: readonly SyncEffect[]): string[] => effects.map(({ kind }) => kind);
const effect = <Kind extends SyncEffect['kind']>(effects: readonly SyncEffect[], kind: Kind): SyncEffect & { kind: Kind } => {
  const found = effects.find((each): each is SyncEffect & { kind: Kind } => each.kind === kind);
  if (found === undefined) throw new Error(`no ${kind} among ${kinds(effects).join(', ')}`);
  return found;
};

describe('SyncRecords, the records of a pod', () => {
  it('are empty after a successful sync', () => {
    const { records } = recordsOf();
    expect(records.begin(uid)).toEqual({ fetch: false, inDoubt: false, waitsOn: undefined });
    expect(records.state(uid)?.underWay?.kind).toBe('in-flight');
    records.settle(uid, { kind: 'done' }, undefined);
    expect(records.state(uid)).toBeUndefined();
  });

  it('are dropped with its status: versions, copies and waits', () => {
    const { copies, records, store } = recordsOf();
    const entry = store();
    records.begin(uid);
    const copy = apiPodOf(testPod({ metadata: { resourceVersion: '7' } }));
    records.acknowledge(uid, { kind: 'acknowledged', entry, copy, patched: true, phaseHeldBack: true });
    records.settle(uid, failed(500), undefined);
    expect([records.apiStatusVersions.size, records.state(uid)?.wait?.kind, copies.freshest(uid, undefined)]).toEqual([
      1,
      'backoff',
      copy,
    ]);
    records.forget(uid);
    expect([records.apiStatusVersions.size, copies.freshest(uid, undefined)]).toEqual([0, undefined]);
    expect(records.state(uid)).toMatchObject({ failures: 0, wait: undefined, phaseHeldBack: false, inDoubt: true });
  });

  it('of a dropped status keep the doubt about a PATCH for as long as the pod manager shows a copy', () => {
    const { podManager, podStatuses, records, store } = recordsOf();
    const pod = testPod({ metadata: { resourceVersion: '7' } });
    podManager.addPod(pod);
    store();
    records.begin(uid);
    records.settle(uid, failed(500), undefined);
    podStatuses.delete(uid);
    records.forget(uid);
    records.tidyUp();
    expect(records.begin(uid)).toMatchObject({ inDoubt: true });
    records.settle(uid, failed(500), undefined);
    records.forget(uid);
    podManager.removePod(pod);
    records.tidyUp();
    expect(records.state(uid)).toBeUndefined();
  });

  it('are not made for a pod without a status', () => {
    const { records } = recordsOf();
    records.fetchNext(uid);
    expect(records.state(uid)).toBeUndefined();
  });

  it('keep only a mark for a sync in flight after a drop, and ignore its result', () => {
    const { copies, records, store } = recordsOf();
    const entry = store();
    records.begin(uid);
    records.forget(uid);
    expect(records.state(uid)).toMatchObject({ failures: 0, underWay: { entryDropped: true } });
    const copy = apiPodOf(testPod({ metadata: { resourceVersion: '7' } }));
    expect(records.acknowledge(uid, { kind: 'acknowledged', entry, copy, patched: true, phaseHeldBack: false })).toEqual([]);
    expect([records.apiStatusVersions.size, copies.freshest(uid, undefined)]).toEqual([0, undefined]);
    expect(kinds(records.settle(uid, failed(500), undefined))).toEqual(['hint', 'changed']);
    // the next life of the pod cannot trust the copy at hand
    expect(records.begin(uid)).toMatchObject({ inDoubt: true });
  });
});

describe('SyncRecords, the effects of a sync', () => {
  it.each<[string, SyncOutcome, string[]]>([
    ['that is done', { kind: 'done' }, ['changed']],
    ['of a pod that was deleted', { kind: 'deleted' }, ['ended', 'changed']],
    ['of a pod that was recreated', { kind: 'recreated' }, ['ended', 'changed']],
    ['of a pod that is gone', { kind: 'gone', version: 1, resourceVersion: '7' }, ['changed']],
    ['whose request failed', failed(500), ['retry', 'failed', 'changed']],
    ['whose client is throttled', failed(429), ['pause', 'send', 'failed', 'changed']],
  ])('%s: %#', (_, outcome, expected) => {
    const { records, store } = recordsOf();
    store();
    records.begin(uid);
    if (!('version' in outcome)) records.acknowledge(uid, acknowledgement(store()));
    expect(kinds(records.settle(uid, outcome, undefined))).toEqual(expected);
  });

  it('include a hint when a newer version was set meanwhile', () => {
    const { records, store } = recordsOf();
    store();
    records.begin(uid);
    store();
    expect(kinds(records.settle(uid, failed(500), undefined))).toEqual(['retry', 'failed', 'hint', 'changed']);
  });

  it.each([
    ['sync', 'send'],
    ['look', 'look'],
  ] as const)('include the %s that was asked for meanwhile', (afterwards, kind) => {
    const { records } = recordsOf();
    expect(records.askFor(uid, afterwards)).toBe(false);
    records.begin(uid);
    expect(records.askFor(uid, afterwards)).toBe(true);
    expect(kinds(records.settle(uid, { kind: 'done' }, undefined))).toEqual([kind, 'changed']);
  });

  it('wait for a request that outlives its sync, and then for the rest of the backoff', () => {
    const { clock, records, store } = recordsOf();
    store();
    records.begin(uid);
    expect(kinds(records.settle(uid, failed(500, undefined, Promise.resolve()), undefined))).toEqual([
      'retry',
      'failed',
      'changed',
    ]);
    expect(records.state(uid)).toMatchObject({ underWay: { kind: 'overdue' }, wait: { kind: 'backoff' } });
    expect(records.retryDue(uid)).toEqual([]);
    clock.set(clock.now() + 10_000);
    expect(kinds(records.release(uid))).toEqual(['send', 'changed']);
    expect(records.state(uid)?.wait).toBeUndefined();
  });
});

describe('SyncRecords, a failed pod', () => {
  it('is sent again after its backoff, but not when it then waits for something else', () => {
    const { records, store } = recordsOf();
    store();
    records.begin(uid);
    records.settle(uid, failed(500), undefined);
    expect(kinds(records.retryDue(uid))).toEqual(['send']);
    expect(records.retryDue(uid)).toEqual([]);
  });

  it.each([
    [undefined, 500],
    [0, 500],
    [200, 500],
    [9_000, 9_000],
    [86_400_000, 300_000],
  ])('waits as long as the server asked (%s ms), never less than our own backoff, and at most five minutes', (asked, expected) => {
    const { records, store } = recordsOf();
    store();
    records.begin(uid);
    expect(effect(records.settle(uid, failed(503, asked), undefined), 'retry').afterMs).toBe(expected);
  });
});

describe('SyncRecords, the pause of the whole client', () => {
  it('counts requests that failed together as one failure', () => {
    const { records } = recordsOf();
    for (const podUID of ['a', 'b', 'c']) records.begin(podUID);
    const first = effect(records.settle('a', failed(429), undefined), 'pause').forMs;
    expect([first, ...['b', 'c'].map((podUID) => effect(records.settle(podUID, failed(429), first), 'pause').forMs)]).toEqual([
      500, 500, 500,
    ]);
  });

  it('that follows is not longer for requests that failed together', () => {
    const { records } = recordsOf();
    const forMs = (podUID: string, pauseLeftMs?: number): number => {
      records.begin(podUID);
      return effect(records.settle(podUID, failed(429), pauseLeftMs), 'pause').forMs;
    };
    expect([forMs('a'), forMs('b', 500), forMs('c', 400), forMs('a')]).toEqual([500, 500, 400, 1_000]);
  });

  it('grows with each failure until a request succeeds', () => {
    const { records, store } = recordsOf();
    const pauseMs = (): number => {
      records.begin('a');
      return effect(records.settle('a', failed(429), undefined), 'pause').forMs;
    };
    expect([pauseMs(), pauseMs(), pauseMs()]).toEqual([500, 1000, 2000]);
    records.begin(uid);
    records.acknowledge(uid, acknowledgement(store()));
    expect(pauseMs()).toBe(500);
  });

  it.each([
    [0, 500],
    [300, 500],
    [2_000, 2_000],
    [86_400_000, 300_000],
  ])('is as long as the server asked (%s ms), never less than our own backoff, and at most five minutes', (asked, expected) => {
    const { records } = recordsOf();
    records.begin('a');
    expect(effect(records.settle('a', failed(429, asked), undefined), 'pause').forMs).toBe(expected);
  });

  it('also follows from the failure of a pod whose status was dropped meanwhile', () => {
    const { records } = recordsOf();
    records.begin('a');
    records.forget('a');
    const effects = records.settle('a', failed(429, 60_000), undefined);
    expect([effect(effects, 'pause').forMs, kinds(effects)]).toEqual([60_000, ['pause', 'hint', 'changed']]);
  });

  it('is extended by a longer one that comes while it runs', () => {
    const { records } = recordsOf();
    for (const podUID of ['a', 'b']) records.begin(podUID);
    const first = effect(records.settle('a', failed(429), undefined), 'pause').forMs;
    expect(effect(records.settle('b', failed(429, 2_000), first), 'pause').forMs).toBe(2_000);
  });
});

function acknowledgement(entry: ReturnType<PodStatuses['store']>) {
  const copy = apiPodOf(testPod({ metadata: { resourceVersion: '7' } }));
  return { kind: 'acknowledged', entry, copy, patched: true, phaseHeldBack: false } as const;
}
