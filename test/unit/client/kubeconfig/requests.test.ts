import { writeFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { loadClientConfig, loadFrom } from '../../../../src/client/kubeconfig/load-client-config.ts';
import { KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { identityProvider, idToken } from '../credentials/identity-provider.ts';
import { failureOf, type Script, scriptedServer, sendJson } from '../transport/scripted-server.ts';
import { base64, selfSigned } from '../transport/self-signed.ts';

const certificate = selfSigned({ commonName: 'apiserver', dnsNames: ['api.example'], ips: ['127.0.0.1'] });
const [client, renewed] = [selfSigned({ commonName: 'node' }), selfSigned({ commonName: 'node renewed' })];

/** Answers with what it saw of the client. */
const whoIsIt: Script = ({ socket, headers }, response) => {
  const { authorization, 'impersonate-user': as } = headers;
  const isTls = socket instanceof TLSSocket;
  sendJson(response, { authorization, as, client: isTls ? socket.getPeerCertificate()?.subject?.CN : undefined });
};

/** A server over TLS, and a folder with a kubeconfig for it. `ask` sends a request with the kubeconfig as it is read now. */
async function world(
  user: object,
  cluster: object = { 'certificate-authority-data': base64(certificate.cert) },
  script = whoIsIt,
) {
  const folder = await tempDir();
  const server = await scriptedServer(script, { ...certificate, requestCert: true, rejectUnauthorized: false });
  const file = join(folder, 'kubeconfig');
  const kubeconfig = {
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: server.url, ...cluster } }],
    users: [{ name: 'u', user }],
  };
  await writeFile(file, JSON.stringify(kubeconfig));
  const transport = new KubeTransport(loadClientConfig({ file }), { logger: null });
  return {
    ask: () => transport.request({ method: 'GET', path: '/api/v1/pods' }),
    put: (name: string, text: string, mode = 0o600) => writeFile(join(folder, name), text, { mode }),
    seen: server.seen,
    async [Symbol.asyncDispose]() {
      await transport.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('a request with a kubeconfig that was read without client-node', () => {
  it.each<[string, object, object]>([
    [
      'a client certificate',
      { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(client.key) },
      { client: 'node' },
    ],
    ['a token', { token: 't' }, { authorization: 'Bearer t' }],
    ['a password', { username: 'jane', password: 'b:c' }, { authorization: `Basic ${base64('jane:b:c')}` }],
    ['a user without a password', { username: 'jane' }, { authorization: `Basic ${base64('jane:')}` }],
    ['a token and an impersonation', { token: 't', as: 'jane' }, { authorization: 'Bearer t', as: 'jane' }],
    ['no user at all', {}, {}],
  ])('has %s', async (_says, user, sees) => {
    await using running = await world(user);
    expect(await running.ask()).toEqual(sees);
  });

  it('has the token that its file holds at the time', async () => {
    await using running = await world({ tokenFile: 'token', token: 'older' });
    expect(await running.ask()).toEqual({ authorization: 'Bearer older' });
    await running.put('token', 'first\n');
    expect(await running.ask()).toEqual({ authorization: 'Bearer first' });
    await running.put('token', 'second\n');
    expect(await running.ask()).toEqual({ authorization: 'Bearer second' });
    await running.put('token', '');
    expect(await running.ask()).toEqual({ authorization: 'Bearer second' });
  });

  it('has no token where its file cannot be read and no other one is there', async () => {
    await using running = await world({ tokenFile: 'token' });
    expect(await failureOf(running.ask())).toMatchObject({ reason: 'NoCredentials', message: expect.stringContaining('ENOENT') });
  });

  it('has the token beside the file also for who asks the kubeconfig itself', async () => {
    const folder = await tempDir();
    const file = join(folder, 'kubeconfig');
    const users = [{ name: 'u', user: { tokenFile: 'token', token: 'beside' } }];
    const clusters = [{ name: 'c', cluster: { server: 'https://192.0.2.1' } }];
    const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }];
    await writeFile(file, JSON.stringify({ 'current-context': 'x', contexts, clusters, users }));
    for (const [text, sees] of [
      [undefined, 'beside'],
      ['', 'beside'],
      ['of the file', 'of the file'],
    ] as const) {
      if (text !== undefined) await writeFile(join(folder, 'token'), text);
      const options: RequestOptions = {};
      await loadClientConfig({ file }).applyToHTTPSOptions(options);
      expect(options.headers).toEqual({ Authorization: `Bearer ${sees}` });
    }
  });

  it('has the certificate that its files hold at the time, and trusts what the file of the CA holds', async () => {
    const user = { 'client-certificate': 'c.pem', 'client-key': 'k.pem' };
    await using running = await world(user, { 'certificate-authority': 'ca.pem' });
    await running.put('ca.pem', client.cert);
    for (const [{ cert, key }, sees] of [
      [client, 'node'],
      [renewed, 'node renewed'],
    ] as const) {
      await running.put('c.pem', cert);
      await running.put('k.pem', key);
      if (sees === 'node') {
        expect(await failureOf(running.ask())).toMatchObject({ cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
        await running.put('ca.pem', certificate.cert);
      }
      expect(await running.ask()).toEqual({ client: sees });
    }
    await running.put('k.pem', 'x'.repeat(1024 * 1024 + 1));
    expect(await failureOf(running.ask())).toMatchObject({
      reason: 'NoCredentials',
      message: expect.stringMatching(/\(EFBIG ".*k\.pem"\)$/),
    });
  });

  it.each<[string, object, object]>([
    ['does not check the server where it is told so', { 'insecure-skip-tls-verify': true }, { authorization: 'Bearer t' }],
    [
      'expects the name that it is told',
      { 'certificate-authority-data': base64(certificate.cert), 'tls-server-name': 'api.example' },
      { authorization: 'Bearer t' },
    ],
  ])('%s', async (_says, cluster, sees) => {
    await using running = await world({ token: 't' }, cluster);
    expect(await running.ask()).toEqual(sees);
  });

  it('has the token of a plugin that stands beside the kubeconfig', async () => {
    const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: 'p' } };
    await using running = await world({ exec: { command: './login', apiVersion: credential.apiVersion } });
    await running.put('login', `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`, 0o755);
    expect(await running.ask()).toEqual({ authorization: 'Bearer p' });
  });

  it('may be had by what inherits from the kubeconfig and has another cluster and user', async () => {
    const file = join(await tempDir(), 'kubeconfig');
    const names = { contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }], 'current-context': 'x' };
    const cluster = { server: 'https://192.0.2.1', 'tls-server-name': 'a' };
    const users = [{ name: 'u', user: { token: 't' } }];
    await writeFile(file, JSON.stringify({ ...names, clusters: [{ name: 'c', cluster }], users }));
    const other = Object.create(loadClientConfig({ file }), {
      getCurrentCluster: { value: () => ({ name: 'c', server: 'https://192.0.2.2', skipTLSVerify: true }) },
      getCurrentUser: { value: () => ({ name: 'v', username: 'jane' }) },
    });
    const options: RequestOptions = {};
    await other.applyToHTTPSOptions(options);
    expect(options).toEqual({ rejectUnauthorized: false, auth: 'jane:', headers: {} });
  });

  it('has an id token that client-node has renewed, also one that was refused', async () => {
    await using provider = await identityProvider();
    const authProvider = provider.authProvider(idToken({ exp: Math.floor(Date.now() / 1000) + 3600, sub: 'refused' }));
    const good = `Bearer ${provider.tokenOf(1)}`;
    const script: Script = ({ headers: { authorization } }, response) => {
      if (authorization === good) sendJson(response, { authorization });
      else sendJson(response, { kind: 'Status', code: 401 }, { status: 401 });
    };
    await using running = await world({ 'auth-provider': authProvider }, undefined, script);
    expect(await failureOf(running.ask())).toMatchObject({ code: 'ERR_API', message: expect.stringContaining('401') });
    expect(await running.ask()).toEqual({ authorization: good });
    expect(provider.shown).toEqual(['refresh-1']);
  });

  it('has the token of a provider that client-node alone knows', async () => {
    const config = { 'access-token': 'of azure', 'expires-on': '4000000000' };
    await using running = await world({ 'auth-provider': { name: 'azure', config } });
    expect(await running.ask()).toEqual({ authorization: 'Bearer of azure' });
  });

  it('has the token of the pod', async () => {
    const folder = await tempDir();
    await using server = await scriptedServer(whoIsIt, certificate);
    await writeFile(join(folder, 'token'), 'of the pod');
    await writeFile(join(folder, 'ca.crt'), certificate.cert);
    const { hostname, port } = new URL(server.url);
    const kubeConfig = loadFrom({ env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port } }, folder);
    await using transport = new KubeTransport(kubeConfig, { logger: null });
    expect(await transport.request({ method: 'GET', path: '/' })).toMatchObject({ authorization: 'Bearer of the pod' });
    const options: RequestOptions = { headers: { kept: 'x' } };
    await kubeConfig.applyToHTTPSOptions(options);
    expect(options.headers).toEqual({ kept: 'x', Authorization: 'Bearer of the pod' });
  });
});
