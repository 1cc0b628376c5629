import { describe, expect, it } from 'vitest';
import { pluginsAt } from '../../../../src/scheduler/framework/plugin.ts';
import { inTreePlugins } from '../../../../src/scheduler/profile/plugin-registry.ts';
import type { ProfileOptions } from '../../../../src/scheduler/profile/profile-options.ts';
import { profilePlugins } from '../../../../src/scheduler/profile/profile-plugins.ts';
import { bareHandle } from '../../../support/framework-context.ts';

const handle = bareHandle();
const registry = {
  ...inTreePlugins(),
  Mine: () => ({ name: 'Mine', filter: () => undefined, score: () => 1 }),
  Yours: () => ({ name: 'Yours', score: () => 1 }),
};

function made(profile: ProfileOptions = {}, plugins: object = registry) {
  return profilePlugins('profiles[0]', profile, plugins as typeof registry, handle);
}

function namesAt(profile: ProfileOptions, point: 'filter' | 'score' | 'postFilter' | 'preEnqueue'): string[] {
  return pluginsAt(made(profile), point).map(({ name }) => name);
}

const defaultFilters = [
  ...['NodeUnschedulable', 'NodeName', 'TaintToleration', 'NodeAffinity', 'NodePorts', 'NodeResourcesFit'],
  ...['VolumeRestrictions', 'NodeVolumeLimits', 'VolumeBinding', 'VolumeZone', 'PodTopologySpread', 'InterPodAffinity'],
  'DynamicResources',
];
const defaultScorers = [
  ...['TaintToleration', 'NodeAffinity', 'NodeResourcesFit', 'PodTopologySpread', 'InterPodAffinity'],
  ...['DynamicResources', 'NodeResourcesBalancedAllocation', 'ImageLocality'],
];

