import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podOf } from '../../support/answers.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { createPod, createRunningPod } from './pods-contract-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('delete');
});
afterAll(() => server.stop());

const otherUID = '11111111-2222-3333-4444-555555555555';
const isGone = async (name: string): Promise<boolean> => (await server.admin.getPod(namespace, name)).status === 404;

describe('deleting a bound running pod', () => {
  it('marks it as deleting, with the 30 s of its spec, and keeps it', async () => {
    const before = await createRunningPod(server.admin, namespace, 'marked');
    const answer = await server.admin.deletePod(namespace, 'marked');
    expect(answer.status).toBe(200);
    const { metadata } = podOf(answer);
    expect(metadata.deletionGracePeriodSeconds).toBe(30);
    expect(metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(BigInt(metadata.resourceVersion)).toBeGreaterThan(BigInt(before.metadata.resourceVersion));
    expect(metadata.generation).toBe(2);
    expect(podOf(await server.admin.getPod(namespace, 'marked')).metadata).toEqual(metadata);
  });

  it('accepts a grace period', async () => {
    await createRunningPod(server.admin, namespace, 'own-grace');
    const { metadata } = podOf(await server.admin.deletePod(namespace, 'own-grace', { gracePeriodSeconds: 7 }));
    expect(metadata.deletionGracePeriodSeconds).toBe(7);
  });

  it('shortens the grace period the second time, and never lengthens it', async () => {
    await createRunningPod(server.admin, namespace, 'twice');
    await server.admin.deletePod(namespace, 'twice');
    const shorter = podOf(await server.admin.deletePod(namespace, 'twice', { gracePeriodSeconds: 5 }));
    expect(shorter.metadata.deletionGracePeriodSeconds).toBe(5);
    const longer = podOf(await server.admin.deletePod(namespace, 'twice', { gracePeriodSeconds: 60 }));
    expect(longer.metadata.deletionGracePeriodSeconds).toBe(5);
    expect(longer.metadata.deletionTimestamp).toBe(shorter.metadata.deletionTimestamp);
  });

  it('removes it at once with grace period 0, and answers with its last state', async () => {
    const { metadata } = await createRunningPod(server.admin, namespace, 'at-once');
    const answer = await server.admin.deletePod(namespace, 'at-once', { gracePeriodSeconds: 0 });
    expect(answer.status).toBe(200);
    expect(podOf(answer).metadata.uid).toBe(metadata.uid);
    expect(await isGone('at-once')).toBe(true);
  });

  it('removes a deleting pod with grace period 0, as an agent does at the end', async () => {
    const { metadata } = await createRunningPod(server.admin, namespace, 'in-the-end');
    await server.admin.deletePod(namespace, 'in-the-end');
    const options = { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } };
    expect((await server.admin.deletePod(namespace, 'in-the-end', options)).status).toBe(200);
    expect(await isGone('in-the-end')).toBe(true);
  });
});

describe('deleting a pod that no agent runs', () => {
  it('removes an unbound pod at once, also without a given grace period', async () => {
    await createPod(server.admin, namespace, 'unbound', { spec: { nodeName: null } });
    expect((await server.admin.deletePod(namespace, 'unbound')).status).toBe(200);
    expect(await isGone('unbound')).toBe(true);
  });

  it.each(['Succeeded', 'Failed'])('removes a %s pod at once', async (phase) => {
    const name = phase.toLowerCase();
    await createRunningPod(server.admin, namespace, name);
    await server.admin.patchPodStatus(namespace, name, { status: { phase } });
    expect((await server.admin.deletePod(namespace, name)).status).toBe(200);
    expect(await isGone(name)).toBe(true);
  });
});

