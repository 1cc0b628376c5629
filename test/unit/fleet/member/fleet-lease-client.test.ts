import { expect, it } from 'vitest';
import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { FleetLeaseClient } from '../../../../src/fleet/member/fleet-lease-client.ts';
import type { KubeRequest } from '../../../../src/index.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';
import { FleetLeaseServer, refusal } from './fleet-lease-server.ts';

it('writes so many Leases of shards at once, each within a time that begins with its turn, and keeps the member’s own back for none', async () => {
  const clock = new FakeClock();
  const server = new FleetLeaseServer(clock);
  server.fate = () => ({ answeredAfterMs: 900 });
  const limits = { requestTimeoutMs: 1000, shardWritesAtOnce: 4 };
  const metrics = metricsOption(undefined);
  const client = new FleetLeaseClient({
    transport: server.transportOf('a'),
    namespace: 'kube-system',
    ...limits,
    clock,
    metrics,
  });
  const lease = (name: string) => ({ metadata: { name, namespace: 'kube-system' }, spec: { holderIdentity: 'a' } });
  const shards = Array.from({ length: 20 }, (_, shard) => client.write(lease(`shard-${shard}`), 'shard'));
  const settled = Promise.allSettled(shards);
  const own = client.write(lease('member'), 'member');
  await clock.advance(0);
  expect(server.requests.length).toBe(5);
  await clock.advance(900);
  await expect(own).resolves.toMatchObject({ metadata: { name: 'member' } });
  expect(server.requests.length).toBe(9);
  for (let round = 0; round < 4; round += 1) await clock.advance(900);
  expect((await settled).map(({ status }) => status)).toEqual(shards.map(() => 'fulfilled'));
  // a stop ends those that wait
  const late = Array.from({ length: 6 }, (_, shard) => client.write(lease(`late-${shard}`), 'shard'));
  const ended = Promise.allSettled(late);
  client.stop();
  await clock.advance(0);
  expect((await ended).map(({ status }) => status)).toEqual(late.map(() => 'rejected'));
});

it('names the version and the uid of what it deletes, lists by labels, and says how its writes have ended', async () => {
  const clock = new FakeClock();
  const server = new FleetLeaseServer(clock);
  const { request, stream } = server.transportOf('a');
  const sent: KubeRequest[] = [];
  const recorder = new MetricsRecorder();
  const client = new FleetLeaseClient({
    transport: {
      request: (one) => {
        sent.push(one);
        return request(one);
      },
      stream,
    },
    namespace: 'kube-system',
    requestTimeoutMs: 1000,
    shardWritesAtOnce: 4,
    clock,
    metrics: metricsOption(recorder),
  });
  const lease = await client.write({ metadata: { name: 'shard', namespace: 'kube-system' } }, 'shard');
  await client.remove(lease);
  const { uid, resourceVersion } = lease.metadata ?? {};
  expect([uid, resourceVersion]).not.toContain(undefined);
  expect(sent.at(-1)?.body).toMatchObject({ preconditions: { uid, resourceVersion } });
  // one that is gone needs no removal
  await client.remove(lease);
  expect(await client.list('fleet=edge')).toEqual([]);
  expect(sent.at(-1)?.query?.get('labelSelector')).toBe('fleet=edge');
  server.fate = () => refusal(403, 'Forbidden');
  await expect(client.write({ metadata: { name: 'member', namespace: 'kube-system' } }, 'member')).rejects.toMatchObject({
    status: 403,
  });
  expect(recorder.nonZero('pod_status_manager_fleet_lease_writes_total')).toEqual({ 'shard,ok': 1, 'member,forbidden': 1 });
});
