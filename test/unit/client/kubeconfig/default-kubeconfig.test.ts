import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ClientConfig } from '../../../../src/client/kubeconfig/client-config.ts';
import { loadClientConfig, loadFrom } from '../../../../src/client/kubeconfig/load-client-config.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const secret = 'sesame-4711';
const kubeconfig = JSON.stringify({
  'current-context': 'home',
  contexts: [{ name: 'home', context: { cluster: 'home', user: 'home' } }],
  clusters: [{ name: 'home', cluster: { server: 'https://home' } }],
  users: [{ name: 'home', user: { token: secret } }],
});

/** A pod with a home folder that has a kubeconfig. */
async function pod() {
  const folder = await tempDir();
  await mkdir(join(folder, '.kube'));
  const put = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  await put('.kube/config', kubeconfig);
  await put('token', 't');
  const env = { HOME: folder, KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  const contextOf = (more: Record<string, string | undefined> = {}, look?: (path: string) => void): string =>
    loadFrom({ env: { ...env, ...more } }, folder, look).getCurrentContext();
  return { folder, put, contextOf, env };
}

/** Looks for a file as one who meets this error. */
const fails = (code: string) => (): never => {
  throw Object.assign(new Error('no'), { code });
};
const outside = { KUBERNETES_SERVICE_HOST: undefined };

describe('the kubeconfig of the home folder', () => {
  it.each(['EACCES', 'EPERM', 'ENOTDIR', 'ENOENT'])('counts as not there where looking for it ends with %s', async (code) => {
    const { contextOf } = await pod();
    expect(contextOf()).toBe('home');
    expect(contextOf({}, fails(code))).toBe('inClusterContext');
    expect(() => contextOf(outside, fails(code))).toThrow('the home folder has no .kube/config');
  });

  it('counts as not there where the home folder is a file', async () => {
    const { contextOf, folder } = await pod();
    expect(contextOf({ HOME: join(folder, 'token') })).toBe('inClusterContext');
  });

  it('is an error where the disk fails, and where it is there and cannot be read', async () => {
    const { contextOf, folder } = await pod();
    expect(() => contextOf({}, fails('EIO'))).toThrow('it cannot be read (EIO)');
    await mkdir(join(folder, 'other/.kube/config'), { recursive: true });
    expect(() => contextOf({ HOME: join(folder, 'other') })).toThrow('it cannot be read (EISDIR)');
  });

  it('counts as not there where it says nothing', async () => {
    const { contextOf, put } = await pod();
    await put('.kube/config', 'apiVersion: v1\nkind: Config\npreferences: {}\nusers: []\n');
    expect(contextOf()).toBe('inClusterContext');
    expect(() => contextOf(outside)).toThrow('No kubeconfig was found: KUBECONFIG is not set, the home folder');
  });
});

describe('KUBECONFIG', () => {
  it.each(['EACCES', 'EPERM', 'ENOTDIR'])('names a file, which is an error where looking for it ends with %s', async (code) => {
    const { contextOf } = await pod();
    expect(() => contextOf({ KUBECONFIG: '/named' }, fails(code))).toThrow(
      `The kubeconfig "/named" cannot be used: it cannot be read (${code})`,
    );
  });

  it('keeps the home folder out also where it names nothing', async () => {
    const { contextOf, put, folder } = await pod();
    const names = [delimiter, join(folder, 'none'), await put('empty', ''), '/dev/null', ['/dev/null', ''].join(delimiter)];
    for (const KUBECONFIG of names) {
      expect(contextOf({ KUBECONFIG })).toBe('inClusterContext');
      const shown = `KUBECONFIG names no file that is there: ${JSON.stringify(KUBECONFIG)}. Each of them is missing or says nothing`;
      expect(() => contextOf({ KUBECONFIG, ...outside })).toThrow(shown);
    }
    expect(contextOf({ KUBECONFIG: '' })).toBe('home');
    expect(contextOf({ KUBECONFIG: ['/dev/null', '', join(folder, '.kube/config')].join(delimiter) })).toBe('home');
  });

  it('is named file by file where what was merged cannot be used', async () => {
    const { contextOf, put } = await pod();
    const [first, second] = [await put('first', 'users: [{name: a}]'), await put('second', 'users: [{name: b}]')];
    const shown = `The kubeconfig ${JSON.stringify(first)}, ${JSON.stringify(second)} cannot be used: it has no current-context`;
    expect(() => contextOf({ KUBECONFIG: [first, second].join(delimiter) })).toThrow(shown);
  });
});

describe('what is no path is not quoted', () => {
  const short = `{"users":[{"name":"u","user":{"token":"${secret}"}}]}`;
  it.each<[string, string]>([
    ['YAML', `users:\n- name: u\n  user: { token: ${secret} }\n`],
    ['one line of JSON', kubeconfig],
    ['short JSON', short],
    ['a long text', `${secret}/`.repeat(30)],
    ['base64', secret.repeat(25)],
  ])('%s', async (_says, text) => {
    const shown = `(a text of ${text.length} characters that looks like no path)`;
    const loads: (() => ClientConfig)[] = [
      () => loadClientConfig({ file: text }),
      () => loadClientConfig({ env: { KUBECONFIG: text } }),
    ];
    for (const load of loads) {
      expect(load).toThrow(expect.objectContaining({ code: 'ERR_KUBECONFIG', message: expect.stringContaining(shown) }));
      expect(load).not.toThrow(secret);
    }
  });

  it('also in a list', () => {
    const KUBECONFIG = ['/none', secret.repeat(25)].join(delimiter);
    const load = () => loadClientConfig({ env: { KUBECONFIG } });
    expect(load).toThrow('The kubeconfig (a text of 275 characters that looks like no path) cannot be used');
    expect(load).not.toThrow(secret);
  });
});

it('the namespace of the service account is trimmed, and left out where it cannot be read', async () => {
  const { folder, put, env } = await pod();
  const namespace = () => loadFrom({ env: { ...env, HOME: undefined } }, folder).getContextObject('inClusterContext')?.namespace;
  await put('namespace', ' apps\n');
  expect(namespace()).toBe('apps');
  await put('namespace', '\n');
  expect(namespace()).toBeUndefined();
  await put('namespace', 'x'.repeat(1024 * 1024 + 1));
  expect(namespace()).toBeUndefined();
});
