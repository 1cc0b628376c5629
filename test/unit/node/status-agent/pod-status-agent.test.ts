import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { PodStatusAgent } from '../../../../src/node/status-agent/pod-status-agent.ts';
import type { PodStatusAgentOptions } from '../../../../src/node/status-agent/pod-status-agent-options.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import type { RuntimeCacheProbe } from '../../../../src/status/pods/pod-deletion-safety.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';
import { TcpRelay } from '../../../support/tcp-relay.ts';
import { until } from '../../../support/until.ts';

let server: InMemoryApiServer;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock();
  server = await InMemoryApiServer.start();
});
afterEach(() => server.stop());

const runtimeCache: RuntimeCacheProbe = { hasSynced: () => true, getContainers: () => [{ state: 'running' }] };
const spec = { nodeName: 'n1', containers: [{ name: 'app', image: 'app:1' }] };
const agentOf = (given: Partial<PodStatusAgentOptions> = {}): PodStatusAgent =>
  new PodStatusAgent({ kubeConfig: server.kubeConfig(), nodeName: 'n1', runtimeCache, clock, logger: null, ...given });
const createPod = (name: string) => server.store.create({ metadata: { name }, spec });
const phaseOf = (name: string): string | undefined => server.store.get('default', name).status?.phase;
const refuseOption = (options: unknown): unknown => {
  try {
    new PodStatusAgent(options as PodStatusAgentOptions);
    return undefined;
  } catch (error) {
    return error;
  }
};

