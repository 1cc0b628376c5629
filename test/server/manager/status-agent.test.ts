import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import type { RuntimeContainerState } from '../../../src/api/pod/runtime-pod.ts';
import { PodStatusAgent } from '../../../src/node/status-agent/pod-status-agent.ts';
import type { PodStatusAgentOptions } from '../../../src/node/status-agent/pod-status-agent-options.ts';
import { buildRunningStatus } from '../../../src/testing/fakes/builders.ts';
import { podOf, type ServedPod } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { TcpRelay } from '../../support/tcp-relay.ts';
import { until } from '../../support/until.ts';
import { podJson } from '../pods-contract/pods-contract-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('agent');
});
afterAll(() => server.stop());

/** An agent over a container runtime that a test fills: the states of each pod's containers, by its uid. */
class TestAgent implements AsyncDisposable {
  readonly nodeName = `${namespace}-${randomBytes(3).toString('hex')}`;
  readonly containers = new Map<string, RuntimeContainerState[]>();
  readonly agent: PodStatusAgent;

  constructor(given: Partial<PodStatusAgentOptions> = {}) {
    this.agent = new PodStatusAgent({
      kubeConfig: server.kubeConfig(),
      nodeName: this.nodeName,
      logger: null,
      runtimeCache: {
        hasSynced: () => true,
        getContainers: (podUID) => (this.containers.get(podUID) ?? []).map((state) => ({ state })),
      },
      ...given,
    });
  }

  async create(name: string): Promise<ServedPod> {
    return podOf(await server.admin.createPod(namespace, podJson(name, { spec: { nodeName: this.nodeName } })));
  }

  /** The pod manager's pod of this name, once it is as wanted. */
  async seen(name: string, isWanted: (pod: WirePod) => boolean = () => true): Promise<WirePod> {
    const find = (): WirePod | undefined => this.agent.podManager.getPodByName(namespace, name) as WirePod | undefined;
    await until(() => find() !== undefined && isWanted(find() as WirePod));
    return find() as WirePod;
  }

  /** The pod runs, and the agent says so. */
  run(pod: WirePod): void {
    this.containers.set(pod.metadata?.uid ?? '', ['running']);
    this.agent.statusManager.setPodStatus(pod, buildRunningStatus(pod));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.agent.stop({ drainTimeoutMs: 0 });
  }
}

const served = async (name: string): Promise<ServedPod> => podOf(await server.admin.getPod(namespace, name));
const isGone = async (name: string): Promise<boolean> => (await server.admin.getPod(namespace, name)).status === 404;

describe('a pod status agent', () => {
  it('tells of the pods that were there and of those that come, and of all of them before it ends', async () => {
    await using test = new TestAgent();
    await test.create('early');
    await test.agent.start({ timeoutMs: 60_000 });
    test.run(await test.seen('early'));
    await test.create('late');
    test.run(await test.seen('late'));
    expect(await test.agent.stop()).toEqual({ pods: [], underWay: [] });
    for (const name of ['early', 'late']) expect((await served(name)).status.phase).toBe('Running');
  });

  it('lets a deleted pod go once the runtime lists nothing of it any more', async () => {
    await using test = new TestAgent({ statusManager: { syncPeriodMs: 50 } });
    await test.agent.start();
    await test.create('deleted');
    const pod = await test.seen('deleted');
    const podUID = pod.metadata?.uid ?? '';
    test.run(pod);
    await test.agent.statusManager.flush();
    await server.admin.deletePod(namespace, 'deleted', { gracePeriodSeconds: 30 });
    await test.seen('deleted', ({ metadata }) => metadata?.deletionTimestamp !== undefined);
    expect(await isGone('deleted')).toBe(false);
    // its containers have ended, and were removed
    test.containers.delete(podUID);
    const { containerStatuses = [], ...status } = buildRunningStatus(pod);
    const terminated = { exitCode: 0, reason: 'Completed', startedAt: status.startTime, finishedAt: status.startTime };
    const ended = containerStatuses.map((one) => ({ ...one, ready: false, started: false, state: { terminated } }));
    test.agent.statusManager.setPodStatus(await test.seen('deleted'), { ...status, containerStatuses: ended });
    await until(() => test.agent.podManager.getPodByUID(podUID) === undefined);
    expect(await isGone('deleted')).toBe(true);
  });

  it('starts where the server is dead, as soon as it is there', async () => {
    await using relay = await TcpRelay.start(server.kubeConfig());
    relay.cut();
    await using test = new TestAgent({ kubeConfig: relay.through(server.kubeConfig()) });
    await test.create('behind');
    await expect(test.agent.start({ timeoutMs: 200 })).rejects.toMatchObject({
      code: 'ERR_START_TIMEOUT',
      message: expect.stringMatching(/^The pod status agent has not started within 200 ms: the pods are not listed: GET ./),
    });
    relay.mend();
    test.run(await test.seen('behind'));
    await test.agent.statusManager.flush();
    expect((await served('behind')).status.phase).toBe('Running');
  });

  it('can be stopped before its start, during it and twice, and starts only once', async () => {
    const idle = new TestAgent().agent;
    expect(await idle.stop()).toEqual({ pods: [], underWay: [] });
    await expect(idle.start()).rejects.toMatchObject({ code: 'ERR_STOPPED' });

    await using relay = await TcpRelay.start(server.kubeConfig());
    relay.hold();
    const starting = new TestAgent({ kubeConfig: relay.through(server.kubeConfig()) }).agent;
    const started = expect(starting.start()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    await until(() => relay.connections > 0);
    expect(await starting.stop()).toEqual({ pods: [], underWay: [] });
    await started;
    await until(() => relay.connections === 0);

    await using test = new TestAgent();
    await test.agent.start();
    await expect(test.agent.start()).rejects.toMatchObject({ code: 'ERR_ALREADY_STARTED' });
    expect(test.agent.stop()).toBe(test.agent.stop());
  });

  it('that is made anew over the same pods sends nothing for what has not changed', async () => {
    await using first = new TestAgent();
    await first.agent.start();
    await first.create('kept');
    first.run(await first.seen('kept'));
    await first.agent.stop();
    const before = await served('kept');
    await using second = new TestAgent({ nodeName: first.nodeName });
    await second.agent.start();
    second.run(await second.seen('kept'));
    expect(await second.agent.statusManager.flush()).toEqual({ held: [] });
    expect((await served('kept')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });
});
