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
    const identityOf = async (name: string): Promise<string | undefined> => {
      const options = { kubeConfig: server.kubeConfig(), logger: null, random: () => 0.5, leaderElection: { name } };
      await using scheduler = new ClusterScheduler(options);
      await scheduler.start();
      while (!scheduler.isLeader) await nextTurn();
      return scheduler.leader;
    };
    const [one, two] = [await identityOf('one'), await identityOf('two')];
    expect(one).toMatch(/_[-0-9a-f]{36}$/);
    expect(one).not.toBe(two);
  });
});