describe('a profile', () => {
  it("has kube-scheduler's plugins, order and weights by default", () => {
    const { schedulerName, weights, percentageOfNodesToScore } = made();
    expect([schedulerName, percentageOfNodesToScore]).toEqual(['default-scheduler', 0]);
    expect(namesAt({}, 'filter')).toEqual(defaultFilters);
    expect(namesAt({}, 'score')).toEqual(defaultScorers);
    expect(namesAt({}, 'postFilter')).toEqual(['DynamicResources', 'DefaultPreemption']);
    expect(namesAt({}, 'preEnqueue')).toEqual(['SchedulingGates', 'DynamicResources', 'DefaultPreemption']);
    expect(defaultScorers.map((name) => weights.get(name))).toEqual([3, 2, 1, 2, 2, 2, 1, 1]);
  });

  it('adds own plugins after the defaults, and changes weights in place', () => {
    const enabled = [{ name: 'Mine', weight: 7 }, { name: 'ImageLocality', weight: 5 }, { name: 'Yours' }];
    const profile = { plugins: { multiPoint: { enabled } } };
    expect(namesAt(profile, 'score')).toEqual([...defaultScorers, 'Mine', 'Yours']);
    expect(namesAt(profile, 'filter')).toEqual([...defaultFilters, 'Mine']);
    const { weights } = made(profile);
    expect(['Mine', 'ImageLocality', 'Yours'].map((name) => weights.get(name))).toEqual([7, 5, 1]);
  });

  it('leaves out what is turned off, everywhere or at one point', () => {
    const profile: ProfileOptions = {
      plugins: {
        multiPoint: { disabled: [{ name: 'ImageLocality' }, { name: 'NodeVolumeLimits' }] },
        score: { disabled: [{ name: 'TaintToleration' }] },
        postFilter: { disabled: [{ name: '*' }] },
      },
    };
    expect(namesAt(profile, 'score')).toEqual(
      defaultScorers.filter((name) => name !== 'ImageLocality' && name !== 'TaintToleration'),
    );
    expect(namesAt(profile, 'filter')).toEqual(defaultFilters.filter((name) => name !== 'NodeVolumeLimits'));
    expect(namesAt(profile, 'postFilter')).toEqual([]);
  });

  it('puts the plugins first that a point names, and those last that only the point names', () => {
    const profile = { plugins: { filter: { enabled: [{ name: 'Mine' }, { name: 'NodePorts' }, { name: 'NodeName' }] } } };
    const others = defaultFilters.filter((name) => name !== 'NodePorts' && name !== 'NodeName');
    expect(namesAt(profile, 'filter')).toEqual(['NodePorts', 'NodeName', ...others, 'Mine']);
    expect(namesAt(profile, 'score')).toEqual(defaultScorers);
    const only = { plugins: { score: { enabled: [{ name: 'Yours', weight: 4 }], disabled: [{ name: '*' }] } } };
    expect(namesAt(only, 'score')).toEqual(['Yours']);
    expect(made(only).weights.get('Yours')).toBe(4);
  });

  it('counts the weight at the point score more than that of multiPoint', () => {
    const profile = {
      plugins: { multiPoint: { enabled: [{ name: 'Mine', weight: 2 }] }, score: { enabled: [{ name: 'Mine', weight: 9 }] } },
    };
    expect(made(profile).weights.get('Mine')).toBe(9);
  });

  it('may be what kube-scheduler prints with all its defaults', () => {
    const v1 = 'kubescheduler.config.k8s.io/v1';
    const named = ['NodeVolumeLimits', 'VolumeZone', 'NodeDeclaredFeatures'].map((name) => ({ name, weight: 0 }));
    const profile = {
      schedulerName: 'default-scheduler',
      percentageOfNodesToScore: null,
      plugins: {
        multiPoint: { enabled: [...named, { name: 'ImageLocality', weight: 1 }] },
        ...{ bind: {}, filter: { enabled: null, disabled: null }, score: null, placementGenerate: {}, placementScore: {} },
      },
      pluginConfig: [
        { name: 'VolumeBinding', args: { apiVersion: v1, kind: 'VolumeBindingArgs', bindTimeoutSeconds: 600 } },
        { name: 'DynamicResources', args: { kind: 'DynamicResourcesArgs', filterTimeout: '10s', bindingTimeout: '10m0s' } },
        { name: 'NodeAffinity', args: null },
      ],
    } as unknown as ProfileOptions;
    expect(made(profile).weights).toEqual(made().weights);
    expect(namesAt(profile, 'filter')).toEqual(defaultFilters);
    expect(namesAt({ plugins: null, pluginConfig: null } as never, 'score')).toEqual(defaultScorers);
  });

  it('hands each plugin its arguments and the handle', () => {
    const given: unknown[] = [];
    const Mine = (...all: unknown[]) => {
      given.push(...all);
      return { name: 'Mine' };
    };
    made(
      { plugins: { multiPoint: { enabled: [{ name: 'Mine' }] } }, pluginConfig: [{ name: 'Mine', args: { a: 1 } }] },
      { ...registry, Mine },
    );
    expect(given).toEqual([{ a: 1 }, handle]);
  });
});