describe('PodStatusAgent', () => {
  it('knows the pods of its node once it has started, writes what is set, and leaves nothing open', async () => {
    createPod('a');
    server.store.create({ metadata: { name: 'other' }, spec: { ...spec, nodeName: 'n2' } });
    const agent = agentOf();
    expect(agent.state).toBe('idle');
    await agent.start();
    expect([agent.state, agent.statusManager.state, agent.podSource.state]).toEqual(['running', 'running', 'running']);
    const pods = agent.podManager.getPods();
    expect(pods.map(({ metadata }) => metadata?.name)).toEqual(['a']);
    for (const pod of pods) agent.statusManager.setPodStatus(pod, { phase: 'Running' });
    expect(await agent.stop()).toEqual({ pods: [], underWay: [] });
    expect(phaseOf('a')).toBe('Running');
    expect([agent.state, agent.statusManager.state, agent.podSource.state]).toEqual(['stopped', 'stopped', 'stopped']);
    await expect(agent.transport.request({ method: 'GET', path: '/version' })).rejects.toThrow('the client is closed');
    expect(clock.pendingTimers).toBe(0);
    await until(() => server.countOpenWatches() === 0);
  });

  it('says in its snapshot what is wrong with the source, then with the pods, and has no notes when all is well', async () => {
    createPod('a');
    await using agent = agentOf();
    expect(agent.snapshot()).toMatchObject({
      state: 'idle',
      hasListed: false,
      notes: [expect.stringContaining('was not started')],
    });
    server.fail({ verb: 'list', resource: 'pods', fault: { kind: 'status', code: 403 } });
    server.fail({ verb: 'watch', resource: 'pods', fault: { kind: 'status', code: 403 } });
    const started = agent.start();
    await until(() => agent.podSource.lastFailure() !== undefined);
    expect(agent.snapshot()).toMatchObject({ hasListed: false, problems: [{ kind: 'forbidden' }] });
    expect(agent.snapshot().notes).toEqual([expect.stringContaining('the source "api" has not sent its pods: ')]);
    await clock.advance(60_000);
    await started;
    expect(agent.snapshot()).toMatchObject({ state: 'running', hasListed: true, problems: [], problemCount: 0, notes: [] });
    server.fail({ verb: 'patch', resource: 'pods', fault: { kind: 'status', code: 403 } });
    for (const pod of agent.podManager.getPods()) agent.statusManager.setPodStatus(pod, { phase: 'Running' });
    await until(() => agent.snapshot().problemCount > 0);
    expect(agent.snapshot().notes).toEqual([expect.stringContaining('default/a: the status could not be written: ')]);
    await agent.stop({ drainTimeoutMs: 0 });
  });

  it('names the pods that have no status yet, until one is set; not those that have ended before', async () => {
    createPod('a');
    const spec = { nodeName: 'n1', containers: [{ name: 'app', image: 'app:1' }] };
    server.store.updateStatus({ ...server.store.create({ metadata: { name: 'over' }, spec }), status: { phase: 'Succeeded' } });
    await using agent = agentOf();
    expect(agent.snapshot().podsWithoutStatus).toEqual([]);
    await agent.start();
    const pod = agent.podManager.getPods().find(({ metadata }) => metadata?.name === 'a');
    const names = { podUID: pod?.metadata?.uid ?? '', podNamespace: 'default', podName: 'a' };
    expect(agent.snapshot()).toMatchObject({ podsWithoutStatus: [names], notes: [] });
    expect(agent.snapshot().podsWithoutStatus).toHaveLength(1);
    expect(agent.explain(names.podUID)).toMatchObject({ namespace: 'default', name: 'a', problem: undefined });
    agent.statusManager.setPodStatus(pod ?? {}, { phase: 'Running' });
    expect(agent.snapshot().podsWithoutStatus).toEqual([]);
  });

  it('explains a pod: what the status manager says, and whether the pods are listed', async () => {
    createPod('a');
    await using agent = agentOf();
    const unknown = { namespace: '', name: '', problem: undefined, hasListed: false };
    expect(agent.explain('of-nobody')).toMatchObject({ podUID: 'of-nobody', ...unknown });
    await agent.start();
    const [pod = {}] = agent.podManager.getPods();
    server.fail({ verb: 'patch', resource: 'pods', fault: { kind: 'status', code: 403 } });
    agent.statusManager.setPodStatus(pod, { phase: 'Running' });
    await until(() => agent.snapshot().problemCount > 0);
    const uid = pod.metadata?.uid ?? '';
    const status = agent.statusManager.explain(uid);
    expect(status.problem?.kind).toBe('forbidden');
    const known = { podUID: uid, namespace: 'default', name: 'a' };
    expect(agent.explain(uid)).toEqual({ ...known, problem: status.problem, status, hasListed: true });
    expect(agent.snapshot().nodeName).toBe('n1');
    await agent.stop({ drainTimeoutMs: 0 });
  });

  it('writes at once what a handler sets while the first list is being delivered', async () => {
    createPod('a');
    let flushed: Promise<unknown> | undefined;
    await using agent = agentOf({
      handlers: {
        podAdded: (pod) => {
          agent.statusManager.setPodStatus(pod, { phase: 'Running' });
          flushed = agent.statusManager.flush();
        },
      },
    });
    await agent.start();
    expect(await flushed).toEqual({ held: [] });
    expect(phaseOf('a')).toBe('Running');
  });

  it('gives each part what belongs to it, and all parts what is shared', async () => {
    createPod('a');
    server.store.create({ metadata: { name: 'elsewhere', namespace: 'other' }, spec });
    const metrics = new MetricsRecorder();
    const podManager = new BasicPodManager();
    await using agent = agentOf({
      ...{ metrics, podManager, namespace: 'default', podSource: { streamLists: false } },
      statusManager: { fetchBeforePatch: 'always', syncPeriodMs: 5000 },
    });
    expect(agent.podManager).toBe(podManager);
    await agent.start();
    expect(podManager.getPods().map(({ metadata }) => metadata?.name)).toEqual(['a']);
    for (const pod of podManager.getPods()) agent.statusManager.setPodStatus(pod, { phase: 'Running' });
    await agent.statusManager.flush();
    expect([server.countRequests('get'), server.countRequests('patch'), server.countRequests('list')]).toEqual([1, 1, 1]);
    const [ofSource, ofManager] = ['pod_status_manager_reflector_lists_total', 'pod_status_manager_requests_total'];
    expect([...metrics.names()]).toEqual(expect.arrayContaining([ofSource, ofManager]));
  });

  it('asks the container runtime, or else the rule that it was given', async () => {
    const asked: string[] = [];
    const podDeletionSafety = {
      podCouldHaveRunningContainers: ({ metadata }: { metadata?: { name?: string } }) => asked.push(metadata?.name ?? '') > 0,
      podResourcesAreReclaimed: () => false,
    };
    for (const [name, safety] of [
      ['by-runtime', {}],
      ['by-rule', { podDeletionSafety, runtimeCache: undefined }],
    ] as const) {
      createPod(name);
      await using agent = agentOf(safety as Partial<PodStatusAgentOptions>);
      await agent.start();
      const pod = agent.podManager.getPodByName('default', name);
      if (pod === undefined) throw new Error(`the agent has not seen ${name}`);
      agent.statusManager.setPodStatus(pod, { phase: 'Succeeded' });
      await agent.statusManager.flush();
      expect(agent.statusManager.explain(pod.metadata?.uid ?? '').phase).toBe('terminal-phase-held-back');
      expect(phaseOf(name)).not.toBe('Succeeded');
    }
    expect(asked).toContain('by-rule');
    expect(asked).not.toContain('by-runtime');
  });

  it('leaves a transport open that it was given', async () => {
    await using transport = new KubeTransport(server.kubeConfig(), { logger: null });
    const agent = agentOf({ kubeConfig: undefined, transport } as never);
    expect(agent.transport).toBe(transport);
    await agent.start();
    await agent.stop();
    expect(await transport.request({ method: 'GET', path: '/api/v1/pods' })).toMatchObject({ kind: 'PodList' });
  });

  it('is stopped by `await using`', async () => {
    let agent: PodStatusAgent;
    {
      await using one = agentOf();
      agent = one;
      await one.start();
    }
    expect(agent.state).toBe('stopped');
  });
});

