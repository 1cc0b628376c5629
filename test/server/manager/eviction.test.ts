import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WirePod, WirePodCondition, WirePodStatus } from '../../../src/api/json/types.ts';
import { buildCondition, buildRunningStatus, buildTerminatedStatus } from '../../../src/testing/fakes/builders.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { conditionOf, TestNode } from './manager-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('eviction');
});
afterAll(() => server.stop());

const ours: WirePodCondition = buildCondition('DisruptionTarget', {
  reason: 'TerminationByKubelet',
  message: 'The node was low on resource: memory.',
});
const theirs: WirePodCondition = buildCondition('DisruptionTarget', { reason: 'PreemptionByScheduler', message: 'Preempted.' });

/** The status that an agent sets for a pod it has evicted. */
function evictedStatus(pod: WirePod, ...extra: WirePodCondition[]): WirePodStatus {
  const status = buildTerminatedStatus(pod, 137, { reason: 'Evicted', message: 'The node was low on resource: memory.' });
  return { ...status, conditions: [...(status.conditions ?? []), ...extra] };
}

describe('an evicted pod', () => {
  it('is Failed and Evicted, with the DisruptionTarget of its agent', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await node.create('evicted');
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    await node.manager.flush();
    node.manager.setPodStatus(pod, evictedStatus(pod, ours));
    await node.manager.flush();
    const { status } = await node.served('evicted');
    expect(status).toMatchObject({ phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' });
    expect(conditionOf(status, 'DisruptionTarget')).toMatchObject({ status: 'True', reason: 'TerminationByKubelet' });
    expect(conditionOf(status, 'Ready')).toMatchObject({ status: 'False' });
    await node.batches(3);
    expect(node.client.take('evicted')).toEqual(['patch', 'patch']);
  });

  it('shows phase and DisruptionTarget only when its containers are gone', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await node.create('evicted-slowly');
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    node.safety.running = true;
    node.manager.setPodStatus(pod, evictedStatus(pod, ours));
    expect(await node.manager.flush()).toMatchObject({ held: [{ phase: 'terminal-phase-held-back' }] });
    const before = (await node.served('evicted-slowly')).status;
    expect(before.phase).not.toBe('Failed');
    expect(conditionOf(before, 'DisruptionTarget')).toBeUndefined();
    node.safety.running = false;
    const { status } = await node.seen(pod.metadata.uid, (seen) => seen.status?.phase === 'Failed');
    expect(status?.reason).toBe('Evicted');
    expect(conditionOf(status, 'DisruptionTarget')).toMatchObject({ reason: 'TerminationByKubelet' });
  });
});

describe("another controller's DisruptionTarget", () => {
  it.each([
    'strategic',
    'json',
  ] as const)('is kept through every status of an agent that sets none (%s patches)', async (patchFormat) => {
    await using node = await TestNode.start(server, namespace, { patchFormat });
    const name = `preempted-${patchFormat}`;
    const pod = await node.create(name);
    await node.writeStatus(name, { conditions: [theirs] });
    await node.seenAsServed(name);
    for (const status of [buildRunningStatus(pod), buildRunningStatus(pod, { message: 'stopping' }), evictedStatus(pod)]) {
      node.manager.setPodStatus(pod, status);
      await node.manager.flush();
      const served = (await node.served(name)).status;
      expect(served.phase).toBe(status.phase);
      expect(conditionOf(served, 'DisruptionTarget')).toMatchObject(theirs);
    }
    expect(node.client.take(name)).toEqual(['patch', 'patch', 'patch']);
  });

  it("is replaced by the agent's own when the agent ends the pod", async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await node.create('both');
    await node.writeStatus('both', { conditions: [theirs] });
    await node.seenAsServed('both');
    node.manager.setPodStatus(pod, buildRunningStatus(pod));
    await node.manager.flush();
    node.manager.setPodStatus(pod, evictedStatus(pod, ours));
    await node.manager.flush();
    const { status } = await node.served('both');
    expect(conditionOf(status, 'DisruptionTarget')).toMatchObject({ status: 'True', reason: 'TerminationByKubelet' });
    expect(status.conditions?.filter(({ type }) => type === 'DisruptionTarget')).toHaveLength(1);
  });
});
