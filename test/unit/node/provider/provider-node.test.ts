import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NodePod, PodProvider, ProviderCall } from '../../../../src/node/provider/pod-provider.ts';
import { ProviderNode } from '../../../../src/node/provider/provider-node.ts';
import type { ProviderNodeOptions } from '../../../../src/node/provider/provider-node-options.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { passUntil } from './pass-until.ts';

let server: InMemoryApiServer;
beforeAll(async () => {
  server = await InMemoryApiServer.start();
});
afterAll(() => server.stop());

let clock: FakeClock;
beforeEach(() => {
  clock = new FakeClock();
});

const provider: PodProvider = { createPod() {}, updatePod() {}, deletePod() {}, getPodStatus: () => ({ phase: 'Running' }) };
const options = (given: Partial<ProviderNodeOptions> = {}): ProviderNodeOptions => ({
  kubeConfig: server.kubeConfig(),
  nodeName: 'unit',
  provider,
  clock,
  logger: null,
  ...given,
});

describe('ProviderNode', () => {
  it.each([
    ['provider', { provider: {} as never }],
    ['provider.getPods', { provider: { ...provider, getPods: 1 } as never }],
    ['kubeConfig', { transport: {} as never }],
    ['transport', { kubeConfig: undefined as never, transport: { request: () => {} } as never }],
    ['nodeName', { nodeName: 'No Name' }],
    ['typo', { typo: 1 } as never],
    ['sources', { sources: { api: { start() {}, stop() {} } } }],
    ['sources.file', { sources: { file: {} as never } }],
    ['statusManager.podManager', { statusManager: { podManager: 1 } as never }],
    ['statusManager.podClient', { statusManager: { podClient: null } as never }],
    ['pods.typo', { pods: { typo: 1 } as never }],
    ['workers.typo', { workers: { typo: 1 } as never }],
    ['capacity.cpu', { capacity: { memory: '1', pods: '1' } }],
    ['readiness', { readiness: 1 as never }],
  ])('refuses a wrong option and names it: %s', (name, given) => {
    expect(() => new ProviderNode(options(given))).toThrow(name);
    expect(() => new ProviderNode(options(given))).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });

  it('can be stopped before its start, and not started after its stop', async () => {
    const node = new ProviderNode(options());
    await node.stop();
    expect(node.state).toBe('stopped');
    await expect(node.start()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    expect(await node.stop()).toBe(await node.stop());
  });

  it('starts once, and refuses wrong options of its stop without being stopped by them', async () => {
    await using node = new ProviderNode(options());
    await node.start();
    await expect(node.start()).rejects.toMatchObject({ code: 'ERR_ALREADY_STARTED' });
    await expect(node.stop({ drainTimeoutMs: -1 })).rejects.toThrow('drainTimeoutMs');
    await expect(node.stop({ typo: 1 } as never)).rejects.toThrow('typo');
    expect(node.state).toBe('running');
  });

  it('that is stopped while it starts says so, also when its provider never lists its pods', async () => {
    const node = new ProviderNode(options({ provider: { ...provider, getPods: () => new Promise<never>(() => {}) } }));
    const started = node.start();
    const outcome = expect(started).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    await node.stop();
    await outcome;
  });

  it('tells of its node by events', async () => {
    const told: string[] = [];
    const nodeEvent = (name: string, type: string, reason: string) => void told.push(`${name} ${type} ${reason}`);
    await using node = new ProviderNode(options({ nodeName: 'tells', eventRecorder: { event: () => {}, nodeEvent } }));
    await node.start();
    await passUntil(clock, () => told.includes('tells Normal NodeReady'));
    expect(told[0]).toBe('tells Normal Starting');
  });

  it('takes a provider whose notifyPods and getPods fail', async () => {
    const broken = {
      ...provider,
      notifyPods: () => Promise.reject(new Error('no')),
      getPods: () => {
        throw new Error('no');
      },
    };
    await using node = new ProviderNode(options({ provider: broken }));
    await node.start();
    expect(node.state).toBe('running');
  });

  it('asks for the list again soon where it could not be had at the start', async () => {
    let asked = 0;
    const getPods = (): [] => {
      asked += 1;
      if (asked < 3) throw new Error('cloud: 503');
      return [];
    };
    await using node = new ProviderNode(options({ provider: { ...provider, getPods } }));
    const kinds = () => node.snapshot().problems.map(({ kind }) => kind);
    await node.start();
    expect(kinds()).toContain('get-pods');
    const before = clock.now();
    await passUntil(clock, () => !kinds().includes('get-pods'));
    expect([asked, clock.now() - before < 2000]).toEqual([3, true]);
  });

  it('tells of a pod at once when its provider does', async () => {
    let message: string | undefined;
    let notify: Parameters<NonNullable<PodProvider['notifyPods']>>[0] = () => {};
    const telling: PodProvider = {
      ...provider,
      getPodStatus: () => ({ phase: 'Running', ...(message !== undefined && { message }) }),
      notifyPods: (given) => {
        notify = given;
      },
    };
    await using node = new ProviderNode(options({ nodeName: 'telling', provider: telling }));
    await node.start();
    const metadata = { name: 'told', namespace: 'default' };
    const pod = server.store.create({ metadata, spec: { nodeName: 'telling', containers: [{ name: 'app', image: 'a' }] } });
    const said = () => server.store.get('default', 'told').status;
    await until(() => said()?.phase === 'Running');
    for (const garbage of [undefined, null, 7, {}, '', 'unknown']) notify(garbage as never);
    message = 'by uid';
    notify(pod.metadata?.uid ?? '');
    await until(() => said()?.message === 'by uid');
    message = 'by pod';
    notify(pod);
    await until(() => said()?.message === 'by pod');
    expect(node.explain(pod.metadata?.uid ?? '')).toMatchObject({ couldRun: true, isHeld: true, isTerminationRequested: false });
  });

  it('asks about a pod at once when it is told to, also where its provider tells nothing', async () => {
    let message = 'before';
    const silent: PodProvider = { ...provider, getPodStatus: () => ({ phase: 'Running', message }) };
    const pods = { pollIntervalMs: 3_600_000 };
    await using node = new ProviderNode(options({ nodeName: 'silent', provider: silent, pods }));
    await node.start();
    const metadata = { name: 'silent', namespace: 'default' };
    const pod = server.store.create({ metadata, spec: { nodeName: 'silent', containers: [{ name: 'app', image: 'a' }] } });
    const said = () => server.store.get('default', 'silent').status?.message;
    await until(() => said() === 'before');
    message = 'by uid';
    node.notify(pod.metadata?.uid ?? '');
    await until(() => said() === 'by uid');
    message = 'by pod';
    node.notify(pod);
    await until(() => said() === 'by pod');
    expect(() => node.notify(undefined as never)).not.toThrow();
  });

  it('explains which call creates a pod, and since when', async () => {
    const creating: PodProvider = { ...provider, createPod: () => new Promise<never>(() => {}), getPodStatus: () => undefined };
    await using node = new ProviderNode(options({ nodeName: 'creating', provider: creating, pods: { changeTimeoutMs: 60_000 } }));
    await node.start();
    const metadata = { name: 'created', namespace: 'default' };
    const pod = server.store.create({ metadata, spec: { nodeName: 'creating', containers: [{ name: 'app', image: 'a' }] } });
    const explained = () => node.explain(pod.metadata?.uid ?? '');
    await until(() => explained().change === 'createPod');
    const since = clock.now();
    await clock.advance(1000);
    expect(explained().changeSince).toBe(since);
    await node.stop({ callsTimeoutMs: 0 });
  });

  it.each([
    ['is written when the node owns its type', ['example.com/gate'], 'True'],
    ['is not written when the node does not', [], undefined],
  ])('a condition that its provider gives %s', async (_, ownedConditionTypes, expected) => {
    const conditions = [{ type: 'example.com/gate', status: 'True', message: 'open' }];
    const gated: PodProvider = { ...provider, getPodStatus: () => ({ phase: 'Running', conditions }) };
    const nodeName = `gated-${ownedConditionTypes.length}`;
    await using node = new ProviderNode(options({ nodeName, provider: gated, statusManager: { ownedConditionTypes } }));
    await node.start();
    const spec = { nodeName, containers: [{ name: 'app', image: 'a' }], readinessGates: [{ conditionType: 'example.com/gate' }] };
    server.store.create({ metadata: { name: nodeName, namespace: 'default' }, spec });
    const said = (type: string) =>
      server.store.get('default', nodeName).status?.conditions?.find((condition) => condition.type === type)?.status;
    await until(() => said('Ready') === 'True');
    expect(said('example.com/gate')).toBe(expected);
  });

  it('is not ready before every source has sent its pods, nor when the embedder says so', async () => {
    let send: (pods: []) => void = () => {};
    const late = {
      start: (given: typeof send) => {
        send = given;
      },
      stop() {},
    };
    let readiness: unknown = { ready: true };
    const given = { nodeName: 'late', sources: { file: late }, readiness: () => readiness as never };
    await using node = new ProviderNode(options(given));
    await node.start();
    const ready = () => node.nodeObject.node?.status?.conditions?.find(({ type }) => type === 'Ready');
    await passUntil(clock, () => ready()?.message === 'the pod sources have not been heard yet');
    send([]);
    await passUntil(clock, () => ready()?.status === 'True');
    readiness = { ready: false, message: 'not now' };
    node.nodeObject.changed();
    await passUntil(clock, () => ready()?.message === 'not now');
  });

  it("keeps a quarter of its time for the node's object", async () => {
    const node = new ProviderNode(options());
    const workers = vi.spyOn(node.podWorkers, 'stop');
    const statuses = vi.spyOn(node.statusManager, 'stop');
    const object = vi.spyOn(node.nodeObject, 'stop');
    await node.stop({ timeoutMs: 40_000, callsTimeoutMs: 35_000, drainTimeoutMs: 35_000 });
    const given = [workers, statuses, object].map(({ mock }) => Object.values(mock.calls[0]?.[0] ?? {}).map(Math.ceil)[0]);
    expect(given.map((ms = 0) => Math.ceil(ms / 5000) * 5000)).toEqual([30_000, 30_000, 40_000]);
  });

  it('stops within its time with a server that answers nothing', async () => {
    const hanging = await InMemoryApiServer.start();
    const given = { kubeConfig: hanging.kubeConfig(), removeOnStop: true, nodeName: 'hanging' };
    const node = new ProviderNode(options(given));
    await node.start();
    await passUntil(clock, () => node.nodeObject.explain().lastRenewAt !== undefined);
    hanging.fail({ fault: { kind: 'hang' }, resource: '*', times: 1e9 });
    node.nodeObject.setStatus({ capacity: { cpu: '1', memory: '1', pods: '1' } });
    const startedAt = clock.elapsed();
    const stopped = node.stop({ timeoutMs: 2000 });
    await passUntil(clock, () => node.state === 'stopped');
    expect(await stopped).toMatchObject({ node: { node: 'failed', lease: 'failed' } });
    // a few ms may pass while the sockets close
    expect(clock.elapsed() - startedAt).toBeLessThan(2500);
    await hanging.stop();
  });

  it('says which calls of the provider go on when it stops, and waits for those that end soon', async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const provider = {
      createPod: ({ metadata }: NodePod, { signal }: ProviderCall): unknown => {
        if (metadata.name === 'quick') return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        return metadata.name === 'ends' ? undefined : ended;
      },
      deletePod: () => ended,
      getPodStatus: ({ metadata }: NodePod) => (metadata.name === 'ends' ? { phase: 'Running' } : undefined),
    };
    const own = await InMemoryApiServer.start();
    const node = new ProviderNode(options({ nodeName: 'left', kubeConfig: own.kubeConfig(), provider }));
    await node.start();
    const create = (name: string): string =>
      own.store.create({ metadata: { name }, spec: { nodeName: 'left', containers: [{ name: 'app', image: 'app:1' }] } }).metadata
        ?.uid ?? '';
    const uids = ['quick', 'hangs', 'ends'].map(create);
    const methodOf = (uid: string | undefined) => node.explain(uid ?? '').underWay?.method;
    await passUntil(clock, () => uids.slice(0, 2).every((uid) => methodOf(uid) === 'createPod'));
    await passUntil(clock, () => node.explain(uids[2] ?? '').isHeld);
    own.store.delete('default', 'ends', { gracePeriodSeconds: 30 });
    await passUntil(clock, () => methodOf(uids[2]) === 'deletePod');
    const stopped = node.stop({ callsTimeoutMs: 500 });
    await passUntil(clock, () => node.state === 'stopped');
    const { workers, calls } = await stopped;
    expect(workers.unsettled).toEqual([]);
    const at = { podNamespace: 'default', since: expect.any(Number) };
    expect(calls).toEqual([
      { ...at, podUID: uids[1], podName: 'hangs', method: 'createPod' },
      { ...at, podUID: uids[2], podName: 'ends', method: 'deletePod' },
    ]);
    end();
    await own.stop();
  });
});
