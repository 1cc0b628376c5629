import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PodProvider } from '../../../../src/node/provider/pod-provider.ts';
import { ProviderNode } from '../../../../src/node/provider/provider-node.ts';
import type { ProviderNodeOptions } from '../../../../src/node/provider/provider-node-options.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { passUntil } from './pass-until.ts';

let server: InMemoryApiServer;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock();
  server = await InMemoryApiServer.start();
});
afterEach(() => server.stop());

const provider: PodProvider = { createPod() {}, updatePod() {}, deletePod() {}, getPodStatus: () => ({ phase: 'Running' }) };
const nodeOf = (given: Partial<ProviderNodeOptions> = {}): ProviderNode =>
  new ProviderNode({ clock, logger: null, kubeConfig: server.kubeConfig(), nodeName: 'shown', provider, ...given });

function createPod(name = 'web'): string {
  const spec = { nodeName: 'shown', containers: [{ name: 'app', image: 'a' }] };
  return server.store.create({ metadata: { name, namespace: 'default' }, spec }).metadata?.uid ?? '';
}

describe('the snapshot of a provider node', () => {
  it('says that nothing was started, that nothing is wrong, and that the node has stopped', async () => {
    const uid = createPod();
    const node = nodeOf();
    expect(node.snapshot()).toMatchObject({
      state: 'idle',
      registered: false,
      ready: false,
      notes: ['the node was not started'],
    });
    await node.start();
    await passUntil(clock, () => node.snapshot().ready && node.snapshot().notes.length === 0);
    await passUntil(clock, () => node.statusManager.explain(uid).phase === 'in-sync');
    const shown = node.snapshot();
    expect(shown).toMatchObject({
      state: 'running',
      nodeName: 'shown',
      registered: true,
      node: { uid: node.nodeObject.node?.metadata?.uid, readiness: { ready: true } },
      sources: [{ name: 'api', hasSent: true, isWaiting: false, pods: 1, lastError: undefined }],
      loop: { state: 'running', sourcesReady: true },
      workers: { pods: 1, sync: 1, terminating: 0, terminated: 0, failing: 0 },
      pods: [{ podUID: uid, namespace: 'default', name: 'web', source: 'api', isHeld: true, couldRun: true }],
    });
    expect(shown.sources[0]?.lastObservedAt).toBeLessThanOrEqual(shown.at);
    expect(node.snapshot({ pods: false })).toMatchObject({ workers: { pods: 1 }, pods: [] });
    expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
    await node.stop();
    expect(node.snapshot()).toMatchObject({ state: 'stopped', notes: ['the node has stopped'], loop: { state: 'stopped' } });
  });

  it('names the pod of which admitPod says nothing, until it does', async () => {
    const uid = createPod();
    let isBroken = true;
    const admitPod = () => {
      if (isBroken) throw new Error('the quota service is away');
      return { admit: true } as const;
    };
    const node = nodeOf({ admitPod });
    await node.start();
    const problem = { kind: 'admission', message: 'admitPod() failed: the quota service is away', podUID: uid, podName: 'web' };
    await passUntil(clock, () => node.snapshot().problemCount === 1);
    expect(node.snapshot().problems).toMatchObject([problem]);
    expect(node.snapshot().notes[0]).toContain('default/web: admitPod() failed: the quota service is away');
    expect(node.explain(uid).problem).toMatchObject(problem);
    isBroken = false;
    await passUntil(clock, () => node.snapshot().notes.length === 0);
    expect(node.explain(uid).problem).toBeUndefined();
    await node.stop();
  });

  it('names what the server refuses, while the node starts', async () => {
    server.fail({ resource: 'nodes', verb: 'create', fault: { kind: 'status', code: 403, reason: 'Forbidden' }, times: 1e9 });
    server.fail({ resource: 'pods', fault: { kind: 'status', code: 503 }, times: 1e9 });
    await using node = nodeOf();
    const started = node.start();
    started.catch(() => {});
    const notes = () => node.snapshot().notes;
    await until(() => node.snapshot().node.lastError !== undefined && node.snapshot().sources[0]?.lastError !== undefined);
    expect(notes()).toEqual([
      expect.stringMatching(/^the node object is not registered: ./),
      expect.stringMatching(/^the source "api" has not sent its pods: ./),
    ]);
    expect(node.snapshot().node.lastError).toMatchObject({ errorClass: 'forbidden' });
    expect(node.snapshot().sources[0]?.lastError).toMatchObject({ errorClass: 'unavailable' });
    server.clearFaults();
    await passUntil(clock, () => node.snapshot().registered && node.snapshot().sources[0]?.hasSent === true);
    await started;
    await passUntil(clock, () => notes().length === 0);
    expect(node.snapshot().sources[0]?.lastError).toBeUndefined();
  });

  it('says which calls wait for their turn, in the notes after ten seconds', async () => {
    const hanging: PodProvider = { ...provider, createPod: () => new Promise<never>(() => {}), getPodStatus: () => undefined };
    await using node = nodeOf({ provider: hanging, pods: { concurrency: 2 } });
    await node.start();
    createPod('first');
    const uid = createPod('second');
    await passUntil(clock, () => node.snapshot().callsWaiting > 0);
    const waiting = node.snapshot().pods.find(({ waitsForTurn }) => waitsForTurn !== undefined);
    expect(waiting).toMatchObject({ waitsForTurn: { method: 'createPod' }, underWay: undefined, change: 'createPod' });
    expect([node.snapshot().callsWaiting, node.snapshot().problems]).toEqual([1, []]);
    expect(JSON.stringify(node.explain(waiting?.podUID ?? uid).waitsForTurn)).toMatch(/^{"method":"createPod","since":\d+}$/);
    await passUntil(clock, () => node.snapshot().problemCount > 0);
    expect(node.snapshot().notes).toEqual([
      expect.stringMatching(
        /^default\/(first|second): createPod\(\) waits for its turn: 1 calls of the provider are under way, and 1 wait/,
      ),
    ]);
    await node.stop({ callsTimeoutMs: 0 });
  });

  it('names the call of the provider that failed, and forgets it once it succeeds', async () => {
    let failure: Error | undefined = new Error('no room');
    const createPodOfProvider = (): void => {
      if (failure !== undefined) throw failure;
    };
    let isDeleting = false;
    const failing: PodProvider = {
      ...provider,
      createPod: createPodOfProvider,
      deletePod() {
        isDeleting = true;
        throw new Error('no way');
      },
      getPodStatus: () => (failure === undefined ? { phase: 'Running' } : undefined),
    };
    // the next try is far away
    const pods = { backoffBaseMs: 60_000, backoffMaxMs: 60_000 };
    await using node = nodeOf({ provider: failing, pods, random: () => 0.9 });
    await node.start();
    const uid = createPod();
    await until(() => node.explain(uid).worker?.failure !== undefined);
    expect(node.explain(uid).failure).toMatchObject({ method: 'createPod', message: 'no room', attempt: 1 });
    expect(node.explain(uid).worker?.failure).toMatchObject({ attempt: 1 });
    const problem = {
      kind: 'create-pod',
      message: 'createPod() failed: no room',
      attempt: 1,
      podUID: uid,
      podNamespace: 'default',
      podName: 'web',
    };
    expect(node.explain(uid).problem).toMatchObject(problem);
    expect(node.snapshot()).toMatchObject({ problems: [problem], problemCount: 1, podsWithoutStatus: [] });
    expect(node.snapshot().notes).toEqual([
      expect.stringMatching(/^default\/web: createPod\(\) failed: no room; next try in \d+ s$/),
    ]);
    expect(node.explain(uid)).toMatchObject({
      ...{ podUID: uid, name: 'web', source: 'api', deleteFailure: undefined },
      worker: { state: 'sync', call: undefined, isStarted: true, isFinished: false },
      sourceReport: { name: 'api', hasSent: true },
      status: { podUID: uid },
    });
    expect(node.explain(uid).nextSyncAt).toBeGreaterThan(clock.now());
    failure = undefined;
    server.store.delete('default', 'web', { gracePeriodSeconds: 1 });
    await until(() => isDeleting && node.explain(uid).deleteFailure !== undefined);
    expect(node.explain(uid).deleteFailure).toMatchObject({ message: expect.stringContaining('no way') });
    expect(node.explain(uid)).toMatchObject({ isTerminationRequested: true, worker: { state: 'terminating', isDeleted: true } });
    expect(node.snapshot().notes.at(-1)).toContain('default/web: deletePod() failed: no way');
    await node.stop({ callsTimeoutMs: 0, drainTimeoutMs: 0 });
  });

  it('tells of a pod of which the provider never says how it is: it has no status, and a problem', async () => {
    const error = Object.assign(new RangeError('cloud: 500'), { code: 'E_CLOUD' });
    const silent: PodProvider = {
      ...provider,
      getPodStatus() {
        throw error;
      },
    };
    const lines: [message: string, fields: object][] = [];
    const line = (fields: object, message: string): void => void lines.push([message, fields]);
    const logger = { debug() {}, info() {}, warn: line, error: line };
    await using node = nodeOf({
      provider: silent,
      pods: { backoffBaseMs: 60_000, backoffMaxMs: 60_000 },
      random: () => 0.9,
      logger,
    });
    await node.start();
    const uid = createPod();
    await until(() => node.explain(uid).worker?.failure !== undefined);
    const names = { podUID: uid, podNamespace: 'default', podName: 'web' };
    expect(node.explain(uid)).toMatchObject({
      askedAt: expect.any(Number),
      answerFailure: { message: 'cloud: 500', attempt: 1 },
      problem: { ...names, kind: 'get-pod-status', message: 'getPodStatus() failed: cloud: 500' },
    });
    expect(node.snapshot()).toMatchObject({ podsWithoutStatus: [names], problems: [{ kind: 'get-pod-status' }] });
    expect(node.snapshot().notes).toEqual([expect.stringMatching(/^default\/web: getPodStatus\(\) failed: cloud: 500; /)]);
    const failed = { err: error, method: 'getPodStatus', ...names, attempt: 1, retryInMs: expect.any(Number) };
    expect(lines).toMatchObject([['a pod was not synced and will be synced again', failed]]);
    expect((lines[0]?.[1] as { err: unknown }).err).toBe(error);
  });

  it('tells of a call that is under way, which is no problem', async () => {
    const hanging: PodProvider = { ...provider, createPod: () => new Promise(() => {}), getPodStatus: () => undefined };
    await using node = nodeOf({ provider: hanging });
    await node.start();
    const uid = createPod();
    await until(() => node.explain(uid).underWay?.method === 'createPod');
    const call = { method: 'createPod', since: clock.now() };
    expect(node.snapshot().callsUnderWay).toEqual([]);
    await clock.advance(1000);
    expect(node.snapshot({ pods: false })).toMatchObject({
      callsUnderWay: [{ podUID: uid, podNamespace: 'default', podName: 'web', ...call }],
      problems: [],
      notes: [],
    });
    expect(node.explain(uid)).toMatchObject({ underWay: call, problem: undefined });
    await node.stop({ callsTimeoutMs: 0 });
  });

  it('tells of statuses that the apiserver refuses, beside what the provider says', async () => {
    const failing: PodProvider = {
      ...provider,
      createPod() {
        throw new Error('quota exceeded');
      },
      getPodStatus: () => undefined,
    };
    server.fail({ verb: 'patch', resource: 'pods', times: 1000, fault: { kind: 'status', code: 403 } });
    await using node = nodeOf({ provider: failing, pods: { backoffBaseMs: 60_000, backoffMaxMs: 60_000 }, random: () => 0.9 });
    await node.start();
    const uid = createPod();
    await until(() => node.snapshot().problemCount === 2);
    expect(
      node
        .snapshot()
        .problems.map(({ kind }) => kind)
        .sort(),
    ).toEqual(['create-pod', 'forbidden']);
    expect(node.explain(uid).problem?.kind).toBe('create-pod');
    await node.stop({ drainTimeoutMs: 0 });
  });

  it('shows what a source of somebody else says, also one that throws', async () => {
    const mute = { start() {}, stop() {}, lastObservedAt: () => 'yesterday' as never };
    const broken = {
      ...{ start() {}, stop() {} },
      lastObservedAt(): number {
        throw new Error('no');
      },
      lastFailure: () => ({ error: new Error('the disk is full'), at: 1, retryAt: 2 }),
    };
    await using node = nodeOf({ sources: { mute, broken } });
    await node.start();
    await until(() => node.snapshot({ pods: false }).sources[0]?.hasSent === true);
    expect(node.snapshot({ pods: false }).sources).toMatchObject([
      { name: 'api', hasSent: true },
      { name: 'mute', hasSent: false, lastObservedAt: undefined, lastError: undefined },
      { name: 'broken', hasSent: false, lastObservedAt: undefined, lastError: { message: 'the disk is full', retryAt: 2 } },
    ]);
    expect(node.snapshot().notes).toEqual([
      'the source "broken" has not sent its pods: the disk is full; it is tried again now',
      'the node is not ready: the pod sources have not been heard yet',
      'the source "mute" has not sent its pods',
    ]);
  });

  it('waits for the list of a provider that does not answer, and says so', async () => {
    const node = nodeOf({ provider: { ...provider, getPods: () => new Promise<never>(() => {}) } });
    const outcome = expect(node.start()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    await until(() => node.snapshot().notes.includes('the provider has not answered getPods() yet'));
    await node.stop();
    await outcome;
  });

  it('refuses wrong options', () => {
    expect(() => nodeOf().snapshot({ typo: 1 } as never)).toThrow('typo');
    expect(() => nodeOf().snapshot({ pods: 1 } as never)).toThrow('pods');
  });
});
