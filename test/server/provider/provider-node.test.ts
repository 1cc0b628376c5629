import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { isReady, ProviderNodeFixture } from './provider-fixture.ts';

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await startTestServer();
  namespace = await server.admin.createNamespace('provider');
});
afterAll(() => server.stop());

const start = (options = {}) => ProviderNodeFixture.start(server, namespace, options);

describe('a provider node', () => {
  it('is a tainted, ready node with a Lease, and is removed with its end', async () => {
    const fixture = await start({ capacity: { cpu: '8', memory: '16Gi', pods: '20' }, labels: { type: 'virtual' } });
    const node = await fixture.until('the node is ready', async () => {
      const found = await fixture.object(fixture.nodePath);
      const ready = JSON.stringify(found?.status).includes('"reason":"KubeletReady"');
      return ready && found !== undefined && found;
    });
    expect(node).toMatchObject({
      metadata: { labels: { type: 'virtual', 'kubernetes.io/hostname': fixture.name } },
      status: { capacity: { cpu: '8', pods: '20' } },
    });
    expect(JSON.stringify(node.spec)).toContain('virtual-kubelet.io/provider');
    await fixture.until('the Lease', async () => (await fixture.object(fixture.leasePath)) !== undefined);
    await fixture.node.stop();
    expect([await fixture.object(fixture.nodePath), await fixture.object(fixture.leasePath)]).toEqual([undefined, undefined]);
  });

  it('runs 20 pods, each created once and ready', async () => {
    await using fixture = await start();
    const names = Array.from({ length: 20 }, (_, i) => `pod-${i}`);
    await Promise.all(names.map((name) => fixture.create(name)));
    const pods = await Promise.all(names.map((name) => fixture.ready(name)));
    expect(pods.every(({ status }) => status.phase === 'Running' && status.podIP === '10.0.0.1')).toBe(true);
    expect(fixture.provider.calls.toSorted()).toEqual(names.map((name) => `createPod ${name}`).toSorted());
    await Promise.all(names.map((name) => fixture.delete(name, 1)));
    await Promise.all(names.map((name) => fixture.gone(name)));
    expect(fixture.provider.pods.size).toBe(0);
  });

  it('waits for the end of a pod that is deleted, says how it ended, and lets it go', async () => {
    await using fixture = await start();
    fixture.provider.endsAfterMs = 500;
    await fixture.create('held', { metadata: { finalizers: ['example.com/hold'] } });
    await fixture.ready('held');
    await fixture.delete('held', 5);
    expect((await fixture.served('held', ({ status }) => status.phase === 'Failed')).status.phase).toBe('Failed');
    expect(fixture.provider.callsOf('held')).toEqual(['createPod held', 'deletePod held']);
    const body = { metadata: { finalizers: null } };
    await server.admin.patchPod(namespace, 'held', body, 'merge');
    await fixture.gone('held');
  });

  it('tells the end of a pod that has ended by itself', async () => {
    await using fixture = await start();
    await fixture.create('job', { spec: { restartPolicy: 'Never' } });
    await fixture.ready('job');
    const entry = fixture.provider.named('job');
    if (entry !== undefined) entry.status = { phase: 'Succeeded' };
    const { status } = await fixture.served('job', ({ status }) => status.phase === 'Succeeded');
    expect(status.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(0);
    await fixture.delete('job', 1);
    await fixture.gone('job');
    await fixture.until('the provider has nothing of it', async () => fixture.provider.pods.size === 0);
  });

  it('takes its pods over when the agent starts again, and deletes those that nobody wants', async () => {
    await using fixture = await start({ removeOnStop: false });
    await fixture.create('kept');
    await fixture.create('unwanted');
    await fixture.ready('kept');
    await fixture.ready('unwanted');
    await fixture.node.stop();
    expect(fixture.provider.pods.size).toBe(2);
    await server.admin.deletePod(namespace, 'unwanted', { gracePeriodSeconds: 0 });
    await fixture.restart();
    await fixture.until('the orphan is gone', async () => fixture.provider.pods.size === 1);
    expect(fixture.provider.callsOf('kept')).toEqual(['createPod kept']);
    expect(isReady(await fixture.served('kept'))).toBe(true);
    await fixture.delete('kept', 1);
    await fixture.gone('kept');
  });

  it('says why its provider fails, on the pod and in an event, and hides no other pod behind it', async () => {
    await using fixture = await start();
    fixture.provider.before = (method, { metadata }) => {
      if (method === 'createPod' && metadata?.name === 'refused') throw new Error('no room');
      if (metadata?.name === 'silent') return new Promise(() => {});
      return undefined;
    };
    await fixture.create('silent');
    await fixture.create('refused');
    await fixture.create('web');
    await fixture.ready('web');
    const text = 'The provider did not create the pod: no room';
    const refused = await fixture.served('refused', ({ status }) => status.message === text);
    expect(refused.status.containerStatuses?.[0]?.state?.waiting).toEqual({ reason: 'ProviderCreateFailed', message: text });
    const uid = refused.metadata.uid;
    const event = await fixture.until('the event', async () => {
      const path = `/api/v1/namespaces/${namespace}/events`;
      const list = (await fixture.object(path)) as { items?: { involvedObject?: { uid?: string } }[] } | undefined;
      return list?.items?.find(({ involvedObject }) => involvedObject?.uid === uid) ?? false;
    });
    expect(event).toMatchObject({ type: 'Warning', reason: 'ProviderCreateFailed', message: text, count: 1 });
    expect(fixture.node.explain(uid)).toMatchObject({ isHeld: false, failure: { method: 'createPod', message: 'no room' } });
    for (const name of ['silent', 'refused', 'web']) await fixture.delete(name, 0);
    const begun = performance.now();
    const { workers } = await fixture.node.stop();
    expect(workers.unsettled).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  it('gives static pods mirror pods with their status, and takes them away', async () => {
    await using fixture = await start();
    const name = await fixture.writeManifest('proxy');
    const { metadata } = await fixture.ready(name);
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: fixture.name }]);
    const [created] = fixture.provider.pods.values();
    expect(created?.pod.metadata?.uid).not.toBe(metadata.uid);
    await fixture.delete(name, 0);
    await fixture.served(name, (served) => served.metadata.uid !== metadata.uid && isReady(served));
    expect(fixture.provider.callsOf(name)).toEqual([`createPod ${name}`]);
    await fixture.removeManifest('proxy');
    await fixture.gone(name);
    await fixture.until('the provider has nothing of it', async () => fixture.provider.pods.size === 0);
    expect(fixture.provider.callsOf(name)).toEqual([`createPod ${name}`, `deletePod ${name}`]);
  });
});
