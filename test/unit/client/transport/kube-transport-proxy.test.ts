import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { kubeConfigFor, scriptedServer, sendJson, until } from './scripted-server.ts';
import { base64, selfSigned } from './self-signed.ts';

const token = 'a-very-secret-token';
const certificate = selfSigned({ commonName: 'apiserver', ips: ['127.0.0.1'] });

/** Tunnels with CONNECT and notes what it saw. */
async function tunnellingProxy() {
  const seen: string[] = [];
  const open = new Set<Socket>();
  const proxy = createServer();
  proxy.on('connect', (request, socket: Socket) => {
    seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    const [host, port] = (request.url ?? '').split(':');
    const target = connect(Number(port), host, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    for (const end of [socket, target]) {
      open.add(end);
      end.on('error', () => {}).on('close', () => open.delete(end));
    }
    socket.pipe(target).pipe(socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen, open, [Symbol.asyncDispose]: async () => void proxy.close() };
}

describe('KubeTransport behind a proxy', () => {
  it('tunnels through it, verifies the server, and shows the proxy no token', async () => {
    await using server = await scriptedServer((_request, response) => sendJson(response, { ok: true }), certificate);
    await using proxy = await tunnellingProxy();
    const cluster = { caData: base64(certificate.cert), proxyUrl: proxy.url };
    const transport = new KubeTransport(kubeConfigFor(server.url, { token }, cluster));
    expect(await transport.request({ method: 'GET', path: '/api/v1/pods' })).toEqual({ ok: true });
    expect(server.seen[0]?.headers.authorization).toBe(`Bearer ${token}`);
    expect(proxy.seen).toHaveLength(1);
    expect(proxy.seen[0]).toContain(`CONNECT ${new URL(server.url).host}`);
    expect(proxy.seen[0]).not.toContain(token);
    await transport.close();
    await until(() => proxy.open.size === 0 && server.connections.open.size === 0);
  });
});
