import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildMirrorPodOf } from '../../../src/testing/fakes/builders.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { MirrorNode } from './mirror-node.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('mirror');
});
afterAll(() => server.stop());

const fullName = (name: string): string => `${name}_${namespace}`;

describe('a mirror pod client', () => {
  it('creates a mirror pod once, and deletes it by its uid alone', async () => {
    await using mirrors = await MirrorNode.start(server, namespace);
    await mirrors.reconciler.stop();
    const { client } = mirrors;
    const pod = mirrors.setStatic('by-client');
    const created = await client.createMirrorPod(pod);
    if (created.outcome !== 'created') throw new Error(`the client answered ${created.outcome}`);
    const { metadata, spec } = created.mirrorPod;
    expect(metadata?.uid).not.toBe(pod.metadata?.uid);
    expect(metadata?.annotations).toMatchObject({
      'kubernetes.io/config.mirror': 'hash-1',
      'kubernetes.io/config.hash': 'hash-1',
    });
    expect(metadata?.ownerReferences).toEqual([
      { apiVersion: 'v1', kind: 'Node', name: mirrors.node.name, uid: `uid-of-${mirrors.node.name}`, controller: true },
    ]);
    expect(spec?.nodeName).toBe(mirrors.node.name);

    expect(await client.createMirrorPod(pod)).toMatchObject({ outcome: 'alreadyExists', error: { status: 409 } });
    expect(await client.deleteMirrorPod(fullName('by-client'), 'another-uid')).toMatchObject({
      deleted: false,
      reason: 'conflict',
    });
    expect(await client.deleteMirrorPod(fullName('by-client'), '')).toMatchObject({ deleted: false, reason: 'conflict' });
    expect(await client.getMirrorPod(fullName('by-client'))).toMatchObject({ metadata: { uid: metadata?.uid } });
    expect(await client.deleteMirrorPod(fullName('by-client'), metadata?.uid)).toEqual({
      deleted: true,
      heldByFinalizers: false,
    });
    expect(await client.getMirrorPod(fullName('by-client'))).toBeUndefined();
    expect(await client.deleteMirrorPod(fullName('by-client'))).toMatchObject({ deleted: false, reason: 'notFound' });
  });
});

describe('a static pod', () => {
  it('has one mirror pod, which says its status, and loses it when it goes', async () => {
    await using mirrors = await MirrorNode.start(server, namespace);
    const pod = mirrors.setStatic('one');
    const { metadata } = await mirrors.running(pod);
    expect(mirrors.node.podManager.translatePodUID(metadata.uid)).toBe(pod.metadata?.uid);
    mirrors.node.podManager.removePod(pod);
    await mirrors.gone('one');
    expect(mirrors.failures).toEqual([]);
  });

  it('has its newest status on its mirror pod each time somebody deletes it, without being set again', async () => {
    await using mirrors = await MirrorNode.start(server, namespace);
    const pod = mirrors.setStatic('deleted-again-and-again', 'hash-1', 'change 0');
    const uids = new Set([(await mirrors.running(pod, 'change 0')).metadata.uid]);
    for (let change = 1; change <= 10; change++) {
      // the last change may be on the server already, be under way, or come while there is no mirror pod
      if (change % 3 === 0) mirrors.say(pod, `change ${change}`);
      await mirrors.node.askToDelete('deleted-again-and-again', change % 2 === 0 ? { gracePeriodSeconds: 0 } : {});
      if (change % 3 === 1) mirrors.say(pod, `change ${change}`);
      const newest = change % 3 === 2 ? change - 1 : change;
      // a mirror pod that is being deleted still says what it said
      const { metadata } = await mirrors.served(
        'deleted-again-and-again',
        (served) =>
          !uids.has(served.metadata.uid) && served.status.phase === 'Running' && served.status.message === `change ${newest}`,
      );
      uids.add(metadata.uid);
    }
    expect(uids.size).toBe(11);
    expect(mirrors.node.syncErrors.filter(({ errorClass }) => errorClass !== 'gone')).toEqual([]);
  });

  it('that changes has a new mirror pod with its new hash and its status', async () => {
    await using mirrors = await MirrorNode.start(server, namespace);
    const first = await mirrors.running(mirrors.setStatic('changes', 'hash-1'));
    const second = await mirrors.running(mirrors.setStatic('changes', 'hash-2', 'second'), 'second');
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    expect(second.metadata.annotations).toMatchObject({ 'kubernetes.io/config.mirror': 'hash-2' });
  });

  it('takes over the mirror pod that is there, and replaces one of another version', async () => {
    await using mirrors = await MirrorNode.start(server, namespace);
    await mirrors.reconciler.stop();
    const left = await mirrors.client.createMirrorPod(mirrors.setStatic('left', 'hash-1'));
    const old = await mirrors.client.createMirrorPod(mirrors.setStatic('outdated', 'hash-0'));
    if (left.outcome !== 'created' || old.outcome !== 'created') throw new Error('the mirror pods were not created');
    const [kept, replaced] = [mirrors.setStatic('left', 'hash-1'), mirrors.setStatic('outdated', 'hash-1')];
    // an agent that restarts: a new reconciler over the same pods
    await using restarted = mirrors.another();
    restarted.start();
    expect((await mirrors.running(kept)).metadata.uid).toBe(left.mirrorPod.metadata?.uid);
    expect((await mirrors.running(replaced)).metadata.uid).not.toBe(old.mirrorPod.metadata?.uid);
  });

  it('has one mirror pod again when somebody puts another in its place', async () => {
    await using mirrors = await MirrorNode.start(server, namespace);
    const pod = mirrors.setStatic('put-by-another');
    const first = await mirrors.running(pod);
    await mirrors.node.askToDelete('put-by-another', { gracePeriodSeconds: 0 });
    const metadata = { annotations: { ...buildMirrorPodOf(pod).metadata?.annotations, 'kubernetes.io/config.mirror': 'other' } };
    // either of the two creates wins
    await mirrors.node.createUnseen('put-by-another', { metadata }).catch(() => {});
    const last = await mirrors.running(pod);
    expect(last.metadata.uid).not.toBe(first.metadata.uid);
  });

  it('with the name of an ordinary pod leaves that alone, and has its mirror pod once it is gone', async () => {
    await using mirrors = await MirrorNode.start(server, namespace);
    const ordinary = await mirrors.node.create('taken');
    const pod = mirrors.setStatic('taken');
    await expect.poll(() => mirrors.failures.length, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(mirrors.failures[0]).toMatchObject({ podFullName: fullName('taken'), verb: 'name' });
    expect((await mirrors.node.served('taken')).metadata.uid).toBe(ordinary.metadata.uid);
    await mirrors.node.askToDelete('taken', { gracePeriodSeconds: 0 });
    await mirrors.running(pod);
  });
});

describe('an orphaned mirror pod', () => {
  it('is deleted, and an ordinary pod and a mirror pod of another node are not', async () => {
    await using mirrors = await MirrorNode.start(server, namespace);
    const annotations = { 'kubernetes.io/config.mirror': 'hash', 'kubernetes.io/config.hash': 'hash' };
    await mirrors.node.createUnseen('ordinary');
    await mirrors.node.createUnseen('of-another-node', { metadata: { annotations }, spec: { nodeName: 'another-node' } });
    await mirrors.node.createUnseen('orphan', { metadata: { annotations } });
    await mirrors.gone('orphan');
    await mirrors.node.batches(3);
    expect([await mirrors.node.isGone('ordinary'), await mirrors.node.isGone('of-another-node')]).toEqual([false, false]);
  });
});
