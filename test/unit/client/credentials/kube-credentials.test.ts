import type { User } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { KubeCredentials } from '../../../../src/client/credentials/kube-credentials.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { failureOf, kubeConfigFor } from '../transport/scripted-server.ts';
import { base64, selfSigned } from '../transport/self-signed.ts';
import { idToken } from './identity-provider.ts';
import { isRunning, printCredential, type Scratch, scratch, shellPlugin } from './shell-plugin.ts';
import { waiter } from './waiters.ts';

const server = 'https://127.0.0.1:6443';
const tokenPlugin = (token: string): object => shellPlugin(printCredential(`{"token":"${token}"}`));

function credentialsOf(user: Partial<User>, cluster: object = {}) {
  const kubeConfig = kubeConfigFor(server, user, cluster);
  const current = kubeConfig.getCurrentCluster();
  if (current === null) throw new Error('no cluster');
  const credentials = new KubeCredentials(kubeConfig, current, { clock: new FakeClock(), logger: silentLogger });
  return { kubeConfig, credentials, ask: () => credentials.authenticate(current, waiter()) };
}

describe('KubeCredentials', () => {
  it('keeps the CA, skip-tls and the server name of a kubeconfig without a user', async () => {
    const cluster = { caData: base64('CA'), skipTLSVerify: true, tlsServerName: 'kubernetes.test' };
    const { kubeConfig, ask } = credentialsOf({}, cluster);
    kubeConfig.users = [];
    kubeConfig.contexts = [{ name: 'loaded-context', cluster: 'test', user: '' }];
    const { tls, headers } = await ask();
    expect(tls).toMatchObject({ ca: Buffer.from('CA'), rejectUnauthorized: false, servername: 'kubernetes.test' });
    expect(headers).toEqual({});
  });

  it('refuses a context whose user the kubeconfig does not have', async () => {
    const { kubeConfig, ask } = credentialsOf({});
    kubeConfig.users = [];
    expect(await failureOf(ask())).toMatchObject({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining('"agent"') });
  });

  it.each([
    ['CA', {}, { caFile: '/nowhere/ca.pem' }],
    ['client certificate', { certFile: '/nowhere/cert.pem' }, {}],
    ['key', { keyFile: '/nowhere/key.pem' }, {}],
  ])('names the file of the %s that is not there', async (_what, user, cluster) => {
    const [path] = [...Object.values(user), ...Object.values(cluster)];
    expect(await failureOf(credentialsOf(user, cluster).ask())).toMatchObject({
      reason: 'NoCredentials',
      message: `The kubeconfig's TLS files or authenticator could not be used (ENOENT ${JSON.stringify(path)})`,
    });
  });

  it('names no file that an authenticator failed to read', async () => {
    const { kubeConfig, ask } = credentialsOf({ authProvider: { name: 'mine', config: {} } });
    const error = Object.assign(new Error('secret'), { code: 'ENOENT', path: '/secret' });
    kubeConfig.addAuthenticator({ isAuthProvider: () => true, applyAuthentication: () => Promise.reject(error) });
    expect(await failureOf(ask())).toMatchObject({
      message: "The kubeconfig's TLS files or authenticator could not be used (Error ENOENT)",
    });
  });

  it('refuses a plugin that cannot be run before any request is made', () => {
    const exec = { command: 'aws', apiVersion: 'client.authentication.k8s.io/v1alpha1' };
    expect(() => credentialsOf({ exec })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });

  it.each([
    ['exec', { exec: tokenPlugin('t') }, 'Bearer t'],
    ['authProvider exec', { authProvider: { name: 'exec', config: { exec: tokenPlugin('t') } } }, 'Bearer t'],
    ['oidc', { authProvider: { name: 'oidc', config: { 'id-token': idToken({}) } } }, `Bearer ${idToken({})}`],
    ['gcp', { authProvider: { name: 'gcp', config: { 'access-token': 't' } } }, 'Bearer t'],
    [
      'azure, before exec',
      { exec: tokenPlugin('e'), authProvider: { name: 'azure', config: { 'access-token': 't' } } },
      'Bearer t',
    ],
    ['token, before a plugin', { exec: tokenPlugin('e'), token: 't' }, 'Bearer t'],
    ['plugin, before a password', { exec: tokenPlugin('t'), username: 'a', password: 'b' }, 'Bearer t'],
    ['token that ends in a newline', { token: 't\n' }, 'Bearer t'],
    ['password', { username: 'a', password: 'b' }, 'Basic YTpi'],
  ])('sends what the kubeconfig says: %s', async (_what, user, authorization) => {
    expect((await credentialsOf(user).ask()).headers).toEqual({ Authorization: authorization });
  });

  it('refuses a token with a character that no header may hold, and does not show it', async () => {
    expect(await failureOf(credentialsOf({ token: 'sec\nret' }).ask())).toMatchObject({
      reason: 'NoCredentials',
      message: 'The header Authorization of the kubeconfig holds a character that no header may hold',
    });
  });

  it('takes the client certificate of a plugin, and that of the kubeconfig beside a token', async () => {
    using files = scratch();
    const own = { certData: base64('CERT'), keyData: base64('KEY') };
    const { cert, key } = selfSigned({ commonName: 'plugin' });
    const status = JSON.stringify({ clientCertificateData: cert, clientKeyData: key });
    const answer = JSON.stringify({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: JSON.parse(status),
    });
    const exec = shellPlugin('cat "$1"', { args: [files.write('answer', answer)] });
    expect((await credentialsOf({ ...own, exec }).ask()).tls).toMatchObject({ cert, key });
    expect((await credentialsOf({ ...own, exec: tokenPlugin('t') }).ask()).tls).toMatchObject({
      cert: Buffer.from('CERT'),
      key: Buffer.from('KEY'),
    });
  });

  it('asks an authenticator of the caller for every request, and never beside a plugin', async () => {
    let asked = 0;
    const authenticator = {
      isAuthProvider: () => true,
      applyAuthentication: async () => {
        asked += 1;
      },
    };
    const own = credentialsOf({ authProvider: { name: 'own', config: {} } });
    const plugin = credentialsOf({ exec: tokenPlugin('t') });
    for (const { kubeConfig, ask } of [own, plugin]) {
      kubeConfig.addAuthenticator(authenticator);
      await ask();
      await ask();
    }
    expect(asked).toBe(2);
  });

  it('makes client-node keep no agent', async () => {
    const { kubeConfig, ask } = credentialsOf({ token: 't' });
    await ask();
    expect(Reflect.get(kubeConfig, 'agentCache')).toEqual(new Map());
  });
});

describe('KubeCredentials, when the kubeconfig changes', () => {
  const counting = (files: Scratch): object =>
    shellPlugin(`echo run >> "$1/runs"\n${printCredential('{"token":"t"}')}`, { args: [files.folder] });

  it('asks no plugin again for an equal user', async () => {
    using files = scratch();
    const { kubeConfig, ask } = credentialsOf({ exec: counting(files) });
    const { credentials } = await ask();
    kubeConfig.users = [{ name: 'agent', exec: counting(files) }];
    expect((await ask()).credentials).toBe(credentials);
    expect(files.lines('runs')).toBe(1);
  });

  it('ends the plugin of the former user, whose requests fail, and asks the new one', async () => {
    using files = scratch();
    const { kubeConfig, credentials, ask } = credentialsOf({
      exec: shellPlugin('echo $$ > "$1/pid"; exec sleep 600', { args: [files.folder] }),
    });
    const former = failureOf(ask());
    await until(() => files.lines('pid') === 1);
    kubeConfig.users = [{ name: 'agent', exec: tokenPlugin('new') }];
    expect((await ask()).headers).toEqual({ Authorization: 'Bearer new' });
    expect(await former).toMatchObject({ reason: 'NoCredentials', message: 'The kubeconfig has another user now' });
    await credentials.close();
    expect(isRunning(Number(files.read('pid')))).toBe(false);
  });
});
