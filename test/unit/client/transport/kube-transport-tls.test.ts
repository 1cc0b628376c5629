import type { ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { until } from '../../../support/until.ts';
import { failureOf, kubeConfigFor, type Script, scriptedServer, sendJson } from './scripted-server.ts';
import { base64, selfSigned } from './self-signed.ts';

const token = 'a-very-secret-token';
const get = { method: 'GET', path: '/api/v1/pods' } as const;
const server127 = selfSigned({ commonName: 'apiserver', ips: ['127.0.0.1'] });
const serverNamed = selfSigned({ commonName: 'apiserver', dnsNames: ['kubernetes.test'] });
const clientOne = selfSigned({ commonName: 'client-one' });
const clientTwo = selfSigned({ commonName: 'client-two' });

const clientName: Script = ({ socket }, response) => {
  const name = socket instanceof TLSSocket ? socket.getPeerCertificate().subject?.CN : undefined;
  sendJson(response, { name: name ?? 'nobody' });
};

describe('KubeTransport over TLS', () => {
  it('trusts the CA of the kubeconfig', async () => {
    await using server = await scriptedServer(clientName, server127);
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, { caData: base64(server127.cert) }));
    expect(await transport.request(get)).toEqual({ name: 'nobody' });
  });

  it('sends nothing to a server whose certificate it cannot verify', async () => {
    await using server = await scriptedServer(clientName, server127);
    await using transport = new KubeTransport(kubeConfigFor(server.url, { token }, { caData: base64(serverNamed.cert) }));
    const error = await failureOf(transport.request(get));
    expect(error).toMatchObject({ reason: 'Network', cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(token);
    expect(server.seen).toHaveLength(0);
  });

  it('sends nothing to a server whose certificate is for another name', async () => {
    await using server = await scriptedServer(clientName, serverNamed);
    await using transport = new KubeTransport(kubeConfigFor(server.url, { token }, { caData: base64(serverNamed.cert) }));
    const error = await failureOf(transport.request(get));
    expect(error).toMatchObject({ reason: 'Network', cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' } });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(token);
    expect(server.seen).toHaveLength(0);
  });

  it('checks the name that tlsServerName gives', async () => {
    await using server = await scriptedServer(clientName, serverNamed);
    const cluster = { caData: base64(serverNamed.cert), tlsServerName: 'kubernetes.test' };
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, cluster));
    expect(await transport.request(get)).toEqual({ name: 'nobody' });
  });

  it('leaves the certificate unchecked with skipTLSVerify alone', async () => {
    await using server = await scriptedServer(clientName, serverNamed);
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, { skipTLSVerify: true }));
    expect(await transport.request(get)).toEqual({ name: 'nobody' });
  });

  it('speaks HTTP/1.1 to a server that offers HTTP/2', async () => {
    await using server = await scriptedServer(
      ({ socket }, response) => sendJson(response, { alpn: socket instanceof TLSSocket && socket.alpnProtocol }),
      { ...server127, ALPNProtocols: ['h2', 'http/1.1'] },
    );
    await using transport = new KubeTransport(kubeConfigFor(server.url, {}, { caData: base64(server127.cert) }));
    expect(await transport.request(get)).toEqual({ alpn: 'http/1.1' });
  });

  it('keeps its connections while an authenticator gives the same certificate anew', async () => {
    await using server = await scriptedServer(clientName, { ...server127, requestCert: true, rejectUnauthorized: false });
    const user = { certData: base64(clientOne.cert), keyData: base64(clientOne.key) };
    const kubeConfig = kubeConfigFor(server.url, user, { caData: base64(server127.cert) });
    await using transport = new KubeTransport(kubeConfig, { connections: 1 });
    for (let i = 0; i < 5; i += 1) expect(await transport.request(get)).toEqual({ name: 'client-one' });
    expect(server.connections.total).toBe(1);
  });

  it('opens new connections for a new client certificate and lets the old ones finish', async () => {
    let held: ServerResponse | undefined;
    const script: Script = (request, response) => {
      if (request.url === '/slow') held = response;
      else clientName(request, response);
    };
    await using server = await scriptedServer(script, { ...server127, requestCert: true, rejectUnauthorized: false });
    const kubeConfig = kubeConfigFor(
      server.url,
      { authProvider: { name: 'rotating', config: {} } },
      { caData: base64(server127.cert) },
    );
    let certificate = clientOne;
    kubeConfig.addAuthenticator({
      isAuthProvider: () => true,
      applyAuthentication: async (_user, options) => {
        Object.assign(options, certificate);
      },
    });
    await using transport = new KubeTransport(kubeConfig);
    const slow = transport.request({ ...get, path: '/slow' });
    await until(() => held !== undefined);
    certificate = clientTwo;
    expect(await transport.request(get)).toEqual({ name: 'client-two' });
    expect(server.connections.open.size).toBe(2);
    if (held !== undefined) sendJson(held, { late: true });
    expect(await slow).toEqual({ late: true });
    await until(() => server.connections.open.size === 1);
  });
});
