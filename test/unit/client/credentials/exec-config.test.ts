import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { execInfo, readExecConfig } from '../../../../src/client/credentials/exec-plugin.ts';
import { scratch, v1 } from './shell-plugin.ts';

const secret = 'a-very-secret-token';
const cluster = { name: 'test', server: 'https://10.0.0.1:6443', skipTLSVerify: false };
const exec = { apiVersion: v1, command: 'aws' };

describe('readExecConfig', () => {
  it('takes what a kubeconfig says of a plugin', () => {
    const given = {
      ...exec,
      apiVersion: 'client.authentication.k8s.io/v1beta1',
      args: ['eks', 'get-token'],
      env: [{ name: 'AWS_PROFILE', value: 'node' }],
      installHint: 'Install aws.',
      interactiveMode: 'IfAvailable',
      provideClusterInfo: true,
    };
    expect(readExecConfig(given, cluster)).toEqual({
      apiVersion: 'client.authentication.k8s.io/v1beta1',
      command: 'aws',
      args: ['eks', 'get-token'],
      env: { AWS_PROFILE: 'node' },
      installHint: 'Install aws.',
      cluster,
    });
  });

  it.each([undefined, null])('takes %s for an absent member', (absent) => {
    const given = { ...exec, args: absent, env: absent, installHint: absent, interactiveMode: absent };
    expect(readExecConfig(given, cluster)).toEqual({ ...exec, args: [], env: {}, installHint: undefined, cluster: undefined });
  });

  it.each([
    ['no object', 'aws', 'Expected `exec` to be an object, got "aws" (string)'],
    ['no command', { apiVersion: v1 }, 'Expected `exec.command` to be a non-empty string, got undefined'],
    ['no apiVersion', { command: 'aws' }, 'Expected `exec.apiVersion` to be one of'],
    [
      'an apiVersion of old',
      { ...exec, apiVersion: 'client.authentication.k8s.io/v1alpha1' },
      'got "client.authentication.k8s.io/v1alpha1"',
    ],
    [
      'a plugin that wants a terminal',
      { ...exec, interactiveMode: 'Always' },
      'Expected `exec.interactiveMode` to be one of "Never", "IfAvailable"',
    ],
    ['arguments that are no list', { ...exec, args: secret }, 'Expected `exec.args` to be a list of strings, got (string)'],
    [
      'variables that are no list',
      { ...exec, env: secret },
      'Expected `exec.env` to be a list of names and values, got (string)',
    ],
    [
      'an argument that is no string',
      { ...exec, args: [secret, 5] },
      'Expected `exec.args` to be a list of strings, got (array)',
    ],
    [
      'a variable without a name',
      { ...exec, env: [{ value: secret }] },
      'Expected `exec.env` to be a list of names and values, got (array)',
    ],
    ['a variable that is nothing', { ...exec, env: [null] }, 'Expected `exec.env` to be'],
  ])('refuses %s', (_what, given, message) => {
    const read = (): unknown => readExecConfig(given, cluster);
    expect(read).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(message) }));
  });

  it('shows no argument and no variable in an error', () => {
    const args = [[secret, 5], { secret }, `--client-secret=${secret}`];
    const env = [[{ value: secret }], `TOKEN=${secret}`];
    for (const given of [...args.map((value) => ({ args: value })), ...env.map((value) => ({ env: value }))]) {
      expect(() => readExecConfig({ ...exec, ...given }, cluster)).toThrow(expect.not.stringContaining(secret));
    }
  });
});

describe('execInfo', () => {
  const infoOf = (given: object, of: object = cluster): unknown =>
    JSON.parse(execInfo(readExecConfig({ ...exec, ...given }, { ...cluster, ...of })));

  it('names the apiVersion and says that there is no terminal', () => {
    expect(infoOf({})).toEqual({ apiVersion: v1, kind: 'ExecCredential', spec: { interactive: false } });
  });

  it('reads at most 1 MiB of a CA, and no pipe', () => {
    using files = scratch();
    const of = (caFile: string) => () => infoOf({ provideClusterInfo: true }, { caFile });
    expect(of(files.write('long', 'x'.repeat(1024 * 1024 + 1)))).toThrow(expect.objectContaining({ code: 'EFBIG' }));
    execFileSync('mkfifo', [files.path('pipe')]);
    expect(of(files.path('pipe'))).toThrow(expect.objectContaining({ code: 'EFTYPE' }));
  });

  it('tells of the cluster where the kubeconfig wants it', () => {
    const all = { caData: 'Q0E=', tlsServerName: 'kubernetes.test', skipTLSVerify: true, proxyUrl: 'http://127.0.0.1:3128' };
    expect(infoOf({ provideClusterInfo: true }, all)).toMatchObject({
      spec: {
        interactive: false,
        cluster: {
          server: 'https://10.0.0.1:6443',
          'certificate-authority-data': 'Q0E=',
          'tls-server-name': 'kubernetes.test',
          'insecure-skip-tls-verify': true,
          'proxy-url': 'http://127.0.0.1:3128',
        },
      },
    });
    expect(infoOf({ provideClusterInfo: true })).toMatchObject({ spec: { cluster: { server: 'https://10.0.0.1:6443' } } });
  });

  it('gives the CA of a file as its bytes', () => {
    using files = scratch();
    const caFile = files.write('ca', 'CA');
    expect(infoOf({ provideClusterInfo: true }, { caFile })).toMatchObject({
      spec: { cluster: { 'certificate-authority-data': 'Q0E=' } },
    });
  });
});
