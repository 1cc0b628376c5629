import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WirePod } from '../../../src/api/json/types.ts';
import {
  buildContainerStatus,
  buildRunningStatus,
  buildTerminatedState,
  buildTerminatedStatus,
} from '../../../src/testing/fakes/builders.ts';
import type { ServedPod } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import type { PodJsonOptions } from '../pods-contract/pods-contract-fixture.ts';
import { conditionOf, TestNode } from './manager-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('deletion');
});
afterAll(() => server.stop());

const held = { metadata: { finalizers: ['example.test/hold'] } };
const released = { metadata: { finalizers: null } };

/** A pod with running containers whose status is written. */
async function createRunning(node: TestNode, name: string, options?: PodJsonOptions): Promise<ServedPod> {
  node.safety.running = true;
  node.safety.reclaimed = false;
  const pod = await node.create(name, options);
  node.manager.setPodStatus(pod, buildRunningStatus(pod));
  await node.manager.flush();
  expect(node.client.take(name)).toEqual(['patch']);
  return pod;
}

/** Sends a user's DELETE. Resolves to the deleting pod as the agent sees it. */
async function askedToEnd(node: TestNode, { metadata: { name, uid } }: ServedPod): Promise<WirePod> {
  await node.askToDelete(name);
  return node.seen(uid, (pod) => pod.metadata?.deletionTimestamp !== undefined);
}

describe('a terminal phase', () => {
  it('is held back while containers could run, and written as soon as none can', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await createRunning(node, 'held-back');
    const { uid } = pod.metadata;
    node.manager.setPodStatus(pod, buildTerminatedStatus(pod, 1, { reason: 'DeadlineExceeded' }));
    expect(await node.manager.flush()).toEqual({ held: [{ podUID: uid, phase: 'terminal-phase-held-back' }] });
    await node.seenAsServed('held-back');
    await node.batches(5);
    const before = (await node.served('held-back')).status;
    expect(before.phase).toBe('Running');
    expect(before).not.toHaveProperty('reason');
    expect(conditionOf(before, 'Ready')).toMatchObject({ status: 'False' });
    expect(node.manager.explain(uid)).toMatchObject({ phase: 'terminal-phase-held-back' });
    expect(node.client.take('held-back')).toEqual(['patch']);

    node.safety.running = false;
    await node.seen(uid, ({ status }) => status?.phase === 'Failed');
    expect((await node.served('held-back')).status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
    expect(node.manager.explain(uid)).toMatchObject({ phase: 'in-sync' });
    expect(node.client.take('held-back')).toEqual(['patch']);
  });
});

describe('graceful deletion, where the agent calls terminatePod', () => {
  it('writes the last status, and deletes when everything is reclaimed', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await createRunning(node, 'modern');
    const deleting = await askedToEnd(node, pod);
    node.manager.setPodStatus(deleting, buildRunningStatus(pod, { message: 'being stopped' }));
    await node.manager.flush();
    expect((await node.served('modern')).status).toMatchObject({ phase: 'Running', message: 'being stopped' });

    node.safety.running = false;
    node.manager.setPodStatus(deleting, buildTerminatedStatus(pod));
    node.manager.terminatePod(deleting);
    await node.seen(pod.metadata.uid, ({ status }) => status?.phase === 'Succeeded');
    await node.batches(3);
    expect(await node.isGone('modern')).toBe(false);
    expect(node.client.take('modern')).toEqual(['patch', 'patch']);

    node.safety.reclaimed = true;
    await node.seenGone(pod.metadata.uid);
    expect(await node.isGone('modern')).toBe(true);
    await node.until('the entry is dropped', () => node.manager.getPodStatus(pod.metadata.uid) === undefined);
    expect(node.client.take('modern')).toEqual(['delete']);
  });

  it('ends containers without a known end as unknown, and makes the phase Failed', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await createRunning(node, 'lost', held);
    const deleting = await askedToEnd(node, pod);
    node.safety.running = false;
    node.manager.terminatePod(deleting);
    await node.manager.flush();
    expect((await node.served('lost')).status).toMatchObject({
      phase: 'Failed',
      containerStatuses: [{ name: 'main', state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } } }],
    });
    await node.patch('lost', released);
  });

  it('sends one DELETE and stays deleting while a finalizer holds the object, and ends with the finalizer', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await createRunning(node, 'finalizer', held);
    const { uid } = pod.metadata;
    const deleting = await askedToEnd(node, pod);
    Object.assign(node.safety, { running: false, reclaimed: true });
    node.manager.setPodStatus(deleting, buildTerminatedStatus(pod));
    node.manager.terminatePod(deleting);
    await node.until('the DELETE is answered', () => node.manager.explain(uid).phase === 'deleting');
    expect(await node.manager.flush()).toEqual({ held: [{ podUID: uid, phase: 'deleting' }] });
    await node.batches(5);
    expect(node.client.take('finalizer')).toEqual(['patch', 'delete']);
    expect(await node.isGone('finalizer')).toBe(false);

    await node.patch('finalizer', released);
    await node.seenGone(uid);
    expect(await node.isGone('finalizer')).toBe(true);
    node.manager.removeOrphanedStatuses(new Set());
    expect(node.manager.explain(uid).phase).toBe('unknown');
  });

  it('sends one DELETE for an object that a finalizer holds, also when the pod source shows nothing', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await createRunning(node, 'finalizer-in-the-dark', held);
    const deleting = await askedToEnd(node, pod);
    await node.stopSource();
    Object.assign(node.safety, { running: false, reclaimed: true });
    node.manager.setPodStatus(deleting, buildTerminatedStatus(pod));
    node.manager.terminatePod(deleting);
    await node.until('the DELETE is answered', () => node.manager.explain(pod.metadata.uid).phase === 'deleting');
    await node.batches(5);
    expect(node.client.take('finalizer-in-the-dark')).toEqual(['patch', 'delete']);
    await node.patch('finalizer-in-the-dark', released);
  });
});

