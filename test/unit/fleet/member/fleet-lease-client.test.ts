import { expect, it } from 'vitest';
import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { FleetLeaseClient } from '../../../../src/fleet/member/fleet-lease-client.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { FleetLeaseServer } from './fleet-lease-server.ts';

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
