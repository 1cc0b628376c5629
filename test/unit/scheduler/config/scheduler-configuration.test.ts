import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { type ConfiguredOptions, readSchedulerConfiguration } from '../../../../src/scheduler/config/scheduler-configuration.ts';
import { Framework } from '../../../../src/scheduler/framework/framework.ts';
import { inTreePlugins } from '../../../../src/scheduler/profile/plugin-registry.ts';
import { profilePlugins } from '../../../../src/scheduler/profile/profile-plugins.ts';
import { frameworkContext } from '../../../support/framework-context.ts';
import { nodeSnapshotOf } from '../../../support/node-snapshots.ts';

const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n';
const options = (text: string): ConfiguredOptions => readSchedulerConfiguration(head + text).options;
/** Written by kube-scheduler v1.36.3 with --write-config-to. */
const file = (name: string): string => readFileSync(new URL(`${name}.yaml`, import.meta.url), 'utf8');

/** The names and weights of the plugins that score, for the profile of a file. */
function scoring(text: string, index = 0): Record<string, number | undefined> {
  const { profiles } = readSchedulerConfiguration(text).options;
  const context = frameworkContext({ snapshot: () => nodeSnapshotOf([]) });
  const { profile } = new Framework(context, (handle) => profilePlugins('p', profiles[index] ?? {}, inTreePlugins(), handle));
  return Object.fromEntries((profile.points?.score ?? []).map(({ name }) => [name, profile.weights.get(name)]));
}

interface WrittenFile {
  readonly profiles: readonly { readonly pluginConfig: readonly { readonly name: string }[] }[];
}

/** The arguments of plugins by name: kube-scheduler sorts them once it has made the plugins. */
function sorted(written: unknown): unknown {
  const { profiles, ...others } = written as WrittenFile;
  const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
  return { ...others, profiles: profiles.map((one) => ({ ...one, pluginConfig: one.pluginConfig.toSorted(byName) })) };
}

describe('a file that kube-scheduler has written', () => {
  it('is taken as it is, and says what its defaults say', () => {
    const written = readSchedulerConfiguration(file('defaults-written'));
    expect(written.complete).toEqual(load(file('defaults-written')));
    expect(written.options).toEqual(readSchedulerConfiguration(head).options);
    expect(written.kubeconfig).toBe('/etc/kubernetes/scheduler.conf');
    expect(scoring(file('defaults-written'))).toEqual({
      ...{
        TaintToleration: 3,
        NodeAffinity: 2,
        NodeResourcesFit: 1,
        PodTopologySpread: 2,
        InterPodAffinity: 2,
        DynamicResources: 2,
      },
      ...{ NodeResourcesBalancedAllocation: 1, ImageLocality: 1 },
    });
  });

  it('says what the file says that kube-scheduler has read', () => {
    const [given, written] = [file('two-profiles'), file('two-profiles-written')].map((text) => readSchedulerConfiguration(text));
    expect(written?.complete).toEqual(load(file('two-profiles-written')));
    expect(sorted(given?.complete)).toEqual(written?.complete);
    expect(sorted(given?.options)).toEqual(written?.options);
    expect(scoring(file('two-profiles'))).toEqual(scoring(file('two-profiles-written')));
    expect(scoring(file('two-profiles'))).toMatchObject({ TaintToleration: 7, ImageLocality: 4 });
    expect(scoring(file('two-profiles'))).not.toHaveProperty('NodeAffinity');
    expect(scoring(file('two-profiles'))).not.toHaveProperty('PodTopologySpread');
  });
});