describe('graceful deletion, where the agent never calls terminatePod', () => {
  it.each([
    [0, 'Succeeded'],
    [3, 'Failed'],
  ])('ends a pod whose containers exited with %i as %s', async (exitCode, phase) => {
    const name = `classic-${exitCode}`;
    await using node = await TestNode.start(server, namespace);
    const pod = await createRunning(node, name, held);
    const deleting = await askedToEnd(node, pod);
    const ended = buildContainerStatus({ name: 'main', ready: false, started: false, state: buildTerminatedState(exitCode) });
    node.manager.setPodStatus(deleting, buildRunningStatus(pod, { containerStatuses: [ended] }));
    await node.manager.flush();
    await node.batches(2);
    expect((await node.served(name)).status.phase).toBe('Running');
    expect(node.client.take(name)).toEqual(['patch']);

    Object.assign(node.safety, { running: false, reclaimed: true });
    await node.until('the DELETE is answered', () => node.manager.explain(pod.metadata.uid).phase === 'deleting');
    const { status } = await node.served(name);
    expect(status).toMatchObject({ phase, containerStatuses: [{ state: { terminated: { exitCode } } }] });
    expect(conditionOf(status, 'Ready')).toMatchObject({ status: 'False' });
    await node.patch(name, released);
    await node.seenGone(pod.metadata.uid);
    expect(node.client.take(name)).toEqual(['patch', 'delete']);
  });

  it('deletes nothing with terminateWhenReclaimed false', async () => {
    await using node = await TestNode.start(server, namespace, { terminateWhenReclaimed: false });
    const pod = await createRunning(node, 'left-alone');
    const deleting = await askedToEnd(node, pod);
    Object.assign(node.safety, { running: false, reclaimed: true });
    node.manager.setPodStatus(deleting, buildTerminatedStatus(pod));
    await node.manager.flush();
    await node.batches(3);
    expect((await node.served('left-alone')).status.phase).toBe('Succeeded');
    expect(node.client.take('left-alone')).toEqual(['patch']);
  });
});

describe('a DELETE of the manager', () => {
  it('spares a recreated pod that the pod source has not shown', async () => {
    await using node = await TestNode.start(server, namespace);
    const pod = await createRunning(node, 'spared');
    const deleting = await askedToEnd(node, pod);
    Object.assign(node.safety, { running: false, reclaimed: true });
    await node.stopSource();
    const young = Promise.withResolvers<ServedPod>();
    node.client.before = async (verb) => {
      if (verb !== 'delete') return;
      node.client.before = undefined;
      await node.askToDelete('spared', { gracePeriodSeconds: 0 });
      young.resolve(await node.createUnseen('spared'));
    };
    node.manager.setPodStatus(deleting, buildTerminatedStatus(pod));
    node.manager.terminatePod(deleting);
    await node.until('the entry is dropped', () => node.manager.getPodStatus(pod.metadata.uid) === undefined);
    expect(await node.served('spared')).toEqual(await young.promise);
    expect(node.client.take('spared')).toEqual(['patch', 'delete 409', 'get']);
  });
});
