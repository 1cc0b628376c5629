import { TLSSocket } from 'node:tls';
import { type Cluster, KubeConfig, type User } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { failureOf, type Script, scriptedServer, sendJson } from './scripted-server.ts';
import { base64, selfSigned } from './self-signed.ts';
import { testProxy } from './test-proxy.ts';

const certificate = selfSigned({
  commonName: 'apiserver',
  dnsNames: ['localhost', 'other.example'],
  ips: ['127.0.0.1', '::1'],
});
const client = selfSigned({ commonName: 'node' });
const ca = { caData: base64(certificate.cert) };
const token = { token: 't' };
const certificateOfUser = { certData: base64(client.cert), keyData: base64(client.key) };

/** Answers with what it saw of the client. */
const whoIsIt: Script = ({ socket, headers, url }, response) => {
  const isTls = socket instanceof TLSSocket;
  sendJson(response, {
    url,
    host: headers.host?.replace(/\d+$/, 'PORT'),
    authorization: headers.authorization,
    as: headers['impersonate-user'],
    name: isTls ? Reflect.get(socket, 'servername') : undefined,
    client: isTls ? socket.getPeerCertificate()?.subject?.CN : undefined,
  });
};

type Where = 'https' | 'https localhost' | 'https IPv6' | 'http' | 'http IPv6';

interface Row {
  readonly says: string;
  readonly where: Where;
  readonly cluster?: Partial<Cluster> & { readonly proxy?: 'http' | 'https'; readonly path?: string };
  /** Default: no user. */
  readonly user?: Partial<User>;
  /** What the server sees. */
  readonly sees?: object;
  /** Or the code of the failure; then the server sees nothing. */
  readonly fails?: string;
  /** What the proxy is asked for. */
  readonly proxied?: string;
}

