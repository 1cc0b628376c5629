import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ClusterScheduler } from '../../../src/scheduler.ts';
import { InMemoryApiServer } from '../../../src/testing.ts';

describe('a scheduler of a cluster that has no right to its Lease', () => {
  it('says so in explain, and tells what the server answered', async () => {
    await using server = await InMemoryApiServer.start();
    server.fail({ resource: 'leases.coordination.k8s.io', fault: { kind: 'status', code: 403 }, probability: 1 });
    await using scheduler = new ClusterScheduler({ kubeConfig: server.kubeConfig(), logger: null });
    expect(scheduler.leaseFailure).toBeUndefined();
    const { metadata } = server.store.create({
      metadata: { name: 'web' },
      spec: { containers: [{ name: 'app', image: 'app:1' }] },
    });
    await scheduler.start();
    while (scheduler.leaseFailure === undefined) await nextTurn();
    expect(scheduler.leaseFailure).toMatchObject({ errorClass: 'forbidden' });
    expect(scheduler.explain(metadata?.uid ?? '').text.split('\n')).toEqual([
      'The pod default/web can be tried, after the pods that come before it. It has not been tried yet.',
      expect.stringMatching(
        /^This process schedules nothing, because it is not the leader; its last try for the Lease failed: .*403/,
      ),
    ]);
    expect(scheduler.explain('gone').text).not.toContain('leader');
  });
});

describe('two schedulers of a cluster', () => {
  it('have two identities, though their numbers come from one seed', async () => {
    await using server = await InMemoryApiServer.start();
    const leaderElection = { leaseDurationMs: 60_000, renewDeadlineMs: 40_000, retryPeriodMs: 1000 };
    const options = { kubeConfig: server.kubeConfig(), logger: null, random: () => 0.5, leaderElection };
    await using one = new ClusterScheduler(options);
    await using two = new ClusterScheduler(options);
    await one.start();
    while (!one.isLeader) await nextTurn();
    await two.start();
    while (two.leader === undefined) await nextTurn();
    expect([one.isLeader, two.isLeader, two.leader === one.leader]).toEqual([true, false, true]);
  });
});
