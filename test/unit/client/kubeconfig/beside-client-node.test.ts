import { writeFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import fc from 'fast-check';
import { dump } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import type { ClientConfig } from '../../../../src/client/kubeconfig/client-config.ts';
import { loadClientConfig } from '../../../../src/client/kubeconfig/load-client-config.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { idToken } from '../credentials/identity-provider.ts';

const data = (text: string): string => Buffer.from(text).toString('base64');

/** Without what is absent: client-node writes null or undefined there. */
function present(value: object | null): object | null {
  return value && Object.fromEntries(Object.entries(value).filter(([, member]) => ![null, undefined, ''].includes(member)));
}

/** All that the library asks of a kubeconfig. */
async function answersOf(config: ClientConfig): Promise<object> {
  const name = config.getCurrentContext();
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { agent: _agent, ...rest } = options;
  const [context, cluster, user] = [config.getContextObject(name), config.getCurrentCluster(), config.getCurrentUser()];
  return { name, context: present(context), cluster: present(cluster), user: present(user), options: present(rest) };
}

/** What both readers answer of this file. */
async function bothOf(folder: string, text: string): Promise<[object, object]> {
  const file = join(folder, 'kubeconfig');
  await writeFile(file, text);
  const theirs = new KubeConfig();
  theirs.loadFromFile(file);
  return [await answersOf(loadClientConfig({ file })), await answersOf(theirs)];
}

const kubeconfigOf = (cluster: object, user: object | null, context: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  preferences: {},
  'current-context': 'x',
  contexts: [
    { name: 'other', context: { cluster: 'c' } },
    { name: 'x', context: { cluster: 'c', user: 'u', ...context } },
  ],
  clusters: [{ name: 'c', cluster: { server: 'https://192.0.2.1:6443', ...cluster } }],
  users: [{ name: 'u', user }],
});

const execCredential = {
  apiVersion: 'client.authentication.k8s.io/v1',
  kind: 'ExecCredential',
  status: { token: 'from a plugin', expirationTimestamp: '2049-01-01T00:00:00Z' },
};
const plugin = {
  command: process.execPath,
  args: ['-p', JSON.stringify(JSON.stringify(execCredential))],
  apiVersion: execCredential.apiVersion,
  interactiveMode: 'Never',
};

