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
    expect(node.explain(uid).failure).toMatchObject({ method: 'createPod', message: 'no room', attempts: 1 });
    expect(node.explain(uid).worker?.failure).toMatchObject({ attempts: 1 });
    expect(node.snapshot().notes).toEqual([
      'the last sync of 1 pod failed',
      'calls of the provider failed for 1 pod, such as createPod() of default/web: no room',
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
    expect(node.snapshot().notes.at(-1)).toContain('deletePod() of default/web: ');
    await node.stop({ callsTimeoutMs: 0, drainTimeoutMs: 0 });
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
      'the source "mute" has not sent its pods',
      'the source "broken" has not sent its pods: the disk is full',
      'the node is not ready: the pod sources have not been heard yet',
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
