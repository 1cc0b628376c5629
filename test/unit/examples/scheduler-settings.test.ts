import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { flagNames, help, parseFlags } from '../../../examples/scheduler/flags.ts';
import { settingsOf } from '../../../examples/scheduler/settings.ts';
import { tempDir } from '../../support/temp-dir.ts';

const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n';

function flags(...args: string[]) {
  const parsed = parseFlags(args);
  if (parsed === 'help') throw new Error('no flags');
  return parsed;
}
const settings = (...args: string[]) => settingsOf(flags(...args));
async function file(text: string): Promise<string> {
  const path = join(await tempDir(), 'config.yaml');
  await writeFile(path, text);
  return path;
}

describe('the flags of the scheduler example', () => {
  it('are the defaults of kube-scheduler without any', () => {
    expect(flags()).toEqual({
      config: undefined,
      writeConfigTo: undefined,
      verbosity: 0,
      changes: {},
      podMaxInUnschedulableMs: undefined,
      policy: undefined,
      serving: {
        certFile: undefined,
        keyFile: undefined,
        certDir: undefined,
        clientCAFile: undefined,
        reviewsKubeconfig: undefined,
        skipsLookup: false,
        toleratesLookupFailure: true,
        options: { port: 10_259, authenticationCacheMs: 10_000, authorizedCacheMs: 10_000, unauthorizedCacheMs: 10_000 },
      },
    });
    expect(parseFlags(['--help'])).toBe('help');
    const listed = new Set(help.match(/--[a-z][a-z-]*/g));
    expect(flagNames.filter((name) => name !== 'help' && !listed.has(`--${name}`))).toEqual([]);
  });

  it('are those that kubeadm gives', () => {
    const { changes, serving } = flags(
      ...[
        '--authentication-kubeconfig=/etc/kubernetes/scheduler.conf',
        '--authorization-kubeconfig=/etc/kubernetes/scheduler.conf',
      ],
      ...['--bind-address=127.0.0.1', '--kubeconfig=/etc/kubernetes/scheduler.conf', '--leader-elect=true'],
    );
    expect(changes).toEqual({
      'clientConnection.kubeconfig': '/etc/kubernetes/scheduler.conf',
      'leaderElection.leaderElect': true,
    });
    expect(serving).toMatchObject({
      reviewsKubeconfig: '/etc/kubernetes/scheduler.conf',
      options: { address: '127.0.0.1', port: 10_259 },
    });
  });

  it('say what serves the pages', () => {
    const { serving } = flags(...['--secure-port=0'], ...['--tls-cert-file=c', '--tls-private-key-file=k']);
    expect(serving).toBeUndefined();
    expect(
      flags(
        ...['--tls-cert-file=c', '--tls-private-key-file=k', '--client-ca-file=ca', '--cert-dir=d', '--secure-port', '1'],
        ...[
          '--authentication_skip_lookup',
          '--authentication-tolerate-lookup-failure=F',
          '--authorization-always-allow-paths=/a,/b',
        ],
        ...['--authentication-token-webhook-cache-ttl=1m', '--authorization-webhook-cache-authorized-ttl=2s'],
        ...['--authorization-webhook-cache-unauthorized-ttl=0'],
      ).serving,
    ).toEqual({
      certFile: 'c',
      keyFile: 'k',
      certDir: 'd',
      clientCAFile: 'ca',
      reviewsKubeconfig: undefined,
      skipsLookup: true,
      toleratesLookupFailure: false,
      options: {
        port: 1,
        alwaysAllowPaths: ['/a', '/b'],
        authenticationCacheMs: 60_000,
        authorizedCacheMs: 2000,
        unauthorizedCacheMs: 0,
      },
    });
  });

  it('say where the policy is', () => {
    expect(flags('--policy-config-file=p').policy).toEqual({ file: 'p' });
    expect(flags('--policy-configmap=p').policy).toEqual({ name: 'p', namespace: 'kube-system' });
    expect(flags('--policy-configmap=p', '--policy-configmap-namespace=n').policy).toEqual({ name: 'p', namespace: 'n' });
  });

  it.each([
    [['--leader-elect=maybe'], '--leader-elect must be true or false, got maybe'],
    [['--kube-api-qps=fast'], '--kube-api-qps must be a number, got fast'],
    [['--secure-port=70000'], '--secure-port must be an integer from 0 to 65535, got 70000'],
    [['-v', 'x'], '--v must be an integer from 0 to 10, got x'],
    [['--tls-cert-file=c'], '--tls-cert-file and --tls-private-key-file must be given together'],
    [['--authentication-kubeconfig=a', '--authorization-kubeconfig=b'], 'must be the same file'],
    [['--authorization-webhook-cache-authorized-ttl=-1s'], '--authorization-webhook-cache-authorized-ttl must be a time'],
    [['--policy-config-file=a', '--policy-configmap=b'], 'name two policies'],
    [['--policy-configmap-namespace=n'], '--policy-configmap-namespace needs --policy-configmap'],
    [['--algorithm-provider=x'], "Unknown option '--algorithm-provider'"],
    [['file.yaml'], "Unexpected argument 'file.yaml'"],
  ])('are refused: %j', (args, message) => {
    expect(() => flags(...args)).toThrow(message);
  });
});

describe('the flags and the file of the scheduler example', () => {
  it('say without a file what kube-scheduler does, but for its limit of requests', async () => {
    const { options, withoutEffect } = await settings();
    expect(options).toMatchObject({
      leaderElection: { name: 'kube-scheduler', namespace: 'kube-system', leaseDurationMs: 15_000 },
      podMaxBackoffMs: 10_000,
    });
    expect([options.requestLimit, withoutEffect]).toEqual([undefined, []]);
    expect((await settings('--kube-api-qps=9')).options.requestLimit).toEqual({ qps: 9, burst: 100 });
    expect((await settings('--config', await file(head))).options.requestLimit).toEqual({ qps: 50, burst: 100 });
    expect((await settings('--pod-max-in-unschedulable-pods-duration=90s')).options.podMaxInUnschedulableMs).toBe(90_000);
  });

  it('have a flag count more than the file', async () => {
    const config = await file(`${head}leaderElection: { leaderElect: false, resourceName: of-file, resourceNamespace: ns }
clientConnection: { qps: 1, kubeconfig: of-file }`);
    const flagged = ['--leader-elect', '--leader-elect-resource-name=mine', '--leader-elect-lease-duration=1m', '--kubeconfig=k'];
    expect(await settings('--config', config)).toMatchObject({ options: { leaderElection: false }, kubeconfig: 'of-file' });
    expect(await settings('--config', config, ...flagged)).toMatchObject({
      options: {
        leaderElection: { name: 'mine', namespace: 'ns', leaseDurationMs: 60_000 },
        requestLimit: { qps: 1, burst: 100 },
      },
      kubeconfig: 'k',
    });
  });

  it('take a policy beside a file without profiles, and name the file that is refused', async () => {
    const policy = '--policy-config-file=p';
    expect((await settings('--config', await file(head), policy)).options.profiles).toHaveLength(1);
    const profiles = await file(`${head}profiles: [{}]`);
    await expect(settings('--config', profiles, policy)).rejects.toThrow(`${profiles}: expected no profiles`);
    const wrong = await file(`${head}parallelism: x`);
    await expect(settings('--config', wrong)).rejects.toThrow(`${wrong}: Expected \`parallelism\` to be an integer`);
    await expect(settings('--leader-elect-retry-period=1h')).rejects.toThrow('the flags: Expected `leaderElection.retryPeriod`');
  });
});
