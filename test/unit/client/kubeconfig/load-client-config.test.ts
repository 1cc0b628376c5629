import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type LoadClientConfigOptions,
  loadClientConfig,
  loadFrom,
} from '../../../../src/client/kubeconfig/load-client-config.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const nobody = { env: {} };
const of = (name: string, server = `https://${name}.example`, user: object = { token: name }): object => ({
  'current-context': name,
  contexts: [{ name, context: { cluster: name, user: name } }],
  clusters: [{ name, cluster: { server } }],
  users: [{ name, user }],
});

/** A folder with these files. */
async function folderWith(files: Readonly<Record<string, object | string>>): Promise<string> {
  const folder = await tempDir();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

const serverOf = (options: LoadClientConfigOptions): string | undefined => loadClientConfig(options).getCurrentCluster()?.server;

describe('loadClientConfig takes', () => {
  it('the file that is given, before all others', async () => {
    const folder = await folderWith({ given: of('given'), other: of('other') });
    expect(serverOf({ file: join(folder, 'given'), env: { KUBECONFIG: join(folder, 'other') } })).toBe('https://given.example');
  });

  it('the context that is given, before the current one', async () => {
    const { contexts, ...rest } = of('a') as { contexts: object[] };
    const more = [...contexts, { name: 'b', context: { cluster: 'a', namespace: 'n' } }];
    const file = join(await folderWith({ k: { ...rest, contexts: more } }), 'k');
    const config = loadClientConfig({ file, context: 'b' });
    expect([config.getCurrentContext(), config.getCurrentUser()]).toEqual(['b', null]);
    expect(config.getContextObject('b')).toEqual({ name: 'b', cluster: 'a', user: '', namespace: 'n' });
    expect(config.getContextObject('a')).toBeNull();
    expect(loadClientConfig({ file }).getCurrentContext()).toBe('a');
  });

  it('the files of KUBECONFIG before the home folder: the first with an entry, and with a current context, counts', async () => {
    const first = { ...of('a'), 'current-context': undefined, users: [{ name: 'b', user: { token: 'of the first' } }] };
    const folder = await folderWith({
      first,
      'inner/second': { ...of('b'), users: [{ name: 'b', user: { token: 'of the second', username: 'u', password: 'p' } }] },
      third: of('c'),
      '.kube/config': of('home'),
    });
    const paths = ['first', 'missing', 'inner/second', '', 'third'].map((name) => name && join(folder, name));
    const config = loadClientConfig({ env: { KUBECONFIG: paths.join(delimiter), HOME: folder } });
    expect(config.getCurrentContext()).toBe('b');
    expect(config.getCurrentCluster()?.server).toBe('https://b.example');
    expect(config.getCurrentUser()).toEqual({ name: 'b', token: 'of the first' });
  });

  it('.kube/config of the home folder, and without one the service account of the pod', async () => {
    const folder = await folderWith({ '.kube/config': of('home'), 'account/token': 't', 'account/namespace': 'apps' });
    const [account, pod] = [join(folder, 'account'), { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }];
    expect(loadFrom({ env: { ...pod, HOME: folder } }, account).getCurrentContext()).toBe('home');
    const config = loadFrom({ env: { ...pod, HOME: account } }, account);
    expect(config.getCurrentCluster()).toEqual({
      name: 'inCluster',
      server: 'https://10.0.0.1:443',
      skipTLSVerify: false,
      caFile: join(account, 'ca.crt'),
    });
    expect(config.getCurrentUser()).toEqual({
      name: 'inClusterUser',
      authProvider: { name: 'tokenFile', config: { tokenFile: join(account, 'token') } },
    });
    expect(config.getContextObject('inClusterContext')?.namespace).toBe('apps');
    const ipv6 = loadFrom({ env: { ...pod, KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '8080' } }, account);
    expect(ipv6.getCurrentCluster()?.server).toBe('https://[fd00::1]:8080');
    const other = () => loadFrom({ env: pod, context: 'home' }, account);
    expect(other).toThrow('There is no kubeconfig that could have the context "home"');
    const notHere = {
      code: 'ERR_KUBECONFIG',
      message: expect.stringContaining('No kubeconfig was found: KUBECONFIG is not set'),
    };
    expect(() => loadFrom({ env: {} }, account)).toThrow(expect.objectContaining(notHere));
    expect(() => loadFrom({ env: pod }, folder)).toThrow(expect.objectContaining(notHere));
  });

  it('relative paths from the folder of their kubeconfig, and leaves bare commands, absolute paths and tildes', async () => {
    const { users: _users, ...rest } = of('a') as { users: object[] };
    const user = { 'client-certificate': '../c.pem', 'client-key': '/k.pem', exec: { command: './bin/login', args: ['x'] } };
    const folder = await folderWith({
      'inner/k': {
        ...rest,
        clusters: [{ name: 'a', cluster: { server: 'https://a', 'certificate-authority': '~/ca' } }],
        users: [{ name: 'a', user }],
      },
      bare: of('a', 'https://a', { exec: { command: 'login' } }),
      token: of('a', 'https://a', { tokenFile: 'dir/token', token: 'older' }),
    });
    const config = loadClientConfig({ file: relative(process.cwd(), join(folder, 'inner/k')) });
    expect(config.getCurrentCluster()?.caFile).toBe(join(folder, 'inner/~/ca'));
    expect(config.getCurrentUser()).toEqual({
      name: 'a',
      certFile: join(folder, 'c.pem'),
      keyFile: '/k.pem',
      exec: { command: join(folder, 'inner/bin/login'), args: ['x'] },
    });
    expect(loadClientConfig({ file: join(folder, 'bare') }).getCurrentUser()?.exec).toEqual({ command: 'login' });
    expect(loadClientConfig({ file: join(folder, 'token') }).getCurrentUser()).toEqual({
      name: 'a',
      authProvider: { name: 'tokenFile', config: { tokenFile: join(folder, 'dir/token'), token: 'older' } },
    });
  });

  it.each([
    { exec: { command: 'login' } },
    { 'auth-provider': { name: 'oidc' } },
    { 'auth-provider': { name: 'strange' } },
  ])('a token file before %j', async (other) => {
    for (const name of ['tokenFile', 'token-file']) {
      const file = join(await folderWith({ k: of('a', 'https://a', { [name]: '/t', ...other }) }), 'k');
      expect(loadClientConfig({ file }).getCurrentUser()).toEqual({
        name: 'a',
        authProvider: { name: 'tokenFile', config: { tokenFile: '/t' } },
      });
    }
  });

  it('what is empty of an impersonation for absent', async () => {
    const user = { token: 't', as: '', 'as-groups': [], 'as-uid': '', 'as-user-extra': {} };
    const file = join(await folderWith({ k: of('a', 'https://a', user) }), 'k');
    expect(loadClientConfig({ file }).getCurrentUser()).toEqual({ name: 'a', token: 't' });
  });

  it('the words yes, no, on and off for text, and True and FALSE for flags', async () => {
    const text = `
current-context: on
contexts: [{ name: on, context: { cluster: no, user: y } }]
clusters: [{ name: no, cluster: { server: 'https://a', insecure-skip-tls-verify: True } }]
users: [{ name: y, user: { token: off } }]
`;
    const config = loadClientConfig({ file: join(await folderWith({ k: text }), 'k') });
    expect(config.getCurrentUser()).toEqual({ name: 'y', token: 'off' });
    expect(config.getCurrentCluster()).toEqual({ name: 'no', server: 'https://a', skipTLSVerify: true });
  });

  it('a member called __proto__ for one like any other', async () => {
    const text = `
current-context: __proto__
__proto__: { polluted: yes }
contexts: [{ name: __proto__, context: { cluster: __proto__, user: __proto__, __proto__: { namespace: bad } } }]
clusters: [{ name: __proto__, cluster: { server: 'https://a', __proto__: { proxy-url: 'http://bad' } } }]
users: [{ name: __proto__, user: { token: t, auth-provider: { name: oidc, config: { __proto__: { polluted: yes } } } } }]
`;
    const config = loadClientConfig({ file: join(await folderWith({ k: text }), 'k') });
    expect(config.getContextObject('__proto__')).toEqual({ name: '__proto__', cluster: '__proto__', user: '__proto__' });
    expect(config.getCurrentCluster()).toEqual({ name: '__proto__', server: 'https://a', skipTLSVerify: false });
    expect(config.getCurrentUser()?.authProvider.config.polluted).toBeUndefined();
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});

const secret = 'sesame-4711';
const changed = (part: object): object => ({ ...of('a', 'https://a', { token: secret }), ...part });
const withUser = (user: unknown): object => changed({ users: [{ name: 'a', user }] });
const withCluster = (cluster: unknown): object => changed({ clusters: [{ name: 'a', cluster }] });

describe('loadClientConfig refuses, and quotes no value:', () => {
  it.each<[string, object | string, string]>([
    ['what is no YAML', `users:\n- user: { token: ${secret} }\n  - name: [\n`, 'Expected it to be YAML (bad indentation'],
    ['what is no JSON', `{"users": [{"user": {"token": "${secret}"}]}`, 'Expected it to be JSON'],
    ['a text', secret, 'expected an object'],
    ['an empty file', '', 'it has no current-context, and no context was named'],
    ['another kind', changed({ kind: 'Secret' }), 'expected its kind to be Config'],
    ['no list', changed({ users: { [secret]: {} } }), 'expected `users` to be a list, got an object'],
    ['an entry that is none', changed({ users: [secret] }), 'expected `users[0]` to be an object, got a string'],
    [
      'an entry without a name',
      changed({ users: [{ user: {} }] }),
      'expected `users[0].name` to be text that is not empty, got nothing',
    ],
    [
      'two entries of a name',
      changed({ users: [{ name: 'a' }, { name: 'a' }] }),
      'expected `users` to have one entry with the name "a"',
    ],
    ['no current context', changed({ 'current-context': '' }), 'it has no current-context'],
    ['a current context that is not there', changed({ 'current-context': 'z' }), 'it has no context "z"'],
    [
      'a context without a cluster',
      changed({ contexts: [{ name: 'a' }] }),
      'expected `contexts["a"].context.cluster` to be there, got nothing',
    ],
    ['a cluster that is not there', changed({ clusters: null }), 'it has no cluster "a", which the context names'],
    ['a user that is not there', changed({ users: null }), 'it has no user "a", which the context names'],
    ['no server', withCluster({ server: '' }), 'expected `clusters["a"].cluster.server` to be there, got a string'],
    [
      'a flag that is text',
      withCluster({ server: 'https://a', 'insecure-skip-tls-verify': secret }),
      'insecure-skip-tls-verify` to be the word true or false, without quotes, got a string',
    ],
    ...['yes', 'on', 'y', '!!bool yes'].map((word): [string, string, string] => [
      `a flag that is ${word}`,
      JSON.stringify(withCluster({ server: 'https://a', 'insecure-skip-tls-verify': 'WORD' }))
        .replace('"WORD"', word)
        .replace(/^/, '--- '),
      'insecure-skip-tls-verify` to be the word true or false, without quotes, got a string',
    ]),
    [
      'a word for whether a plugin is told of its cluster',
      `--- ${JSON.stringify(withUser({ exec: { command: 'x', provideClusterInfo: 'WORD' } })).replace('"WORD"', 'yes')}`,
      'expected `users["a"].user.exec` to be one whose `provideClusterInfo` is the word true or false',
    ],
    ...['certificate-authority-data', 'certificate-authority'].map((name): [string, object, string] => [
      `a server that is not checked beside ${name}`,
      withCluster({ server: 'https://a', 'insecure-skip-tls-verify': true, [name]: 'Y2E=' }),
      'insecure-skip-tls-verify` to be absent or false beside a certificate authority, got a boolean',
    ]),
    [
      'a CA and its file',
      withCluster({ server: 'https://a', 'certificate-authority-data': 'Y2E=', 'certificate-authority': secret }),
      'certificate-authority` to be absent beside `certificate-authority-data`, got a string',
    ],
    ...['client-certificate', 'client-key'].map((name): [string, object, string] => [
      `a ${name} and its file`,
      withUser({ 'client-key-data': 'aw==', [`${name}-data`]: 'Yw==', [name]: secret }),
      `${name}\` to be absent beside \`${name}-data\`, got a string`,
    ]),
    [
      'a provider that nobody knows',
      withUser({ 'auth-provider': { name: 'strange', config: { token: secret } } }),
      'it has an auth-provider "strange", and only oidc, azure and gcp are known',
    ],
    ['a provider without a name', withUser({ 'auth-provider': {} }), 'it has an auth-provider without a name, and only'],
    ['an impersonation of blanks', withUser({ as: '  ' }), 'expected `users["a"].user.as` to be text that is not blank'],
    [
      'a CA that is no base64',
      withCluster({ server: 'https://a', 'certificate-authority-data': `${secret}!` }),
      'to be base64, got a string',
    ],
    ['a user that is text', withUser(secret), 'expected `users["a"].user` to be an object, got a string'],
    [
      'a token that is a number',
      withUser({ token: 4711 }),
      'expected `users["a"].user.token` to be text (put it in quotes), got a number',
    ],
    ['a token that is a list', withUser({ token: [secret] }), 'expected `users["a"].user.token` to be text, got a list'],
    [
      'a certificate without a key',
      withUser({ 'client-certificate-data': 'Yw==' }),
      'expected `users["a"].user.client-key` to be there, beside a client certificate, got nothing',
    ],
    [
      'groups of an impersonation',
      withUser({ as: 'jane', 'as-groups': [secret] }),
      '`users["a"].user.as-groups` to be absent: of impersonation only `as` is known, got a list',
    ],
    ['a plugin that is text', withUser({ exec: secret }), 'expected `users["a"].user.exec` to be an object, got a string'],
  ])('%s', async (_says, content, message) => {
    const file = join(await folderWith({ k: content }), 'k');
    const load = () => loadClientConfig({ file });
    const told = expect.stringContaining(`The kubeconfig ${JSON.stringify(file)} cannot be used: `);
    expect(load).toThrow(expect.objectContaining({ code: 'ERR_KUBECONFIG', message: told }));
    expect(load).toThrow(message);
    expect(load).not.toThrow(secret);
  });

  it('what cannot be read, or is too long', async () => {
    const folder = await folderWith({ long: '#'.repeat(10 * 1024 * 1024 + 1), '.kube/config/inner': '' });
    expect(() => loadClientConfig({ file: join(folder, 'none') })).toThrow('it cannot be read (ENOENT)');
    expect(() => loadClientConfig({ file: folder })).toThrow('it cannot be read (EISDIR)');
    expect(() => loadClientConfig({ file: join(folder, 'long') })).toThrow('it has more than 10485760 bytes');
    expect(() => loadClientConfig({ env: { HOME: folder } })).toThrow('it cannot be read (EISDIR)');
    const KUBECONFIG = ['none', 'neither'].map((name) => join(folder, name)).join(delimiter);
    const named = `KUBECONFIG names no file that is there: ${JSON.stringify(KUBECONFIG)}`;
    expect(() => loadClientConfig({ env: { KUBECONFIG, HOME: folder } })).toThrow(named);
  });

  it.each<[object, string]>([
    [{ path: 'k' }, 'Expected `options.path` to be absent: the known options are file, context, env'],
    [{ file: '' }, 'Expected `file` to be text that is not empty, got "" (string)'],
    [{ context: 1 }, 'Expected `context` to be text that is not empty, got 1 (number)'],
    [{ env: null }, 'Expected `env` to be an object, got null'],
  ])('the options %j', (options, message) => {
    expect(() => loadClientConfig({ ...nobody, ...options })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(message) }),
    );
  });
});
