import { describe, expect, it, onTestFinished } from 'vitest';
import { NodeFleet, type NodeFleetOptions, shardOf } from '../../../src/fleet.ts';
import { type KubeRequest, KubeTransport } from '../../../src/index.ts';
import type { PodProvider } from '../../../src/node.ts';
import { buildPod, FakeClock } from '../../../src/testing.ts';
import { MetricsRecorder } from '../../support/metrics-recorder.ts';
import { until } from '../../support/until.ts';
import { nodes, world } from './fleet-of-cloud.ts';

const idle: PodProvider = { createPod: () => {}, deletePod: () => {}, getPodStatus: () => ({ phase: 'Running' }) };
const nothing = { request: () => Promise.reject(new Error('none')), stream: () => Promise.reject(new Error('none')) };
const given: NodeFleetOptions = { transport: nothing, name: 'edge', id: 'a', nodes: ['n1'], provider: () => idle, logger: null };

describe('the options of a fleet', () => {
  it.each<[string, object, string]>([
    ['name', { name: 'Edge' }, '`name` to be at most 40 lower case letters'],
    ['name', { name: 'e'.repeat(41) }, '`name` to be at most 40'],
    ['id', { id: 'a b' }, '`id` to be at most 63'],
    ['shards', { shards: 0 }, 'shards'],
    ['name', { name: 'edge-member-x' }, '`name` to be without "-member" and "-shard"'],
    ['name', { name: 'edge-shard' }, '`name` to be without "-member" and "-shard"'],
    ['shards', { shards: 1001 }, '`shards` to be at most 1000'],
    ['nodes', { nodes: 'n1' }, '`nodes` to be a list of nodes'],
    ['nodes', { nodes: ['n1', 'n1'] }, '`nodes` to be a list in which each name is there once'],
    ['nodes[1].name', { nodes: ['n1', 'N2'] }, '`nodes[1].name` to be the name of a node'],
    ['nodes.labelSelector', { nodes: { labelSelector: '' } }, '`nodes.labelSelector` to be a non-empty text'],
    ['nodeOptions.clock', { nodeOptions: { clock: {} } }, '`nodeOptions.clock` to be absent'],
    ['provider', { provider: {} }, '`provider` to be'],
    ['leaseDurationMs', { leaseDurationMs: 1500 }, '`leaseDurationMs` to be whole seconds'],
    ['renewDeadlineMs', { renewDeadlineMs: 15_000 }, 'from a tenth up to two thirds of leaseDurationMs'],
    ['renewDeadlineMs', { renewDeadlineMs: 10_001 }, 'from a tenth up to two thirds of leaseDurationMs'],
    ['renewDeadlineMs', { renewDeadlineMs: 2 }, 'from a tenth up to two thirds of leaseDurationMs'],
    ['retryPeriodMs', { retryPeriodMs: 1 }, '`retryPeriodMs` to be a number from 50'],
    ['nodeOptions', { nodeOptions: { capcity: {} } }, 'nodeOptions: Expected `options.capcity` to be absent'],
    ['nodeOptions', { nodeOptions: { labels: 3 } }, 'nodeOptions: Expected `labels` to be'],
    ['nodeOptions', { nodeOptions: [] }, '`nodeOptions` to be an object'],
    ['nodeOptions', { nodeOptions: Promise.resolve({}) }, '`nodeOptions` to be an object, not a promise of one'],
    [
      'nodes[1].options',
      { nodes: ['n1', { name: 'n2', options: { lables: {} } }] },
      'nodes[1].options: Expected `options.lables`',
    ],
    ['nodes.labelSelector', { nodes: { labelSelector: '=== !! ,,' } }, '`nodes.labelSelector` to be a selector of labels'],
    ['kubeConfig', { kubeConfig: {} }, '`kubeConfig` to be given, or else `transport`, and not both'],
    ['retryPeriodMs', { retryPeriodMs: 10_000 }, '`retryPeriodMs` to be less than renewDeadlineMs, which is 10000'],
    ['handOversAtOnce', { handOversAtOnce: 0 }, 'handOversAtOnce'],
    ['requests.concurrency', { requests: { concurrency: 0 } }, 'requests.concurrency'],
    ['unknown', { leases: 3 }, 'leases'],
  ])('name %s, the rule and the value where it is broken', (_, broken, message) => {
    const make = (): NodeFleet => new NodeFleet({ ...given, ...broken } as NodeFleetOptions);
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(make).toThrow(message);
  });
});

describe('the selector of a fleet’s nodes', () => {
  it.each(['a=b', 'a == b,c!=d', '!a, b', 'example.com/a in (x, y),b notin (z)', 'a>3', 'a='])('may be %s', (labelSelector) => {
    expect(() => new NodeFleet({ ...given, nodes: { labelSelector } })).not.toThrow();
  });
});

