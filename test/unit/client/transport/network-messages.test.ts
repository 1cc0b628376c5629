import { describe, expect, it } from 'vitest';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { failureOf, kubeConfigFor, scriptedServer } from './scripted-server.ts';
import { selfSigned } from './self-signed.ts';

const get = { method: 'GET', path: '/api/v1/nodes' } as const;

/** The message of a request to a server at this address. */
async function messageOf(server: string, request: { readonly path?: string; readonly query?: URLSearchParams } = {}) {
  await using transport = new KubeTransport(kubeConfigFor(server));
  const failure = await failureOf(transport.request({ ...get, ...request }));
  return failure instanceof Error ? failure.message : 'no error';
}

async function closedPort(): Promise<string> {
  const server = await scriptedServer(() => {});
  await server[Symbol.asyncDispose]();
  return new URL(server.url).host;
}

describe('the message of a network failure', () => {
  it('says once what failed, and for which address', async () => {
    const host = await closedPort();
    expect(await messageOf(`http://${host}`)).toBe(`GET http://${host}/api/v1/nodes: connect ECONNREFUSED ${host}`);
  });

  it('has no query, no user and no password', async () => {
    const host = await closedPort();
    const query = new URLSearchParams({ fieldSelector: 'hush' });
    const expected = `GET http://${host}/k8s/api/v1/nodes: connect ECONNREFUSED ${host}`;
    expect(await messageOf(`http://me:hush@${host}/k8s/?hush`, { query })).toBe(expected);
    expect(await messageOf(`http://${host}/k8s`, { path: '/api/v1/nodes?token=hush' })).toBe(expected);
  });

  it('names the address whose certificate is not trusted', async () => {
    await using server = await scriptedServer(() => {}, selfSigned({ commonName: 'apiserver', ips: ['127.0.0.1'] }));
    const message = await messageOf(server.url);
    expect(message).toMatch(/: self-signed certificate\b.* \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/);
    expect(message.split(': ')[0]).toBe(`GET ${server.url}/api/v1/nodes`);
  });

  it('has room for what failed after a long address', async () => {
    const host = await closedPort();
    const message = await messageOf(`http://${host}`, { path: `/${'x'.repeat(1000)}` });
    expect(message).toMatch(/^GET http:\/\/.*x…: connect ECONNREFUSED /);
    expect(message.length).toBeLessThan(400);
  });
});