describe('a member of a configuration file', () => {
  it('has its default where it is absent', () => {
    const { profiles, ...others } = options('');
    expect(others).toEqual({
      leaderElection: {
        ...{ name: 'kube-scheduler', namespace: 'kube-system' },
        ...{ leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 },
      },
      requestLimit: { qps: 50, burst: 100 },
      podInitialBackoffMs: 1000,
      podMaxBackoffMs: 10_000,
    });
    expect(profiles).toMatchObject([{ schedulerName: 'default-scheduler', percentageOfNodesToScore: 0 }]);
    expect(readSchedulerConfiguration(head)).toMatchObject({ kubeconfig: undefined, withoutEffect: [] });
  });

  it.each<[string, Partial<ConfiguredOptions>]>([
    ['leaderElection: { leaderElect: false, leaseDuration: 1s }', { leaderElection: false }],
    [
      'leaderElection: { leaseDuration: 1m30s, renewDeadline: 10.5s, retryPeriod: 500ms, resourceName: mine, resourceNamespace: ns }',
      {
        leaderElection: {
          ...{ name: 'mine', namespace: 'ns' },
          ...{ leaseDurationMs: 90_000, renewDeadlineMs: 10_500, retryPeriodMs: 500 },
        },
      },
    ],
    ['clientConnection: { qps: 2.5, burst: 7 }', { requestLimit: { qps: 2.5, burst: 7 } }],
    ['clientConnection: { qps: 0, burst: 0 }', { requestLimit: { qps: 50, burst: 100 } }],
    ['podInitialBackoffSeconds: 2\npodMaxBackoffSeconds: 60', { podInitialBackoffMs: 2000, podMaxBackoffMs: 60_000 }],
    ['delayCacheUntilActive: true', { delayCacheUntilActive: true }],
    ["extenders: [{ urlPrefix: 'http://x', weight: 2 }]", { extenders: [{ urlPrefix: 'http://x', weight: 2 }] }],
  ])('is applied: %s', (text, expected) => {
    expect(options(text)).toMatchObject(expected);
  });

  it('may ask for no limit of requests, and for nothing of the rest', () => {
    const { requestLimit, delayCacheUntilActive, extenders } = options('clientConnection: { qps: -1 }\nextenders: []\n');
    expect([requestLimit, delayCacheUntilActive, extenders]).toEqual([undefined, undefined, undefined]);
  });

  it('holds for every profile that does not say otherwise', () => {
    const text =
      'percentageOfNodesToScore: 30\nprofiles: [{ schedulerName: a }, { schedulerName: b, percentageOfNodesToScore: 0 }]';
    expect(options(text).profiles).toMatchObject([{ percentageOfNodesToScore: 30 }, { percentageOfNodesToScore: 0 }]);
  });

  it('is told of where it changes nothing here, with the reason', () => {
    const text = `parallelism: 3
clientConnection: { contentType: application/json, acceptContentTypes: '' }
enableProfiling: true
enableContentionProfiling: false
`;
    expect(readSchedulerConfiguration(head + text).withoutEffect).toEqual([
      'parallelism: one thread judges all nodes',
      'clientConnection.acceptContentTypes: the apiserver is asked in JSON',
      'clientConnection.contentType: the apiserver is asked in JSON',
      'enableProfiling: it shows the inside of a program in Go',
      'enableContentionProfiling: it shows the inside of a program in Go',
    ]);
  });

  it('counts less than a change of it', () => {
    const changes = { 'leaderElection.leaderElect': true, 'leaderElection.retryPeriod': '1s', 'clientConnection.qps': 9 };
    const text = 'leaderElection: { leaderElect: false, retryPeriod: 20s, resourceName: kept }\n';
    const { options: changed, complete } = readSchedulerConfiguration(head + text, changes);
    expect(changed).toMatchObject({ leaderElection: { retryPeriodMs: 1000, name: 'kept' }, requestLimit: { qps: 9 } });
    expect(complete).toMatchObject({ leaderElection: { leaderElect: true, retryPeriod: '1s' }, clientConnection: { qps: 9 } });
    expect(() => readSchedulerConfiguration(head, { 'leaderElection.retryPeriod': 'x' })).toThrow('leaderElection.retryPeriod');
  });
});