describe('a pod with a finalizer', () => {
  it('stays deleting after a DELETE with grace period 0, and is removed with its last finalizer', async () => {
    await createRunningPod(server.admin, namespace, 'held', { metadata: { finalizers: ['example.test/hold'] } });
    const answer = await server.admin.deletePod(namespace, 'held', { gracePeriodSeconds: 0 });
    expect(answer.status).toBe(200);
    const { metadata } = podOf(answer);
    expect(metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: ['example.test/hold'] });
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(await isGone('held')).toBe(false);
    const released = await server.admin.patchPod(namespace, 'held', { metadata: { finalizers: null } }, 'merge');
    expect(released.status).toBe(200);
    expect(await isGone('held')).toBe(true);
  });

  it('stays for its grace period when the finalizer is removed first', async () => {
    await createRunningPod(server.admin, namespace, 'released', { metadata: { finalizers: ['example.test/hold'] } });
    await server.admin.deletePod(namespace, 'released');
    await server.admin.patchPod(namespace, 'released', { metadata: { finalizers: null } }, 'merge');
    expect(await isGone('released')).toBe(false);
  });

  it('accepts a status while it is held', async () => {
    await createRunningPod(server.admin, namespace, 'written', { metadata: { finalizers: ['example.test/hold'] } });
    await server.admin.deletePod(namespace, 'written', { gracePeriodSeconds: 0 });
    const { status } = podOf(await server.admin.patchPodStatus(namespace, 'written', { status: { phase: 'Failed' } }));
    expect(status.phase).toBe('Failed');
  });
});

describe('other answers to a DELETE', () => {
  it('404 NotFound when there is no such pod', async () => {
    expect(await server.admin.deletePod(namespace, 'nobody')).toMatchObject({
      status: 404,
      body: { reason: 'NotFound', message: 'pods "nobody" not found' },
    });
  });

  it('409 Conflict for a wrong uid precondition, and nothing is deleted', async () => {
    const before = await createRunningPod(server.admin, namespace, 'guarded');
    const options = { gracePeriodSeconds: 0, preconditions: { uid: otherUID } };
    expect(await server.admin.deletePod(namespace, 'guarded', options)).toMatchObject({
      status: 409,
      body: {
        code: 409,
        reason: 'Conflict',
        details: { name: 'guarded' },
        message: expect.stringContaining('does not match the UID in record'),
      },
    });
    expect(podOf(await server.admin.getPod(namespace, 'guarded'))).toEqual(before);
  });

  it('409 Conflict for a stale resourceVersion precondition', async () => {
    const stale = await createPod(server.admin, namespace, 'guarded-version');
    await server.admin.patchPodStatus(namespace, 'guarded-version', { status: { phase: 'Running' } });
    const options = { gracePeriodSeconds: 0, preconditions: { resourceVersion: stale.metadata.resourceVersion } };
    const answer = await server.admin.deletePod(namespace, 'guarded-version', options);
    expect(answer).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
  });

  it.each(['uid', 'resourceVersion'])('409 Conflict for an empty %s precondition, which no pod meets', async (member) => {
    const before = await createPod(server.admin, namespace, `guarded-by-an-empty-${member.toLowerCase()}`);
    const options = { gracePeriodSeconds: 0, preconditions: { [member]: '' } };
    const answer = await server.admin.deletePod(namespace, before.metadata.name, options);
    expect(answer).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
  });

  it('a recreated pod has another uid', async () => {
    const first = await createPod(server.admin, namespace, 'again');
    await server.admin.deletePod(namespace, 'again', { gracePeriodSeconds: 0 });
    const second = await createPod(server.admin, namespace, 'again');
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
  });
});

describe('the grace period of a request to delete', () => {
  it.each(['abc', '1.5', ''])('is refused with 400 when the query says %j', async (gracePeriodSeconds) => {
    const name = `grace-${gracePeriodSeconds || 'none'}`;
    await createRunningPod(server.admin, namespace, name);
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    expect((await server.admin.send('DELETE', path, { query: { gracePeriodSeconds } })).status).toBe(400);
    expect(podOf(await server.admin.getPod(namespace, name)).metadata).not.toHaveProperty('deletionTimestamp');
  });

  it('is refused with 400 when the body has one that is no whole number', async () => {
    await createRunningPod(server.admin, namespace, 'grace-body');
    for (const gracePeriodSeconds of ['5', 1.5]) {
      expect((await server.admin.deletePod(namespace, 'grace-body', { gracePeriodSeconds })).status).toBe(400);
    }
  });

  it('counts from the query only when there is no body', async () => {
    await createRunningPod(server.admin, namespace, 'grace-both');
    const path = `/api/v1/namespaces/${namespace}/pods/grace-both`;
    const query = { gracePeriodSeconds: '7' };
    const withBody = podOf(await server.admin.send('DELETE', path, { query, body: { gracePeriodSeconds: 9 } }));
    expect(withBody.metadata.deletionGracePeriodSeconds).toBe(9);
    expect(podOf(await server.admin.send('DELETE', path, { query })).metadata.deletionGracePeriodSeconds).toBe(7);
  });
});