describe('the start of a pod status agent', () => {
  it('with a dead server says so when the time is over; the agent goes on, and starts once the server is there', async () => {
    createPod('a');
    await using relay = await TcpRelay.start(server.kubeConfig());
    relay.cut();
    await using agent = agentOf({ kubeConfig: relay.through(server.kubeConfig()) });
    const started = agent.start({ timeoutMs: 500 }).catch((error: unknown) => error);
    await until(() => agent.podSource.lastFailure() !== undefined);
    await clock.advance(500);
    const error = await started;
    expect(error).toMatchObject({ code: 'ERR_START_TIMEOUT', cause: { code: 'ERR_API' } });
    expect((error as Error).message).toMatch(
      /^The pod status agent has not started within 500 ms: the pods are not listed: .*(?:ECONNRESET|hang up|closed)/,
    );
    expect(agent.state).toBe('running');
    relay.mend();
    while (agent.podManager.getPods().length === 0) await clock.advance(1000);
  });

  it('is refused a second time, and after a stop', async () => {
    const agent = agentOf();
    await agent.start();
    await expect(agent.start()).rejects.toMatchObject({
      code: 'ERR_ALREADY_STARTED',
      message: 'The pod status agent was already started; it can start only once',
    });
    await agent.stop();
    await expect(agent.start()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
  });

  it('ends with its signal, and starts nothing where that had aborted before, or with wrong options', async () => {
    server.fail({ fault: { kind: 'hang' }, times: 1e9 });
    await using agent = agentOf();
    await expect(agent.start({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    await expect(agent.start({ timeoutMs: -1 })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    expect([agent.state, agent.statusManager.state]).toEqual(['idle', 'idle']);
    const controller = new AbortController();
    const started = agent.start({ signal: controller.signal });
    controller.abort(new Error('no patience'));
    await expect(started).rejects.toThrow('no patience');
    expect(agent.state).toBe('running');
  });
});

describe('the stop of a pod status agent', () => {
  it('before its start closes what is there, and says what was not written', async () => {
    const pod = createPod('a');
    const agent = agentOf();
    agent.podManager.addPod(pod);
    agent.statusManager.setPodStatus(pod, { phase: 'Running' });
    const podUID = pod.metadata?.uid;
    expect(await agent.stop()).toMatchObject({ pods: [{ podUID, phase: 'not-started' }], underWay: [] });
    expect(agent.state).toBe('stopped');
    expect(server.countRequests()).toBe(0);
  });

  it('during its start rejects the start', async () => {
    server.fail({ fault: { kind: 'hang' }, times: 1e9 });
    const agent = agentOf();
    const started = expect(agent.start()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    expect(await agent.stop()).toEqual({ pods: [], underWay: [] });
    await started;
    expect(clock.pendingTimers).toBe(0);
  });

  it('says which pods a refusing server has not got, within the time that it has', async () => {
    const pod = createPod('a');
    const agent = agentOf();
    await agent.start();
    server.fail({ verb: 'patch', fault: { kind: 'status', code: 403, reason: 'Forbidden' }, times: 1e9 });
    agent.statusManager.setPodStatus(pod, { phase: 'Running' });
    const podUID = pod.metadata?.uid ?? '';
    await until(() => agent.statusManager.explain(podUID).phase === 'backing-off');
    // a quarter of the time stays for what comes after the drain
    const stopped = agent.stop({ timeoutMs: 1000, drainTimeoutMs: 60_000 });
    await clock.advance(749);
    expect(agent.statusManager.state).toBe('stopping');
    expect(agent.podSource.state).toBe('running');
    await clock.advance(1);
    expect(await stopped).toMatchObject({ pods: [{ podUID, phase: 'backing-off', error: { errorClass: 'forbidden' } }] });
  });

  it('gives every caller the same promise, and stops nothing for wrong options', async () => {
    await using agent = agentOf();
    await agent.start();
    for (const options of [{ timeoutMs: -1 }, { drainTimeoutMs: Number.NaN }, { drainTimeout: 1 }]) {
      await expect(agent.stop(options)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    }
    expect(agent.state).toBe('running');
    expect(agent.stop()).toBe(agent.stop());
  });

  it('does not wait longer than its time for requests of others over its transport', async () => {
    const agent = agentOf();
    await agent.start();
    server.fail({ verb: 'get', fault: { kind: 'hang' }, times: 1 });
    const path = '/api/v1/namespaces/default/pods/slow';
    const other = agent.transport.request({ method: 'GET', path, timeoutMs: 60_000 }).catch(({ reason }) => reason);
    await until(() => server.countRequests('get') === 1);
    const stopped = agent.stop({ timeoutMs: 2000 });
    await until(() => agent.podSource.state === 'stopped');
    expect(agent.state).toBe('stopping');
    await clock.advance(2000);
    expect(await stopped).toEqual({ pods: [], underWay: [] });
    await clock.advance(60_000);
    expect(await other).toBe('Timeout');
  });
});

describe('the options of a pod status agent', () => {
  const good = () => ({ kubeConfig: server.kubeConfig(), nodeName: 'n1', runtimeCache, logger: null });

  it.each([
    ['an unknown one', { nodename: 'n1' }, 'options.nodename'],
    ['no server', { kubeConfig: undefined }, '`kubeConfig` to be given, or else `transport`, and not both'],
    ['both servers', { transport: { request() {}, close() {} } }, '`kubeConfig` to be given, or else `transport`, and not both'],
    ['nobody to ask what runs', { runtimeCache: undefined }, '`runtimeCache` to be given, or else `podDeletionSafety`'],
    ['two to ask what runs', { podDeletionSafety: {} }, '`runtimeCache` to be given, or else `podDeletionSafety`'],
    ['a runtime without its methods', { runtimeCache: {} }, 'hasSynced, getContainers'],
    ['a rule without its methods', { runtimeCache: undefined, podDeletionSafety: {} }, 'podCouldHaveRunningContainers'],
    ['no node', { nodeName: '' }, '`nodeName`'],
    ['a clock that is none', { clock: {} }, '`clock`'],
    ['a logger that is none', { logger: 1 }, '`logger`'],
    ['metrics that are none', { metrics: 1 }, '`metrics`'],
    ['a pod manager that is none', { podManager: {} }, '`podManager`'],
    [
      'a part of the agent in another',
      { statusManager: { clock: {} } },
      '`statusManager.clock` to be absent: the agent gives it',
    ],
    ['no object for a part', { statusManager: 1 }, '`statusManager` to be an object of options'],
    ['an unknown one of a part', { statusManager: { syncPeriod: 1 } }, 'syncPeriod'],
    ['another unknown one of a part', { podSource: { nodeName: 'x' } }, '`podSource.nodeName` to be absent'],
    ['a handler that is misspelt', { handlers: { podsAdded() {} } }, 'podsAdded'],
  ])('are refused: %s', (_, wrong, message) => {
    expect(refuseOption({ ...good(), ...wrong })).toMatchObject({
      code: 'ERR_INVALID_OPTION',
      message: expect.stringContaining(message),
    });
  });

  it('are refused where there are none', () => {
    expect(refuseOption(undefined)).toMatchObject({ code: 'ERR_INVALID_OPTION' });
  });

  it('says who could not say what is left of a pod, so that its end is held back', async () => {
    createPod('a');
    let isBroken = true;
    const getContainers = (): never[] => {
      if (isBroken) throw new Error('the socket is closed');
      return [];
    };
    await using agent = agentOf({ runtimeCache: { hasSynced: () => true, getContainers } });
    await agent.start();
    const pod = agent.podManager.getPods()[0] ?? {};
    agent.statusManager.setPodStatus(pod, { phase: 'Succeeded' });
    await until(() => agent.snapshot().notes.length > 0);
    const problem = {
      kind: 'deletion-safety',
      message: expect.stringMatching(/^runtimeCache\.getContainers\(\) failed, so that .*: the socket is closed$/),
      help: 'Mend the method that is named: until it answers, the pod counts as one that could still run.',
    };
    expect(agent.snapshot().problems).toMatchObject([problem]);
    expect(agent.explain(pod.metadata?.uid ?? '').problem).toMatchObject(problem);
    isBroken = false;
    await agent.statusManager.flush({ timeoutMs: 1000 }).catch(() => {});
    agent.statusManager.setPodStatus(pod, { phase: 'Succeeded', message: 'over' });
    await until(() => agent.snapshot().notes.length === 0);
  });
});
