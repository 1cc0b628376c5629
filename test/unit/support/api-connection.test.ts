import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { KubeConfig } from '@kubernetes/client-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiConnection, type ApiRequest } from '../../support/api-connection.ts';

/** Sends a request to a server whose API is below `prefix`; resolves to the request that came in, and to the answer 418. */
async function exchange(asked: ApiRequest, prefix = '') {
  const heard: { line?: string; type?: string | undefined; accept?: string | undefined; body?: string } = {};
  const server = createServer(async (request, response) => {
    heard.line = `${request.method} ${request.url}`;
    heard.type = request.headers['content-type'];
    heard.accept = request.headers.accept;
    heard.body = await text(request);
    response.writeHead(418).end('no');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const kubeConfig = new KubeConfig();
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;
  kubeConfig.loadFromClusterAndUser({ name: 'cluster', server: address, skipTLSVerify: false }, { name: 'user' });
  const connection = new ApiConnection(kubeConfig);
  onTestFinished(async () => {
    await connection.close();
    server.close();
  });
  const { statusCode, body } = await connection.send(asked);
  return { heard, answer: { status: statusCode, text: await body.text() } };
}

describe('ApiConnection', () => {
  it('sends an object as JSON, and returns a refusal unchanged', async () => {
    const { heard, answer } = await exchange({ method: 'POST', path: '/api/v1/namespaces', body: { a: 1 } });
    expect(heard).toEqual({
      line: 'POST /api/v1/namespaces',
      type: 'application/json',
      accept: 'application/json',
      body: '{"a":1}',
    });
    expect(answer).toEqual({ status: 418, text: 'no' });
  });

  it('sends text unchanged, and given headers instead of its own', async () => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const { heard } = await exchange({ method: 'PATCH', path: '/x', headers, body: '{broken' });
    expect(heard).toMatchObject({ type: 'application/merge-patch+json', body: '{broken' });
  });

  it('keeps the path of the server, and adds the query', async () => {
    const { heard } = await exchange({ method: 'GET', path: '/api/v1/pods', query: { labelSelector: 'a=b' } }, '/clusters/one/');
    expect(heard).toMatchObject({ line: 'GET /clusters/one/api/v1/pods?labelSelector=a%3Db', body: '' });
    expect(heard.type).toBeUndefined();
  });

  it('throws when the KubeConfig has no current cluster', () => {
    expect(() => new ApiConnection(new KubeConfig())).toThrow('The KubeConfig has no current cluster');
  });
});
