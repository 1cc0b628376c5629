import { expect, it, onTestFinished } from 'vitest';
import { type SteadyClock, systemClock } from '../../../src/base/clock.ts';
import { type FleetSnapshot, NodeFleet } from '../../../src/fleet.ts';
import { ApiError, KubeTransport } from '../../../src/index.ts';
import type { InMemoryApiServer } from '../../../src/testing.ts';
import { MetricsRecorder } from '../../support/metrics-recorder.ts';
import { until } from '../../support/until.ts';
import { nodes, world } from './fleet-of-cloud.ts';

const members = 'pod_status_manager_fleet_members';
const unowned = 'pod_status_manager_fleet_unowned_shards';
const alive = ({ members }: FleetSnapshot): string[] => members.filter(({ isAlive }) => isAlive).map(({ id }) => id);

/** A transport whose requests, and whose watches of Leases, can be cut off without a failure; and a clock whose wall time can be set. */
function cuttable(server: InMemoryApiServer) {
  const own = new KubeTransport(server.kubeConfig());
  onTestFinished(() => own.close());
  const cut = { requests: false, watches: false, renewals: false, wallMs: 0 };
  const system = systemClock;
  const clock: SteadyClock = {
    now: () => system.now() + cut.wallMs,
    elapsed: () => system.elapsed(),
    setTimer: (...timer) => system.setTimer(...timer),
  };
  const refused = new ApiError({ status: 500, reason: 'InternalError', message: 'mvcc: database space exceeded' });
  const transport: Pick<KubeTransport, 'request' | 'stream'> = {
    request: (request) => {
      if (cut.requests) return new Promise(() => {});
      if (cut.renewals && request.method !== 'GET' && request.path.includes('/leases')) return Promise.reject(refused);
      return own.request(request);
    },
    stream: (stream) => {
      const isOfLeases = stream.path.includes('/leases');
      return own.stream({ ...stream, onChunk: (chunk) => (cut.watches && isOfLeases ? undefined : stream.onChunk(chunk)) });
    },
  };
  return { transport, clock, cut };
}

/** Two members that share the shards, the first one over what can be cut off. */
async function twoMembers() {
  const { server, member } = await world();
  const { cut, ...parts } = cuttable(server);
  const metrics = new MetricsRecorder();
  const a = await member('a', { ...parts, metrics });
  const ofOther = cuttable(server);
  await member('b', { transport: ofOther.transport });
  await until(() => a.snapshot().shards.some(({ owner }) => owner === 'b'));
  expect([metrics.collect().value(members), alive(a.snapshot())]).toEqual([2, ['a', 'b']]);
  return { server, metrics, a, cut, ofOther };
}

it.each([
  'refuses connections',
  'answers nothing more',
  'answers nothing more, while the wall clock is set back',
  'answers nothing more, while the wall clock is set forward',
])('a member whose apiserver %s says of no other that it has gone, and calls no shard free', async (how) => {
  const { server, metrics, a, cut, ofOther } = await twoMembers();
  if (how === 'refuses connections') await server.stop();
  else {
    cut.requests = true;
    ofOther.cut.requests = true;
  }
  // by then every Lease has run out
  await until(() => a.snapshot().shards.every(({ owner }) => owner === undefined));
  if (how.endsWith('back')) cut.wallMs = -3_600_000;
  if (how.endsWith('forward')) cut.wallMs = 3_600_000;
  expect([metrics.collect().value(members), metrics.value(unowned), alive(a.snapshot())]).toEqual([2, 0, ['a', 'b']]);
  expect(a.snapshot().shards.filter(({ state }) => state === 'free')).toEqual([]);
  const unheard = nodes.map((name) => a.explain(name)).filter(({ state }) => state === 'unowned');
  expect(unheard.map(({ why }) => why).filter((why) => !why.includes('has not heard of the Leases for'))).toEqual([]);
  expect(unheard).not.toEqual([]);
  await until(() => a.snapshot().unheardSince !== undefined);
});

it('a member whose watch is dead without a failure says so, and of no other that it has gone', async () => {
  const { a, metrics, cut } = await twoMembers();
  cut.watches = true;
  await until(() => a.snapshot().unheardSince !== undefined);
  const { problems, isMember, shards } = a.snapshot();
  expect(problems.map(({ kind, message }) => [kind, message])).toEqual([
    ['timeout', 'the watch of the Leases of the fleet brings nothing, not even the renewals of this member'],
  ]);
  expect([isMember, shards.some(({ state }) => state === 'free')]).toEqual([true, false]);
  expect([metrics.collect().value(members), metrics.value(unowned), alive(a.snapshot())]).toEqual([2, 0, ['a', 'b']]);
  cut.watches = false;
  await until(() => a.snapshot().unheardSince === undefined);
  expect(a.snapshot().problems).toEqual([]);
});

it('a member whose renewals are refused by an answer still sees that another has died', async () => {
  const { a, metrics, cut, ofOther } = await twoMembers();
  cut.renewals = true;
  await until(() => a.snapshot().problems.some(({ message }) => message.includes('database space exceeded')));
  ofOther.cut.requests = true;
  await until(() => alive(a.snapshot()).join() === 'a');
  expect([metrics.collect().value(members), a.snapshot().unheardSince]).toEqual([1, undefined]);
});

it('a member that hears of the others counts one that stops no more, and one that has heard of nobody counts none', async () => {
  const { server, member } = await world();
  const [metrics, ofOther] = [new MetricsRecorder(), new MetricsRecorder()];
  const a = await member('a', { metrics });
  const b = await member('b');
  await until(() => alive(a.snapshot()).length === 2);
  await b.stop();
  await until(() => alive(a.snapshot()).length === 1);
  expect(metrics.collect().value(members)).toBe(1);
  await server.stop();
  const c = new NodeFleet({
    kubeConfig: server.kubeConfig(),
    name: 'edge',
    nodes: [],
    provider: () => ({}) as never,
    logger: null,
    metrics: ofOther,
  });
  const started = c.start().catch(() => {});
  await until(() => c.snapshot().unheardSince !== undefined);
  expect(ofOther.collect().value(members)).toBeUndefined();
  await c.stop();
  await started;
});