const bearer = { authorization: 'Bearer t' };
const rows: Row[] = [
  {
    says: 'custom CA, token',
    where: 'https localhost',
    cluster: ca,
    user: token,
    sees: { ...bearer, name: 'localhost', host: 'localhost:PORT' },
  },
  { says: 'custom CA missing', where: 'https localhost', user: token, fails: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
  { says: 'skip-tls', where: 'https', cluster: { skipTLSVerify: true }, user: token, sees: bearer },
  { says: 'client certificate', where: 'https', cluster: ca, user: certificateOfUser, sees: { client: 'node' } },
  {
    says: 'tls-server-name for an address',
    where: 'https',
    cluster: { ...ca, tlsServerName: 'other.example' },
    user: token,
    sees: { ...bearer, name: 'other.example', host: '127.0.0.1:PORT' },
  },
  {
    says: 'tls-server-name for a name',
    where: 'https localhost',
    cluster: { ...ca, tlsServerName: 'other.example' },
    user: token,
    sees: { name: 'other.example', host: 'localhost:PORT' },
  },
  {
    says: 'wrong tls-server-name',
    where: 'https',
    cluster: { ...ca, tlsServerName: 'bad.example' },
    user: token,
    fails: 'ERR_TLS_CERT_ALTNAME_INVALID',
  },
  { says: 'IPv6 https', where: 'https IPv6', cluster: ca, user: token, sees: { ...bearer, host: '[::1]:PORT' } },
  { says: 'plain http', where: 'http', user: token, sees: bearer },
  { says: 'IPv6 plain http', where: 'http IPv6', user: token, sees: { ...bearer, host: '[::1]:PORT' } },
  { says: 'no user, custom CA', where: 'https localhost', cluster: ca, sees: { name: 'localhost' } },
  { says: 'no user, skip-tls', where: 'https localhost', cluster: { skipTLSVerify: true }, sees: { name: 'localhost' } },
  {
    says: 'no user, tls-server-name',
    where: 'https',
    cluster: { ...ca, tlsServerName: 'other.example' },
    sees: { name: 'other.example' },
  },
  { says: 'no user, plain http', where: 'http', sees: { url: '/api/v1/pods' } },
  { says: 'basic', where: 'https', cluster: ca, user: { username: 'a', password: 'b' }, sees: { authorization: 'Basic YTpi' } },
  {
    says: 'impersonation',
    where: 'https',
    cluster: ca,
    user: { ...token, impersonateUser: 'jane' },
    sees: { ...bearer, as: 'jane' },
  },
  {
    says: 'path prefix',
    where: 'https',
    cluster: { ...ca, path: '/k8s/clusters/c-1/' },
    user: token,
    sees: { url: '/k8s/clusters/c-1/api/v1/pods' },
  },
  {
    says: 'http proxy, client certificate',
    where: 'https localhost',
    cluster: { ...ca, proxy: 'http' },
    user: certificateOfUser,
    sees: { client: 'node', name: 'localhost' },
    proxied: 'CONNECT localhost:PORT',
  },
  {
    says: 'http proxy, path prefix',
    where: 'https',
    cluster: { ...ca, proxy: 'http', path: '/c-1' },
    user: token,
    sees: { ...bearer, url: '/c-1/api/v1/pods' },
    proxied: 'CONNECT 127.0.0.1:PORT',
  },
  {
    says: 'http proxy, IPv6 server',
    where: 'https IPv6',
    cluster: { ...ca, proxy: 'http' },
    user: token,
    sees: bearer,
    proxied: 'CONNECT [::1]:PORT',
  },
  {
    says: 'http proxy, plain http server',
    where: 'http',
    cluster: { proxy: 'http' },
    user: token,
    sees: { ...bearer, host: '127.0.0.1:PORT' },
    proxied: 'GET http://127.0.0.1:PORT/api/v1/pods',
  },
  {
    says: 'http proxy, tls-server-name',
    where: 'https',
    cluster: { ...ca, proxy: 'http', tlsServerName: 'other.example' },
    user: token,
    sees: { ...bearer, name: 'other.example' },
    proxied: 'CONNECT 127.0.0.1:PORT',
  },
  {
    says: 'http proxy, wrong tls-server-name',
    where: 'https',
    cluster: { ...ca, proxy: 'http', tlsServerName: 'bad.example' },
    user: token,
    fails: 'ERR_TLS_CERT_ALTNAME_INVALID',
    proxied: 'CONNECT 127.0.0.1:PORT',
  },
  {
    says: 'http proxy, custom CA missing',
    where: 'https',
    cluster: { proxy: 'http' },
    user: token,
    fails: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    proxied: 'CONNECT 127.0.0.1:PORT',
  },
  {
    says: 'http proxy, skip-tls',
    where: 'https',
    cluster: { proxy: 'http', skipTLSVerify: true },
    user: token,
    sees: bearer,
    proxied: 'CONNECT 127.0.0.1:PORT',
  },
  {
    says: 'https proxy of the same CA',
    where: 'https localhost',
    cluster: { ...ca, proxy: 'https' },
    user: token,
    sees: { ...bearer, name: 'localhost' },
    proxied: 'CONNECT localhost:PORT',
  },
  {
    says: 'https proxy of the same CA, skip-tls',
    where: 'https',
    cluster: { ...ca, proxy: 'https', skipTLSVerify: true },
    user: token,
    sees: bearer,
    proxied: 'CONNECT 127.0.0.1:PORT',
  },
  {
    says: 'https proxy of the same CA, plain http server',
    where: 'http',
    cluster: { ...ca, proxy: 'https' },
    user: token,
    sees: bearer,
    proxied: 'GET http://127.0.0.1:PORT/api/v1/pods',
  },
  {
    says: 'https proxy of an unknown CA, skip-tls',
    where: 'https',
    cluster: { proxy: 'https', skipTLSVerify: true },
    user: token,
    fails: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  },
];

describe('KubeTransport', () => {
  it.each(rows.map((row) => [row.says, row] as const))('goes where the kubeconfig says: %s', async (_says, row) => {
    const { path = '', proxy: proxyKind, ...cluster } = row.cluster ?? {};
    const tls = { ...certificate, requestCert: true, rejectUnauthorized: false };
    const host = row.where.endsWith('IPv6') ? '::1' : '127.0.0.1';
    await using server = await scriptedServer(whoIsIt, row.where.startsWith('https') ? tls : undefined, host);
    await using proxy = await testProxy(proxyKind === 'https' ? { tls: certificate } : {});
    const url = `${row.where === 'https localhost' ? server.url.replace('127.0.0.1', 'localhost') : server.url}${path}`;
    const proxyUrl = proxyKind === undefined ? {} : { proxyUrl: proxy.url };
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromOptions({
      clusters: [{ name: 'c', server: url, skipTLSVerify: false, ...cluster, ...proxyUrl }],
      users: row.user === undefined ? [] : [{ name: 'u', ...row.user }],
      contexts: [{ name: 'x', cluster: 'c', user: row.user === undefined ? '' : 'u' }],
      currentContext: 'x',
    });
    await using transport = new KubeTransport(kubeConfig);
    const request = transport.request({ method: 'GET', path: '/api/v1/pods' });
    if (row.fails === undefined) expect(await request).toMatchObject(row.sees ?? {});
    else expect(await failureOf(request)).toMatchObject({ reason: 'Network', cause: { code: row.fails } });
    expect(server.seen).toHaveLength(row.fails === undefined ? 1 : 0);
    const { port } = new URL(server.url);
    const asked = proxy.seen.map(({ method, target }) => `${method} ${target.replace(`:${port}`, ':PORT')}`);
    expect(asked).toEqual(row.proxied === undefined ? [] : [row.proxied]);
  });
});