describe('loadClientConfig answers as client-node does of', () => {
  it.each<[string, object, object | null]>([
    ['a token', {}, { token: 't' }],
    ['nothing of the user', {}, null],
    ['a slash behind the server', { server: 'https://192.0.2.1/c-1/' }, { token: 't' }],
    [
      'a CA and a certificate',
      { 'certificate-authority-data': data('ca') },
      { 'client-certificate-data': data('c'), 'client-key-data': data('k') },
    ],
    ['files beside it', { 'certificate-authority': 'ca.pem' }, { 'client-certificate': 'c.pem', 'client-key': './c.pem' }],
    ['no check of the server', { 'insecure-skip-tls-verify': true }, { token: 't' }],
    ['plain http', { server: 'http://127.0.0.1:8080', 'insecure-skip-tls-verify': true }, { token: 't' }],
    ['another name of the server', { 'tls-server-name': 'api.example' }, { token: 't' }],
    ['a proxy', { 'proxy-url': 'http://192.0.2.9:3128' }, { token: 't' }],
    ['a password', {}, { username: 'jane', password: 'sesame' }],
    ['a password beside a token', {}, { username: 'jane', password: 'sesame', token: 't' }],
    ['an impersonation', {}, { token: 't', as: 'jane' }],
    [
      'what is not known',
      { extensions: [{ name: 'e', extension: { a: 1 } }], strange: [] },
      { token: 't', strange: { a: true } },
    ],
    ['a plugin', {}, { exec: plugin }],
    ['a plugin beside a token', {}, { exec: plugin, token: 't' }],
    ['a provider with a token file', {}, { 'auth-provider': { name: 'x', config: { tokenFile: 'FOLDER/ca.pem' } } }],
    [
      'an id token',
      {},
      { 'auth-provider': { name: 'oidc', config: { 'id-token': idToken({ exp: 4e9 }), 'client-secret': 's' } } },
    ],
  ])('%s', async (_says, cluster, user) => {
    const folder = await tempDir();
    for (const name of ['ca.pem', 'c.pem']) await writeFile(join(folder, name), name);
    const given = kubeconfigOf(cluster, user);
    for (const text of [JSON.stringify(given), dump(given)]) {
      const [ours, theirs] = await bothOf(folder, text.replace('FOLDER', folder));
      expect(ours).toEqual(theirs);
    }
  });

  it('one without a user, as far as client-node goes: the CA counts for it, too', async () => {
    const given = kubeconfigOf({ 'certificate-authority-data': data('ca') }, null, { user: undefined, namespace: 'n' });
    const [ours, theirs] = await bothOf(await tempDir(), JSON.stringify(given));
    expect(ours).toEqual({ ...theirs, options: { ca: Buffer.from('ca') } });
  });

  it('anchors, folded and quoted text', async () => {
    const text = `
current-context: &name 'x'
contexts:
- name: *name
  context: { cluster: "c\\u0031", user: *name }
clusters:
- name: c1
  cluster:
    server: >-
      https://192.0.2.1
    certificate-authority-data: |
      ${data('a certificate').slice(0, 8)}
      ${data('a certificate').slice(8)}
users:
- name: x
  user: { token: "yes", as: !!str 12 } # a comment
`;
    const [ours, theirs] = await bothOf(await tempDir(), text);
    expect(ours).toEqual(theirs);
  });

  it('any mixture of these, with any names', async () => {
    const folder = await tempDir();
    await writeFile(join(folder, 'file.pem'), 'of a file');
    const word = fc.oneof(
      fc.constantFrom(
        '__proto__',
        'constructor',
        'yes',
        '1',
        '0x1F',
        'null',
        '~',
        '2001-01-01',
        '<<',
        'a: b',
        '# c',
        "it's",
        '"',
        ' x ',
      ),
      fc.string({ minLength: 1, unit: 'grapheme-ascii' }),
      fc.string({ minLength: 1, unit: fc.constantFrom('ä', '€', '好', '\n', '\t', 'a', '-', ':') }),
    );
    const pem = (name: string) =>
      fc.oneof(
        fc.constant({}),
        word.map((text) => ({ [`${name}-data`]: data(text) })),
        fc.constant({ [name]: 'file.pem' }),
      );
    const both = (...parts: fc.Arbitrary<object>[]) => fc.tuple(...parts).map((all) => Object.assign({}, ...all) as object);
    const maybe = (name: string, value: fc.Arbitrary<unknown>) =>
      fc.oneof(
        fc.constant({}),
        value.map((given) => ({ [name]: given })),
      );
    const skipped = (part: object): boolean => Reflect.get(part, 'insecure-skip-tls-verify') === true;
    const cluster = both(
      pem('certificate-authority'),
      maybe('insecure-skip-tls-verify', fc.boolean()),
      maybe('tls-server-name', word),
      maybe('server', fc.constantFrom('https://a', 'https://a/', 'https://a//')),
    ).filter((part) => !(skipped(part) && Object.keys(part).some((name) => name.startsWith('certificate-authority'))));
    const certificate = fc.oneof(
      fc.constant({}),
      both(
        pem('client-key').filter((key) => Object.keys(key).length > 0),
        pem('client-certificate'),
      ),
    );
    const basic = fc.oneof(fc.constant({}), fc.record({ username: word, password: word }));
    const user = both(
      certificate,
      basic,
      maybe('token', word),
      maybe(
        'as',
        word.filter((text) => text.trim() !== ''),
      ),
    );
    const names = fc.record({ x: word, c: word, u: word, namespace: word });
    await fc.assert(
      fc.asyncProperty(cluster, user, names, fc.boolean(), async (clusterPart, userPart, { x, c, u, namespace }, isYaml) => {
        const given = {
          'current-context': x,
          contexts: [{ name: x, context: { cluster: c, user: u, namespace } }],
          clusters: [{ name: c, cluster: { server: 'https://b', ...clusterPart } }],
          users: [{ name: u, user: userPart }],
        };
        const [ours, theirs] = await bothOf(folder, isYaml ? dump(given) : JSON.stringify(given));
        expect(ours).toEqual(theirs);
      }),
      { seed: 27, numRuns: 400 },
    );
  });
});