describe('a fleet that does not run', () => {
  it('says so of itself and of each node, and stops at once', async () => {
    const fleet = new NodeFleet({ ...given, clock: new FakeClock() });
    expect(fleet.snapshot()).toMatchObject({ state: 'idle', name: 'edge', id: 'a', isMember: false, members: [], moving: 0 });
    expect(fleet.snapshot().problemCount).toBe(1);
    const shard = shardOf('n1', 64);
    expect(fleet.explain('n1')).toMatchObject({ state: 'unowned', shard, owner: undefined });
    expect(fleet.explain('n1').why).toBe(`Who owns shard ${shard} is not known: this member does not run yet.`);
    expect(fleet.explain('n2').why).toContain('The fleet edge has no node of this name');
    const { nodeCounts, shards, unheardSince } = fleet.snapshot();
    expect([nodeCounts.known, new Set(shards.map(({ state }) => state)), unheardSince]).toEqual([
      1,
      new Set(['unknown']),
      undefined,
    ]);
    const other = new NodeFleet({ ...given, nodes: { labelSelector: 'a=b' }, clock: new FakeClock() });
    expect(other.explain('n1').why).toContain('The nodes of the fleet edge are not known yet');
    expect(await fleet.stop()).toEqual({ handedOver: 0, leftToRunOut: 0 });
    await expect(fleet.start()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
  });
});

describe('a fleet', () => {
  it('moves the nodes of a member that is stopped: no pod is created twice, and no status is lost', async () => {
    const { server, cloud, member, phases } = await world();
    const metrics = new MetricsRecorder();
    const [a, b] = [await member('a'), await member('b', { metrics })];
    const running = (fleet: NodeFleet): number => fleet.snapshot().nodeCounts.running;
    await until(() => running(a) + running(b) === 4 && running(b) > 0 && phases().every((phase) => phase === 'Running'));
    const moved = nodes.find((name) => a.explain(name).state === 'running') ?? '';
    expect(a.explain(moved)).toMatchObject({ owner: 'a', problem: undefined, node: { registered: true } });
    expect(b.explain(moved)).toMatchObject({ state: 'elsewhere', owner: 'a', node: undefined });
    expect(b.explain(moved).why).toBe(`Member a owns shard ${shardOf(moved, 4)}.`);
    expect(b.snapshot().members.map(({ id, isSelf, isAlive }) => [id, isSelf, isAlive])).toEqual([
      ['a', false, true],
      ['b', true, true],
    ]);
    const before = server.store.list().map(({ status }) => status?.startTime);
    const owned = a.snapshot().shards.filter(({ state }) => state === 'owned').length;
    expect(await a.stop()).toEqual({ handedOver: owned, leftToRunOut: 0 });
    await until(() => running(b) === 4);
    expect(a.explain(moved).why).toMatch(
      /^Who owns shard \d is not known: this member stopped .* ago\.( Member b owned it then\.)?$/,
    );
    expect([a.snapshot().shards.some(({ state }) => state === 'free'), a.snapshot().unheardSince]).toEqual([
      false,
      expect.any(Number),
    ]);
    expect(cloud.created.toSorted()).toEqual(nodes.map((name) => `on-${name}`));
    expect(server.store.list().map(({ status }) => status?.startTime)).toEqual(before);
    expect(phases()).toEqual(['Running', 'Running', 'Running', 'Running']);
    expect(metrics.collect().nonZero('pod_status_manager_fleet_shards')).toEqual({ owned: 4 });
    expect([metrics.nonZero('pod_status_manager_fleet_nodes'), metrics.mistakes]).toEqual([{ running: 4 }, []]);
    expect(await b.stop()).toEqual({ handedOver: 4, leftToRunOut: 0 });
  });

  it('writes nothing for its nodes once it could not renew its Leases in time', async () => {
    const { server, member } = await world();
    const transport = new KubeTransport(server.kubeConfig());
    onTestFinished(() => transport.close());
    let isCutOff = false;
    const cutOff: Pick<KubeTransport, 'request' | 'stream'> = {
      request: (request: KubeRequest) =>
        isCutOff && request.path.includes('/leases/fleet-') ? Promise.reject(new Error('cut off')) : transport.request(request),
      stream: (stream) => transport.stream(stream),
    };
    const a = await member('a', { transport: cutOff });
    await until(() => a.snapshot().nodeCounts.running === 4);
    isCutOff = true;
    await until(() => a.snapshot().shards.every(({ state }) => state !== 'owned'));
    const writes = (): number =>
      server.requestsOn('*').filter(({ verb, status }) => !['get', 'list', 'watch'].includes(verb) && status < 400).length;
    const before = writes();
    server.store.create(buildPod({ metadata: { name: 'late', uid: 'late' }, spec: { nodeName: 'n1' } }));
    await until(() => a.snapshot().nodeCounts.here === 0);
    expect(writes()).toBe(before);
    const { problems } = a.snapshot();
    expect(problems.map(({ message }) => message).join()).toContain('the Lease of');
  });

  it('says what is wrong with a node that cannot be made, and with a source of nodes', async () => {
    const { member } = await world();
    const provider = (name: string): PodProvider => {
      if (name === 'n1') throw new Error('no account for n1');
      return idle;
    };
    async function* changes() {
      for (const node of nodes) yield { type: 'added' as const, node };
      throw new Error('the inventory is gone');
    }
    const a = await member('a', { provider, nodes: changes() });
    await until(() => a.snapshot().nodeCounts.failed === 1 && a.snapshot().nodeCounts.running === 3);
    expect(a.explain('n1')).toMatchObject({ state: 'failed', owner: 'a', problem: { kind: 'fleet-node-start' } });
    expect(a.explain('n1').why).toMatch(/^The start of the node has failed (once|\d+ times); next try in /);
    const messages = a.snapshot().problems.map(({ kind, message }) => `${kind}: ${message}`);
    expect(messages).toEqual(
      expect.arrayContaining([
        expect.stringContaining('fleet-nodes: the nodes of the fleet are not all known: '),
        'fleet-node-start: node n1 could not be started: no account for n1',
      ]),
    );
  });

  it('serves its other nodes while requests of one node hang, however many they are', async () => {
    const { server, member } = await world();
    const transport = new KubeTransport(server.kubeConfig());
    onTestFinished(() => transport.close());
    const letGo = Promise.withResolvers<void>();
    onTestFinished(() => letGo.resolve());
    let hanging = 0;
    const slow: Pick<KubeTransport, 'request' | 'stream'> = {
      request: async (request: KubeRequest) => {
        if (request.path.includes('/pods/hangs-')) {
          hanging += 1;
          await letGo.promise;
        }
        return transport.request(request);
      },
      stream: (stream) => transport.stream(stream),
    };
    const a = await member('a', { transport: slow, requests: { concurrency: 4 } });
    await until(() => a.snapshot().nodeCounts.running === 4);
    for (const i of [1, 2, 3, 4]) {
      server.store.create(buildPod({ metadata: { name: `hangs-${i}`, uid: `h${i}` }, spec: { nodeName: 'n1' } }));
    }
    await until(() => hanging === 2);
    server.store.create(buildPod({ metadata: { name: 'late', uid: 'late' }, spec: { nodeName: 'n2' } }));
    await until(() =>
      server.store.list().some(({ metadata, status }) => metadata?.name === 'late' && status?.phase === 'Running'),
    );
    expect(hanging).toBe(2);
  });

  it('says what is wrong with a watch that its nodes share', async () => {
    const { server, member } = await world();
    server.fail({ verb: 'watch', resource: 'pods', fault: { kind: 'status', code: 403 }, times: 1e9 });
    const a = await member('a');
    const what = 'the pods of the cluster could not be watched for the nodes of this member';
    await until(() => a.snapshot().problems.some(({ kind, message }) => kind === 'forbidden' && message.startsWith(what)));
  });

  it('says what is wrong where it has another number of shards, or the id of another member', async () => {
    const { member } = await world();
    await member('a');
    const b = await member('b', { shards: 8 });
    const c = await member('a');
    await until(() => b.snapshot().problemCount > 0 && c.snapshot().problemCount > 0);
    expect([b.snapshot().isMember, c.snapshot().isMember]).toEqual([false, false]);
    expect(b.snapshot().problems[0]).toMatchObject({
      kind: 'fleet-shards',
      message: 'the fleet edge has 4 shards, and this process was told 8; members with another number: a',
    });
    expect(c.snapshot().problems[0]).toMatchObject({ kind: 'fleet-id' });
  });

  it('says which Leases of members name no number of shards', async () => {
    const { server, member } = await world();
    const transport = new KubeTransport(server.kubeConfig());
    onTestFinished(() => transport.close());
    const labels = { 'pod-status-manager/fleet': 'edge', 'pod-status-manager/fleet-role': 'member' };
    const metadata = { name: 'fleet-edge-member-odd', labels };
    const body = { metadata, spec: { holderIdentity: 'odd', leaseDurationSeconds: 3600 } };
    await transport.request({ method: 'POST', path: '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', body });
    const a = await member('a');
    await until(() => a.snapshot().problemCount > 0);
    expect(a.snapshot().problems[0]).toMatchObject({
      kind: 'fleet-shards',
      message:
        'Leases have the names of members of the fleet, and name no number of shards or another holder: fleet-edge-member-odd',
    });
  });
});
