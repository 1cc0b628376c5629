import { describe, expect, it, onTestFinished } from 'vitest';
import { CountingTransport } from '../../../examples/virtual-node/counting-transport.ts';
import { isStatusManagerError, KubePodClient } from '../../../src/index.ts';
import { InMemoryApiServer } from '../../../src/testing.ts';

const { signal } = new AbortController();

async function setUp() {
  const server = await InMemoryApiServer.start();
  const transport = new CountingTransport(server.kubeConfig());
  onTestFinished(async () => {
    await transport.close();
    await server.stop();
  });
  const metadata = { name: 'web', namespace: 'default' };
  const { uid = '' } =
    server.store.create({ metadata, spec: { nodeName: 'node', containers: [{ name: 'app', image: 'app:1' }] } }).metadata ?? {};
  return { server, transport, client: new KubePodClient(transport), uid };
}

describe('CountingTransport', () => {
  it('passes every answer on and counts the requests on single pods, by verb', async () => {
    const { client, server, transport, uid } = await setUp();
    expect((await client.getPod('default', 'web', { signal })).metadata?.uid).toBe(uid);
    const patch = { type: 'application/strategic-merge-patch+json', body: { status: { phase: 'Running' } } } as const;
    await client.patchPodStatus('default', 'web', patch, { signal });
    await client.deletePod('default', 'web', { signal, gracePeriodSeconds: 0, uid });
    expect(server.store.list()).toEqual([]);
    expect(transport.requests).toEqual({ get: 1, patch: 1, delete: 1 });
    expect([...transport.refusals]).toEqual([]);
  });

  it('does not count lists, and requests on other objects', async () => {
    const { transport } = await setUp();
    await transport.request({ method: 'GET', path: '/api/v1/namespaces/default/pods' });
    await expect(transport.request({ method: 'GET', path: '/api/v1/nodes/pods' })).rejects.toMatchObject({ status: 404 });
    expect(transport.requests).toEqual({ get: 0, patch: 0, delete: 0 });
    expect([...transport.refusals]).toEqual([]);
  });

  it('rejects with the error of the request, and counts it as a refusal by its status, or by its reason without an answer', async () => {
    const { client, transport, uid } = await setUp();
    const options = { signal, gracePeriodSeconds: 0, uid };
    const refused = (status: number) => (error: unknown) =>
      isStatusManagerError(error, 'ERR_API') && 'status' in error && error.status === status;
    await expect(client.deletePod('default', 'other', options)).rejects.toSatisfy(refused(404));
    await expect(client.deletePod('default', 'web', { ...options, uid: 'other' })).rejects.toSatisfy(refused(409));
    await transport.close();
    await expect(client.getPod('default', 'web', { signal })).rejects.toThrow();
    expect(transport.requests).toEqual({ get: 1, patch: 0, delete: 2 });
    expect([...transport.refusals].map(([what]) => what)).toEqual([404, 409, expect.any(String)]);
  });
});
