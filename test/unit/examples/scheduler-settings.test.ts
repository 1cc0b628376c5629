import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfiguration } from '../../../examples/scheduler/configuration.ts';
import { parseFlags } from '../../../examples/scheduler/flags.ts';
import { settingsOf } from '../../../examples/scheduler/settings.ts';

const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n';

describe('a configuration file of the scheduler example', () => {
  it('sets what it says, and nothing else', () => {
    expect(readConfiguration(head)).toEqual({ options: { leaderElection: {} }, kubeconfig: undefined, withoutEffect: [] });
    const text = `${head}
leaderElection:
  { leaderElect: true, resourceName: mine, resourceNamespace: ns, leaseDuration: 1m30s, renewDeadline: 10s, retryPeriod: 500ms, resourceLock: leases }
clientConnection: { kubeconfig: /etc/kubeconfig, qps: 7, burst: 9, contentType: application/json }
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 60
parallelism: 16
extenders: []
profiles: [{ schedulerName: a }, { schedulerName: b, percentageOfNodesToScore: 5 }]
percentageOfNodesToScore: 40
`;
    expect(readConfiguration(text)).toEqual({
      options: {
        leaderElection: { name: 'mine', namespace: 'ns', leaseDurationMs: 90_000, renewDeadlineMs: 10_000, retryPeriodMs: 500 },
        requestLimit: { qps: 7, burst: 9 },
        podInitialBackoffMs: 2000,
        podMaxBackoffMs: 60_000,
        profiles: [
          { schedulerName: 'a', percentageOfNodesToScore: 40 },
          { schedulerName: 'b', percentageOfNodesToScore: 5 },
        ],
      },
      kubeconfig: '/etc/kubeconfig',
      withoutEffect: ['parallelism', 'clientConnection.contentType'],
    });
  });

  it('may leave members null, and takes the zeros of kube-scheduler as it does', () => {
    const nulls = 'leaderElection: null\nclientConnection: { qps: 0, burst: null }\nprofiles: null\nextenders: null\n';
    expect(readConfiguration(head + nulls).options).toEqual({ leaderElection: {}, requestLimit: { qps: 50, burst: 100 } });
    expect(readConfiguration(`${head}clientConnection: { qps: -1 }\n`).options).toEqual({ leaderElection: {} });
    expect(readConfiguration(`${head}percentageOfNodesToScore: 30\n`).options.profiles).toEqual([
      { percentageOfNodesToScore: 30 },
    ]);
    expect(readConfiguration(`${head}leaderElection: { leaderElect: false, resourceName: x }\n`).options.leaderElection).toBe(
      false,
    );
  });

  it.each([
    ['[]', 'the file: expected an object, got []'],
    ['kind: KubeSchedulerConfiguration', 'apiVersion: expected "kubescheduler.config.k8s.io/v1", got nothing'],
    ['apiVersion: kubescheduler.config.k8s.io/v1\nkind: Policy', 'kind: expected "KubeSchedulerConfiguration", got "Policy"'],
    [`${head}extenders: [{ urlPrefix: 'http://x' }]`, 'extenders: expected none, because this program asks no extender'],
    [`${head}extenders: x`, 'extenders: expected a list, got "x"'],
    [`${head}profile: []`, 'profile: expected absent: this program has no such member, got []'],
    [`${head}profiles: [x]`, 'profiles: expected a list of objects'],
    [`${head}podInitialBackoffSeconds: 1s`, 'podInitialBackoffSeconds: expected a number, got "1s"'],
    [`${head}leaderElection: x`, 'leaderElection: expected an object, got "x"'],
    [`${head}leaderElection: { leaderElect: yes please }`, 'leaderElection.leaderElect: expected true or false'],
    [`${head}leaderElection: { leaseDuration: 15 }`, 'leaderElection.leaseDuration: expected text, got 15'],
    [`${head}leaderElection: { leaseDuration: soon }`, 'leaderElection.leaseDuration: expected a time such as "15s" or "1m30s"'],
    [`${head}leaderElection: { resourceLock: endpoints }`, 'leaderElection.resourceLock: expected "leases", got "endpoints"'],
    [`${head}leaderElection: { lease: x }`, 'leaderElection.lease: expected absent'],
    [`${head}clientConnection: { qpss: 1 }`, 'clientConnection.qpss: expected absent'],
  ])('is refused: %j', (text, message) => {
    expect(() => readConfiguration(text)).toThrow(message);
  });
});

describe('the flags and files of the scheduler example', () => {
  let folder = '';
  const file = async (name: string, text: string): Promise<string> => {
    const at = path.join(folder, name);
    await writeFile(at, text);
    return at;
  };
  const settings = (...args: string[]) => {
    const flags = parseFlags(args);
    if (flags === 'help') throw new Error('no flags');
    return settingsOf(flags);
  };
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'scheduler-settings-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('are the defaults without any', async () => {
    expect(await settings()).toEqual({ options: { leaderElection: {} }, kubeconfig: undefined, withoutEffect: [] });
    expect((await settings('--leader-elect=false')).options.leaderElection).toBe(false);
  });

  it('have a flag count more than the file', async () => {
    const off = await file(
      'off.yaml',
      `${head}leaderElection: { leaderElect: false }\nclientConnection: { qps: 1, kubeconfig: of-file }`,
    );
    const lease = await file('lease.yaml', `${head}leaderElection: { resourceName: of-file, resourceNamespace: ns }`);
    expect(await settings('--config', off)).toMatchObject({ options: { leaderElection: false }, kubeconfig: 'of-file' });
    expect(await settings('--config', off, '--leader-elect=true', '--kube-api-qps=9', '--kubeconfig=mine')).toMatchObject({
      options: { leaderElection: {}, requestLimit: { qps: 9, burst: 100 } },
      kubeconfig: 'mine',
    });
    expect((await settings('--config', lease, '--leader-elect-resource-name=mine')).options.leaderElection).toEqual({
      name: 'mine',
      namespace: 'ns',
    });
  });

  it('take a policy beside a file without profiles, and name the file that is refused', async () => {
    const policy = await file('policy.yaml', 'kind: Policy\napiVersion: v1\npredicates: []\npriorities: []\n');
    const plain = await file('plain.yaml', head);
    const profiles = await file('profiles.yaml', `${head}profiles: [{}]`);
    expect((await settings('--config', plain, '--policy-config-file', policy)).options.profiles).toHaveLength(1);
    await expect(settings('--config', profiles, '--policy-config-file', policy)).rejects.toThrow(
      `${profiles}: expected no profiles, because --policy-config-file gives the only one`,
    );
    const wrong = await file('wrong.yaml', '[]');
    await expect(settings('--config', wrong)).rejects.toThrow(`${wrong}: the file: expected an object, got []`);
  });
});
