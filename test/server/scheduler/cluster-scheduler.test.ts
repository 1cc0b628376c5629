import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import { ClusterScheduler } from '../../../src/scheduler.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { TcpRelay } from '../../support/tcp-relay.ts';
import { SchedulingWorld } from './scheduling-world.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('cluster-scheduler');
});
afterAll(() => server.stop());

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** A transport through which one quantity comes as a text that is none, as no server sends it. */
function breaking(quantity: string): KubeTransport {
  const transport = new KubeTransport(server.kubeConfig(), { logger: null });
  const [request, stream] = [transport.request.bind(transport), transport.stream.bind(transport)];
  const broken = (text: string): string => text.replaceAll(quantity, 'seven');
  transport.request = async (options) => {
    const answer = await request(options);
    return options.method === 'GET' ? JSON.parse(broken(JSON.stringify(answer))) : answer;
  };
  transport.stream = ({ onChunk, ...options }) => {
    // a quantity may come in two pieces, as chunks end anywhere; lines come whole
    let begun = '';
    const whole = (chunk: Buffer): void => {
      const text = begun + chunk.toString('latin1');
      const end = text.lastIndexOf('\n') + 1;
      begun = text.slice(end);
      if (end > 0) onChunk(Buffer.from(broken(text.slice(0, end)), 'latin1'));
    };
    return stream({ ...options, onChunk: whole });
  };
  return transport;
}

