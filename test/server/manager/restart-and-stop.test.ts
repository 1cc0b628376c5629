import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCondition, buildRunningStatus } from '../../../src/testing/fakes/builders.ts';
import type { ServedPod } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { conditionOf, TestNode } from './manager-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('restart');
});
afterAll(() => server.stop());

async function createAll(node: TestNode, names: readonly string[]): Promise<ServedPod[]> {
  return Promise.all(names.map((name) => node.create(name)));
}

const namesFrom = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

describe('a restarted manager over the same pods', () => {
  it('sends nothing for unchanged statuses, and keeps startTime and transition times', async () => {
    await using node = await TestNode.start(server, namespace);
    const names = namesFrom('unchanged', 5);
    const pods = await createAll(node, names);
    for (const pod of pods) node.manager.setPodStatus(pod, buildRunningStatus(pod));
    await node.manager.flush();
    const before = await Promise.all(names.map((name) => node.seenAsServed(name)));
    const sent = node.client.sent;
    await node.restartManager();
    // The new agent does not know when the old one saw the pod start.
    const now = new Date();
    for (const pod of before) {
      const { conditions = [], ...rest } = buildRunningStatus(pod);
      const status = { ...rest, startTime: now, conditions: conditions.map((c) => ({ ...c, lastTransitionTime: now })) };
      node.manager.setPodStatus(pod, status);
    }
    expect(await node.manager.flush()).toEqual({ held: [] });
    await node.batches(5);
    expect(node.client.sent).toBe(sent);
    for (const [i, name] of names.entries()) expect((await node.served(name)).status).toEqual(before[i]?.status);
  });

  it('sends a status that has changed meanwhile, with a new time for that transition only', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await node.create('changed');
    const { startTime: longAgo = '' } = buildRunningStatus(pod);
    await node.writeStatus('changed', buildRunningStatus(pod));
    node.manager.setPodStatus(await node.seenAsServed('changed'), buildRunningStatus(pod));
    await node.manager.flush();
    const seen = await node.seenAsServed('changed');
    await node.restartManager();
    node.client.take('changed');
    const conditions = [
      ...(buildRunningStatus(pod).conditions ?? []).filter(({ type }) => type !== 'Ready'),
      buildCondition('Ready', { status: 'False', reason: 'ContainersNotReady' }),
    ];
    node.manager.setPodStatus(seen, buildRunningStatus(pod, { conditions }));
    await node.manager.flush();
    expect(node.client.take('changed')).toEqual(['patch']);
    const { status } = await node.served('changed');
    expect(status.startTime).toBe(longAgo);
    expect(conditionOf(status, 'Initialized')?.lastTransitionTime).toBe(longAgo);
    expect(conditionOf(status, 'Ready')?.status).toBe('False');
    expect(Date.parse(conditionOf(status, 'Ready')?.lastTransitionTime ?? '')).toBeGreaterThan(Date.parse(longAgo));
  });
});

describe('stop', () => {
  it('writes the statuses set before it, and sends nothing after it', async () => {
    await using node = await TestNode.start(server, namespace, { concurrency: 2 });
    const names = namesFrom('drained', 12);
    const pods = await createAll(node, names);
    for (const pod of pods) node.manager.setPodStatus(pod, buildRunningStatus(pod));
    await node.manager.stop();
    expect(node.manager.state).toBe('stopped');
    expect(names.flatMap((name) => node.client.requests(name))).toEqual(names.map(() => 'patch'));
    for (const name of names) expect((await node.served(name)).status.phase).toBe('Running');

    const [pod] = pods;
    if (pod === undefined) throw new Error('no pod');
    expect(() => node.manager.setPodStatus(pod, buildRunningStatus(pod, { message: 'too late' }))).toThrow(
      expect.objectContaining({ code: 'ERR_STOPPED' }),
    );
    expect(node.manager.getPodStatus(pod.metadata.uid)?.phase).toBe('Running');
    // A running manager would repair this change as soon as the pod source shows it.
    await node.writeStatus('drained-0', { phase: 'Pending' });
    await node.seenAsServed('drained-0');
    await node.startSource();
    expect(node.client.sent).toBe(names.length);
    expect((await node.served('drained-0')).status.phase).toBe('Pending');
  });

  it('without a drain lets the request in flight settle, and sends no other', async () => {
    await using node = await TestNode.start(server, namespace, { concurrency: 1 });
    const names = namesFrom('cut-short', 3);
    const pods = await createAll(node, names);
    const onItsWay = Promise.withResolvers<void>();
    node.client.before = async () => onItsWay.resolve();
    for (const pod of pods) node.manager.setPodStatus(pod, buildRunningStatus(pod));
    await onItsWay.promise;
    await node.manager.stop({ drainTimeoutMs: 0 });
    const answered = names.flatMap((name) => node.client.requests(name));
    expect(answered).toHaveLength(1);
    expect(node.client.sent).toBe(1);
    for (const name of names.slice(1)) expect((await node.served(name)).status.phase).toBe('Pending');
  });
});

describe('removeOrphanedStatuses', () => {
  it('drops the entries of pods that are not named, and keeps the others', async () => {
    await using node = await TestNode.start(server, namespace);
    const names = namesFrom('orphans', 3);
    const pods = await createAll(node, names);
    for (const pod of pods) node.manager.setPodStatus(pod, buildRunningStatus(pod));
    await node.manager.flush();
    const [kept, ...others] = pods.map(({ metadata }) => metadata.uid);
    node.manager.removeOrphanedStatuses(new Set([kept ?? '']));
    for (const uid of others) expect(node.manager.getPodStatus(uid)).toBeUndefined();
    // Their objects stay as they are: the manager no longer writes them.
    await node.writeStatus('orphans-1', { message: 'theirs' });
    await node.seenAsServed('orphans-1');
    await node.batches(2);
    expect((await node.served('orphans-1')).status).toMatchObject({ phase: 'Running', message: 'theirs' });
    expect(node.manager.setContainerReadiness(kept ?? '', 'containerd://main', false)).toBe(true);
    await node.manager.flush();
    expect(conditionOf((await node.served('orphans-0')).status, 'Ready')?.status).toBe('False');
    expect(names.map((name) => node.client.requests(name))).toEqual([['patch', 'patch'], ['patch'], ['patch']]);
  });
});