describe('a bad profile is refused', () => {
  const enabling = (point: string, ...enabled: unknown[]) => ({ plugins: { [point]: { enabled } } });
  it.each<[string, unknown, string]>([
    ['no object', 'x', 'Expected `profiles[0]` to be an object, got "x" (string)'],
    ['a list', [], 'Expected `profiles[0]` to be an object, got (array)'],
    ['an unknown member', { plugin: {} }, '`profiles[0].plugin` to be absent'],
    ['an empty name', { schedulerName: '' }, '`profiles[0].schedulerName` to be a non-empty string, got "" (string)'],
    [
      'a share above 100',
      { percentageOfNodesToScore: 101 },
      '`profiles[0].percentageOfNodesToScore` to be a number from 0 to 100, got 101',
    ],
    ['an unknown point', enabling('filters'), '`profiles[0].plugins.filters` to be absent'],
    ['a set that is no object', { plugins: { filter: 1 } }, '`profiles[0].plugins.filter` to be an object, got 1'],
    ['plugins that are no list', { plugins: { filter: { enabled: {} } } }, '`profiles[0].plugins.filter.enabled` to be a list'],
    ['a plugin without a name', enabling('filter', {}), '`profiles[0].plugins.filter.enabled[0].name` to be a non-empty string'],
    [
      'an unknown plugin',
      enabling('multiPoint', { name: 'NodeNames' }),
      '.multiPoint.enabled[0].name` to be one of the plugins SchedulingGates',
    ],
    [
      'an unknown plugin that is turned off',
      { plugins: { score: { disabled: [{ name: 'Imag' }] } } },
      '.score.disabled[0].name` to be one of',
    ],
    [
      'a plugin that is not here',
      enabling('multiPoint', { name: 'GangScheduling' }),
      '.enabled[0].name` to be a plugin that is here: this scheduler places no groups of pods, got "GangScheduling" (string)',
    ],
    [
      'a plugin that places groups of pods',
      enabling('placementScore', { name: 'PodGroupPodsCount' }),
      '`profiles[0].plugins.placementScore.enabled` to be empty: no plugin here places groups of pods',
    ],
    [
      'a time to bind volumes below 0',
      { pluginConfig: [{ name: 'VolumeBinding', args: { bindTimeoutSeconds: -1 } }] },
      '`profiles[0]: VolumeBinding.bindTimeoutSeconds` to be an integer from 0 up, got -1',
    ],
    [
      'a time to filter that is none',
      { pluginConfig: [{ name: 'DynamicResources', args: { filterTimeout: '-1s' } }] },
      '`profiles[0]: DynamicResources.filterTimeout` to be a duration that is not below 0, such as "10s", got "-1s"',
    ],
    [
      'a plugin that is named twice',
      enabling('score', { name: 'Mine' }, { name: 'Mine' }),
      '.score.enabled[1].name` to be a plugin that is not listed before',
    ],
    [
      'a plugin at a point that it has no method for',
      enabling('filter', { name: 'Yours' }),
      '.filter.enabled[0].name` to be a plugin with the method filter, got "Yours"',
    ],
    [
      'a weight below 0',
      enabling('score', { name: 'Mine', weight: -1 }),
      '.score.enabled[0].weight` to be a number from 0 to 2147483647, got -1',
    ],
    [
      'a weight that is a fraction',
      enabling('score', { name: 'Mine', weight: 1.5 }),
      '.score.enabled[0].weight` to be an integer, got 1.5',
    ],
    ['arguments for an unknown plugin', { pluginConfig: [{ name: 'X' }] }, '.pluginConfig[0].name` to be one of the plugins'],
    [
      'arguments twice',
      { pluginConfig: [{ name: 'Mine' }, { name: 'Mine' }] },
      '.pluginConfig[1].name` to be a plugin that has no arguments before',
    ],
    [
      'arguments that the plugin does not know',
      { pluginConfig: [{ name: 'NodeName', args: { a: 1 } }] },
      '`profiles[0]: NodeName.a` to be absent',
    ],
    [
      'no plugin that binds',
      { plugins: { bind: { disabled: [{ name: '*' }] } } },
      '`profiles[0].plugins.bind` to be at least one plugin that binds',
    ],
  ])('%s', (_what, profile, message) => {
    expect(() => made(profile as ProfileOptions)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(() => made(profile as ProfileOptions)).toThrow(message);
  });

  it.each<[string, () => unknown, string]>([
    ['nothing', () => undefined, '`registry.Mine` to be a function that returns a plugin with the name Mine, got undefined'],
    ['a plugin of another name', () => ({ name: 'Other' }), 'got "Other" (string)'],
    ['a promise', () => Promise.reject(new Error('late')), '`registry.Mine` to be a function that returns a plugin'],
    [
      'a method that is no function',
      () => ({ name: 'Mine', filter: 'yes' }),
      '`profiles[0]: Mine.filter` to be a function, got "yes" (string)',
    ],
    [
      'a time that no timer waits',
      () => ({ name: 'Mine', preBindTimeoutMs: Number.POSITIVE_INFINITY }),
      '`profiles[0]: Mine.preBindTimeoutMs` to be a number from 0 to 2147483647, got Infinity',
    ],
  ])('a factory returns %s', (_what, Mine, message) => {
    expect(() => made({ plugins: { multiPoint: { enabled: [{ name: 'Mine' }] } } }, { ...registry, Mine })).toThrow(message);
  });

  it('a default plugin is not in the registry', () => {
    const { PrioritySort: _, ...others } = inTreePlugins();
    expect(() => made({}, others)).toThrow('`registry.PrioritySort` to be a function');
  });
});