describe('a scheduler of a cluster', () => {
  it('leaves no timer and no socket when it has stopped, and cannot start again', async () => {
    await using world = new SchedulingWorld(server, namespace);
    await using relay = await TcpRelay.start(server.kubeConfig());
    const node = await world.addNode('n', '4');
    await world.addPod('ends', '1');
    const before = timers();
    const leaderElection = world.election;
    const scheduler = world.scheduler({ kubeConfig: relay.through(server.kubeConfig()), leaderElection });
    expect([scheduler.state, scheduler.isLeader, relay.connections]).toEqual(['idle', false, 0]);
    await scheduler.start();
    await expect(scheduler.start()).rejects.toMatchObject({ code: 'ERR_ALREADY_STARTED' });
    expect(await world.bound('ends')).toBe(node);
    expect([scheduler.state, scheduler.isLeader, relay.connections > 0]).toEqual(['running', true, true]);
    await scheduler.stop();
    expect([scheduler.state, scheduler.isLeader]).toEqual(['stopped', false]);
    await world.until('no connection is left', () => relay.connections === 0);
    expect(timers()).toBeLessThanOrEqual(before);
    await expect(scheduler.start()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    // the Lease was given up
    const { body } = await server.admin.send('GET', world.leasePath);
    expect((body as { spec: { holderIdentity?: string } }).spec.holderIdentity ?? '').toBe('');
  });

  it('rejects a start that is stopped before the cluster is known', async () => {
    await using world = new SchedulingWorld(server, namespace);
    const scheduler = world.scheduler();
    const started = scheduler.start();
    await Promise.all([scheduler.stop(), expect(started).rejects.toMatchObject({ code: 'ERR_STOPPED' })]);
  });

  it('binds nothing while another one leads, and takes over when that one stops', async () => {
    await using world = new SchedulingWorld(server, namespace);
    await world.addNode('n', '8');
    const leaderElection = world.election;
    await using first = world.scheduler({ identity: 'first', leaderElection });
    await using second = world.scheduler({ identity: 'second', leaderElection });
    await first.start();
    await world.until('the first one leads', () => first.isLeader);
    await second.start();
    await world.until('the second one knows it', () => second.leader === 'first');
    const names = ['a', 'b', 'c'];
    for (const name of names) await world.addPod(`led-${name}`, '1');
    for (const name of names) await world.bound(`led-${name}`);
    await first.flush();
    expect([first.stats().bound, second.stats().bound, second.isLeader]).toEqual([3, 0, false]);
    expect(second.stats().failedAttempts).toBe(0);
    await first.stop();
    await world.addPod('led-d', '1');
    await world.bound('led-d');
    await second.flush();
    expect([second.stats().bound, second.isLeader, second.leader]).toEqual([1, true, 'second']);
  });

  it('binds nothing once its Lease is another one’s, and goes on when it has it again', async () => {
    await using world = new SchedulingWorld(server, namespace);
    const node = await world.addNode('n', '8');
    await using scheduler = world.scheduler({ identity: 'loses', leaderElection: world.election });
    await scheduler.start();
    await world.until('it leads', () => scheduler.isLeader);
    const taken = { spec: { holderIdentity: 'thief', leaseDurationSeconds: 3600 } };
    expect((await server.admin.patch(world.leasePath, taken, 'merge')).status).toBe(200);
    await world.until('it leads no more', () => !scheduler.isLeader);
    expect(scheduler.leader).toBe('thief');
    const { uid } = (await world.addPod('later', '1')).metadata;
    await world.until('it knows of the pod', () => scheduler.explain(uid).state !== 'unknown');
    await scheduler.flush();
    expect([scheduler.stats().bound, await world.nodeOf('later')]).toEqual([0, undefined]);
    expect(scheduler.explain(uid)).toMatchObject({ state: 'ready', attempts: 0 });
    await server.admin.send('DELETE', world.leasePath);
    expect(await world.bound('later')).toBe(node);
    expect(scheduler.isLeader).toBe(true);
  });

  it('explains a pod that fits nowhere by the reason of each node', async () => {
    await using world = new SchedulingWorld(server, namespace);
    const [small, cordoned] = [await world.addNode('small', '1'), await world.addNode('cordoned', '8')];
    await server.admin.patch(`/api/v1/nodes/${cordoned}`, { spec: { unschedulable: true } }, 'merge');
    await using scheduler = world.scheduler();
    await scheduler.start();
    const { uid } = (await world.addPod('too-big', '4')).metadata;
    await world.until('it was tried', () => scheduler.explain(uid).attempts > 0);
    const { state, nodes, text } = scheduler.explain(uid);
    expect(state).toBe('waiting');
    const own = nodes.filter(({ nodeName }) => nodeName.startsWith(world.schedulerName));
    expect(own).toMatchObject([
      { nodeName: cordoned, plugin: 'NodeUnschedulable', reasons: ['node(s) were unschedulable'] },
      { nodeName: small, plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu'] },
    ]);
    for (const part of [small, cordoned, 'Insufficient cpu', 'unschedulable']) expect(text).toContain(part);
  });

  it('goes on beside a pod and a node that cannot be read', async () => {
    await using world = new SchedulingWorld(server, namespace);
    await using transport = breaking('7654m');
    const good = await world.addNode('good', '4');
    await world.addNode('listed', '7654m');
    const listed = await world.addPod('broken-listed', '7654m');
    await using scheduler = world.scheduler({ transport });
    await scheduler.start();
    await world.addNode('watched', '7654m');
    const watched = await world.addPod('broken-watched', '7654m');
    await world.addPod('readable', '1');
    expect(await world.bound('readable')).toBe(good);
    await scheduler.flush();
    expect([await world.nodeOf('broken-listed'), await world.nodeOf('broken-watched')]).toEqual([undefined, undefined]);
    for (const { metadata } of [listed, watched]) expect(scheduler.explain(metadata.uid).state).toBe('unknown');
    expect(scheduler.state).toBe('running');
  });

  it.each([
    ['no server', { kubeConfig: undefined }],
    ['an option that there is not', { retries: 3 }],
    ['an empty identity', { identity: '' }],
    ['a Lease without end', { leaderElection: { leaseDurationMs: Number.POSITIVE_INFINITY } }],
    ['a deadline after the end of the Lease', { leaderElection: { leaseDurationMs: 2000, renewDeadlineMs: 3000 } }],
    ['an election by an unknown option', { leaderElection: { resourceLock: 'leases' } }],
    ['no leader election but a word', { leaderElection: 'yes' }],
    ['no profile', { profiles: [] }],
    ['two profiles of one name', { profiles: [{ schedulerName: 'a' }, { schedulerName: 'a' }] }],
    ['a limit of no requests', { requestLimit: { requestsPerSecond: -1 } }],
    ['a random that is none', { random: 4 }],
    ['a clock that is none', { clock: {} }],
  ])('refuses %s', (_, options) => {
    const given = { kubeConfig: server.kubeConfig(), logger: null, ...options } as never;
    expect(() => new ClusterScheduler(given)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });
});