describe('a configuration file', () => {
  const args = (name: string, given: string): string => `profiles: [{ pluginConfig: [{ name: ${name}, args: ${given} }] }]`;

  it.each([
    ['[]', 'Expected the configuration to be an object, got a list'],
    ['', 'Expected the configuration to be an object, got nothing'],
    ['a: b: c', 'Expected the configuration to be YAML'],
    ['{"apiVersion": 1', 'Expected the configuration to be JSON'],
    ['kind: KubeSchedulerConfiguration', 'Expected `apiVersion` to be "kubescheduler.config.k8s.io/v1", got undefined'],
    [head.replace('/v1', '/v1beta3'), 'Expected `apiVersion` to be "kubescheduler.config.k8s.io/v1", got "kubescheduler'],
    [
      'apiVersion: kubescheduler.config.k8s.io/v1\nkind: Policy',
      'Expected `kind` to be "KubeSchedulerConfiguration", got "Policy"',
    ],
    [
      `${head}parallelism: 1\nparallelism: 2`,
      'Expected `parallelism` to be there once in its object, got "parallelism" (string)',
    ],
    ['{"kind": "x", "a": {"b": 1, "c": [{"b": 1}], "b": 2}}', 'Expected `b` to be there once in its object'],
    [`${head}a: &a { parallelism: 1, qps: 2 }\nb: { <<: *a, qps: 1 }`, 'Expected `qps` to be there once in its object'],
    [`${head}Parallelism: 1`, 'Expected `Parallelism` to be absent: the known members are apiVersion, kind, parallelism'],
    [`${head}leaderElection: { lease: x }`, 'Expected `leaderElection.lease` to be absent: the known members are leaderElect'],
    [`${head}profiles: [{ plugins: { sort: {} } }]`, 'Expected `profiles[0].plugins.sort` to be absent'],
    [head + args('NodeAffinity', '{ added: 1 }'), 'Expected `profiles[0].pluginConfig[0].args.added` to be absent'],
    [head + args('NodeAffinity', '[]'), 'Expected `profiles[0].pluginConfig[0].args` to be an object, got (array)'],
    [
      head + args('NodeAffinity', '{ kind: FitArgs }'),
      'Expected `profiles[0].pluginConfig[0].args.kind` to be "NodeAffinityArgs"',
    ],
    [
      head + args('NodeAffinity', '{ apiVersion: v1 }'),
      '`profiles[0].pluginConfig[0].args.apiVersion` to be "kubescheduler.config',
    ],
    [
      head + args('DynamicResources', '{ filterTimeout: -1s }'),
      'args.filterTimeout` to be a time that is not below 0, got "-1s"',
    ],
    [head + args('DynamicResources', '{ bindingTimeout: 500ms }'), 'args.bindingTimeout` to be at least "1s", got "500ms"'],
    [`${head}parallelism: 0`, 'Expected `parallelism` to be an integer from 1 up, got 0 (number)'],
    [`${head}parallelism: 1.5`, 'Expected `parallelism` to be an integer from -2147483648 to 2147483647, got 1.5 (number)'],
    [`${head}parallelism: many`, 'Expected `parallelism` to be an integer from -2147483648 to 2147483647, got "many" (string)'],
    [`${head}clientConnection: { qps: fast }`, 'Expected `clientConnection.qps` to be a number, got "fast" (string)'],
    [
      `${head}clientConnection: { qps: 1e7 }`,
      'Expected `clientConnection.qps` to be below 0 for no limit, 0 for the default, or from',
    ],
    [`${head}clientConnection: { burst: -1 }`, 'Expected `clientConnection.burst` to be an integer from 0 up, got -1 (number)'],
    [`${head}clientConnection: { burst: 1000001 }`, 'Expected `clientConnection.burst` to be at most 1000000, got 1000001'],
    [`${head}clientConnection: { kubeconfig: 1 }`, 'Expected `clientConnection.kubeconfig` to be a text, got 1 (number)'],
    [`${head}enableProfiling: 'yes'`, 'Expected `enableProfiling` to be true or false, got "yes" (string)'],
    [
      `${head}leaderElection: { leaseDuration: 15 }`,
      '`leaderElection.leaseDuration` to be a time such as "15s" or "1m30s", got 15',
    ],
    [
      `${head}leaderElection: { leaseDuration: null }`,
      '`leaderElection.leaseDuration` to be a time such as "15s" or "1m30s", got null',
    ],
    [`${head}leaderElection: { leaseDuration: 15500ms }`, 'Expected `leaderElection.leaseDuration` to be whole seconds'],
    [`${head}leaderElection: { leaseDuration: 1000h }`, 'to be whole seconds, from "1s" to "596h31m23s", got "1000h0m0s"'],
    [
      `${head}leaderElection: { renewDeadline: 15s }`,
      '`leaderElection.renewDeadline` to be more than 0 and less than leaseDuration',
    ],
    [
      `${head}leaderElection: { retryPeriod: 9s }`,
      'to be more than 0, and 1.2 times it less than renewDeadline, "10s", got "9s"',
    ],
    [
      `${head}leaderElection: { resourceLock: endpoints }`,
      'Expected `leaderElection.resourceLock` to be "leases", got "endpoints"',
    ],
    [
      `${head}percentageOfNodesToScore: 101`,
      'Expected `percentageOfNodesToScore` to be an integer from 0 to 100, got 101 (number)',
    ],
    [
      `${head}profiles: [{ percentageOfNodesToScore: -1 }]`,
      '`profiles[0].percentageOfNodesToScore` to be an integer from 0 to 100',
    ],
    [`${head}podInitialBackoffSeconds: 0`, 'Expected `podInitialBackoffSeconds` to be an integer from 1 up, got 0 (number)'],
    [
      `${head}podInitialBackoffSeconds: 20`,
      'Expected `podMaxBackoffSeconds` to be at least podInitialBackoffSeconds, 20, got 10',
    ],
    [`${head}podMaxBackoffSeconds: 9999999`, 'Expected `podMaxBackoffSeconds` to be at most 2147483, got 9999999 (number)'],
    [`${head}profiles: x`, 'Expected `profiles` to be a list, got "x" (string)'],
    [
      `${head}profiles: [{}, { schedulerName: b }]`,
      'Expected `profiles[0].schedulerName` to be a name, because there is more than',
    ],
    [
      `${head}profiles: [{ schedulerName: a }, { schedulerName: a }]`,
      '`profiles[1].schedulerName` to be another name than that of profiles[0]',
    ],
    [
      `${head}profiles: [{ plugins: { multiPoint: { disabled: [{ name: PrioritySort }] } } }]`,
      '`profiles[0].plugins.queueSort` to be a plugin',
    ],
    [
      `${head}profiles: [{ plugins: { queueSort: { enabled: [{ name: Mine }] } } }]`,
      'to be one plugin, because there is one queue, got "Mine, PrioritySort"',
    ],
    [
      `${head}profiles: [{ schedulerName: a }, { schedulerName: b, plugins: { queueSort: { disabled: [{ name: x }] } } }]`,
      'Expected `profiles[1].plugins.queueSort` to be that of profiles[0]',
    ],
    [`${head}extenders: x`, 'Expected `extenders` to be a list, got "x" (string)'],
    [`${head}extenders: [x]`, 'Expected `extenders[0]` to be an object, got "x" (string)'],
  ])('is refused, naming the member and the value: %j', (text, message) => {
    expect(() => readSchedulerConfiguration(text)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(message) }),
    );
  });

  it('may name a plugin of the user that sorts the queue', () => {
    const sets = 'multiPoint: { enabled: [{ name: Mine }], disabled: [{ name: PrioritySort }] }';
    expect(options(`profiles: [{ plugins: { ${sets} } }]`).profiles[0]?.plugins?.multiPoint?.enabled).toContainEqual({
      name: 'Mine',
      weight: 0,
    });
  });

  it('keeps the arguments of a plugin of the user as they are', () => {
    const config = options(
      'profiles: [{ pluginConfig: [{ name: Mine, args: { a: [1, x], __proto__: null } }, { name: Other }] }]',
    );
    expect(config.profiles[0]?.pluginConfig?.slice(0, 2)).toEqual([
      {
        name: 'Mine',
        args: Object.fromEntries([
          ['a', [1, 'x']],
          ['__proto__', null],
        ]),
      },
      { name: 'Other' },
    ]);
  });
});
