import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json/types.ts';
import { ClusterScheduler } from '../../../src/scheduler.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { ProviderNodeFixture } from '../provider/provider-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('preempt');
});
afterAll(() => server.stop());

/** A class that every cluster has, and its priority. */
const critical = { priorityClassName: 'system-node-critical', priority: 2_000_001_000 };

function podThatAsks(fixture: ProviderNodeFixture, cpu: string, spec: JsonObject = {}): JsonObject {
  return {
    nodeName: null,
    schedulerName: namespace,
    nodeSelector: { 'kubernetes.io/hostname': fixture.name },
    tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }],
    containers: [{ name: 'main', image: 'example.test/main:1', resources: { requests: { cpu } } }],
    ...spec,
  };
}

interface SeenEvent {
  readonly type?: string;
  readonly reason?: string;
  readonly action?: string;
  readonly note?: string;
  readonly regarding?: { readonly name?: string };
  readonly related?: { readonly name?: string };
}

describe('a scheduler of a full cluster', () => {
  it('makes room for a pod of a higher priority: marks its victims, deletes them and says so', async () => {
    await using fixture = await ProviderNodeFixture.start(server, namespace, {
      taints: [],
      capacity: { cpu: '4', memory: '8Gi', pods: '10' },
    });
    await using scheduler = new ClusterScheduler({
      kubeConfig: server.kubeConfig(),
      profiles: [{ schedulerName: namespace }],
      leaderElection: false,
      logger: null,
    });
    await scheduler.start();
    for (const [name, cpu] of [
      ['big', '2'],
      ['small', '1'],
      ['tiny', '500m'],
    ] as const) {
      await fixture.create(name, { spec: podThatAsks(fixture, cpu) });
      await fixture.ready(name);
    }
    const { admin } = server;
    const marked: unknown[] = [];
    const watching = (async () => {
      for await (const event of admin.watchPods(namespace, { fieldSelector: 'metadata.name=big' })) {
        if (event.type === 'ERROR') throw new Error(JSON.stringify(event));
        const { status } = event.object as { status?: { conditions?: readonly { readonly type: string }[] } };
        marked.push(...(status?.conditions ?? []).filter(({ type }) => type === 'DisruptionTarget'));
        if (event.type === 'DELETED') return;
      }
    })();
    await fixture.create('urgent', { spec: podThatAsks(fixture, '2500m', critical) });
    await fixture.ready('urgent');
    await watching;
    await scheduler.flush();
    expect(marked[0]).toMatchObject({
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: `${namespace}: preempting to accommodate a higher priority pod`,
    });
    await fixture.gone('big');
    // two CPUs are enough, so the lesser pods stay
    for (const name of ['small', 'tiny']) expect((await fixture.served(name)).metadata).not.toHaveProperty('deletionTimestamp');
    const urgent = await fixture.served('urgent');
    const events = await fixture.until('the event of the victim', async () => {
      const list = await fixture.object(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
      const items = ((list?.items ?? []) as unknown as SeenEvent[]).filter(({ reason }) => reason === 'Preempted');
      return items.length > 0 && items;
    });
    expect(events).toMatchObject([
      {
        ...{ type: 'Normal', reason: 'Preempted', action: 'Preempting' },
        note: `Preempted by pod ${urgent.metadata.uid} on node ${fixture.name}`,
        regarding: { name: 'big' },
        related: { name: 'urgent' },
      },
    ]);
  });

  it('tells a pod that is no more important than the others why it waits, and binds it when there is room', async () => {
    await using fixture = await ProviderNodeFixture.start(server, namespace, {
      taints: [],
      capacity: { cpu: '1', memory: '8Gi', pods: '10' },
    });
    await using scheduler = new ClusterScheduler({
      kubeConfig: server.kubeConfig(),
      profiles: [{ schedulerName: namespace }],
      leaderElection: false,
      logger: null,
    });
    await scheduler.start();
    await fixture.create('there', { spec: podThatAsks(fixture, '1') });
    await fixture.ready('there');
    await fixture.create('patient', { spec: podThatAsks(fixture, '1') });
    const waiting = await fixture.served('patient', (pod) => {
      return pod.status.conditions?.some(({ type, status }) => type === 'PodScheduled' && status === 'False') ?? false;
    });
    expect(JSON.stringify(waiting.status.conditions)).toContain('No preemption victims found for incoming pod');
    await fixture.delete('there', 0);
    await fixture.ready('patient');
  });
});
