import { describe, expect, it } from 'vitest';
import { AlgorithmRegistry } from '../../../../src/scheduler/classic/algorithm-registry.ts';
import { policyProfile, providerProfile } from '../../../../src/scheduler/classic/policy-profile.ts';
import { frameworkOf, nodeNamed, placed, podNamed } from './classic-world.ts';

const nodes = [nodeNamed('n1', { zone: 'a' }), nodeNamed('n2', { zone: 'b' })];
const filtersOf = (profile: ReturnType<typeof policyProfile>) =>
  frameworkOf(profile, { nodes }).profile.points?.filter?.map(({ name }) => name);
const weightsOf = (profile: ReturnType<typeof policyProfile>) =>
  Object.fromEntries(frameworkOf(profile, { nodes }).profile.weights);

describe('a policy file', () => {
  it('is read as YAML and as JSON, and a member that is null counts as absent', () => {
    const yaml = 'kind: Policy\napiVersion: v1\npredicates: [{name: HostName, argument: null}]\npriorities:\n';
    const json = '{"kind":"Policy","apiVersion":"v1","predicates":[{"name":"HostName"}],"priorities":null}';
    for (const text of [yaml, json]) {
      expect(filtersOf(policyProfile(text))).toEqual(['NodeUnschedulable', 'NodeName', 'TaintToleration']);
      expect(weightsOf(policyProfile(text))).toMatchObject({ NodePreferAvoidPods: 10_000, SelectorSpread: 1 });
    }
  });

  it('orders predicates as upstream does, one plugin once, its own ones last', () => {
    const registry = new AlgorithmRegistry()
      .registerPredicate('B', () => true)
      .registerPredicate('C', () => true)
      .registerPredicate('A', () => true);
    const names = ['B', 'C', 'A', 'PodFitsPorts', 'GeneralPredicates', 'NoDiskConflict'];
    const profile = policyProfile({ predicates: names.map((name) => ({ name })), priorities: [] }, { registry });
    const general = ['NodeResourcesFit', 'NodeName', 'NodePorts', 'NodeAffinity'];
    expect(filtersOf(profile)).toEqual(['NodeUnschedulable', ...general, 'VolumeRestrictions', 'TaintToleration', 'A', 'B', 'C']);
  });

  it('multiplies a weight by the labels that one plugin scores by, and lets the last alias win', () => {
    const preference = (name: string, label: string) => ({
      ...{ name, weight: 3 },
      argument: { labelPreference: { label, presence: true } },
    });
    const spreading = [
      { name: 'ServiceSpreadingPriority', weight: 1 },
      { name: 'SelectorSpreadPriority', weight: 5 },
    ];
    const priorities = [preference('x', 'a'), preference('y', 'b'), ...spreading];
    expect(weightsOf(policyProfile({ priorities }))).toEqual({ NodeLabel: 6, SelectorSpread: 5 });
    expect(weightsOf(policyProfile({ priorities }, { serviceSpreading: 'PodTopologySpread' }))).toEqual({
      NodeLabel: 6,
      PodTopologySpread: 5,
    });
  });

  it('tells the queue all its plugins, the predicate last where a priority has the same name', () => {
    const registry = new AlgorithmRegistry().registerPredicate('Mine', () => true).registerPriority('Mine', () => 1);
    const entry = { name: 'Mine', weight: 1 };
    const { plugins } = frameworkOf(policyProfile({ predicates: [{ name: 'Mine' }], priorities: [entry] }, { registry }), {
      nodes,
    }).profile;
    const names = plugins.map(({ name }) => name);
    expect(names.slice(0, 4)).toEqual(['SchedulingGates', 'PrioritySort', 'DefaultPreemption', 'DefaultBinder']);
    expect(names.slice(4)).toEqual(['DynamicResources', 'Mine', 'NodeUnschedulable', 'TaintToleration', 'Mine']);
    expect(plugins.at(-1)).toHaveProperty('filter');
  });

  it('scores every node alike where it has no priorities', () => {
    const framework = frameworkOf(policyProfile({ predicates: [], priorities: [] }), { nodes });
    expect(framework.scores.hasScorers).toBe(true);
    expect(placed(policyProfile({ priorities: [{ name: 'EqualPriority', weight: 1 }] }), { nodes }, podNamed('p'))).toBe('n1');
  });

  it('tells all reasons where all predicates are to be checked', () => {
    const policy = { predicates: [{ name: 'HostName' }, { name: 'PodFitsResources' }], alwaysCheckAllPredicates: true };
    const pod = podNamed('p', {
      nodeName: 'n3',
      containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '3' } } }],
    });
    const reasons = "0/2 nodes are available: 2 Insufficient cpu, 2 node(s) didn't match the requested node name.";
    expect(() => placed(policyProfile(policy), { nodes }, pod)).toThrow(reasons);
    expect(() => placed(policyProfile({ ...policy, alwaysCheckAllPredicates: false }), { nodes }, pod)).toThrow(
      "0/2 nodes are available: 2 node(s) didn't match the requested node name.",
    );
  });
});

describe('an algorithm provider', () => {
  it('is the default one, one that fills nodes up, or one of your own', () => {
    const registry = new AlgorithmRegistry().registerProvider('Mine', { predicates: [], priorities: [] });
    expect(registry.providerNames).toEqual(['DefaultProvider', 'ClusterAutoscalerProvider', 'Mine']);
    expect(weightsOf(providerProfile('DefaultProvider'))).toEqual(weightsOf(policyProfile({})));
    expect(filtersOf(providerProfile('DefaultProvider'))).toEqual(filtersOf(policyProfile({})));
    expect(weightsOf(providerProfile('ClusterAutoscalerProvider'))).toHaveProperty('NodeResourcesMostAllocated');
    expect(filtersOf(providerProfile('Mine', { registry }))).toEqual(['NodeUnschedulable', 'TaintToleration']);
    expect(() => providerProfile('Mine')).toThrow(/one of DefaultProvider, ClusterAutoscalerProvider, got "Mine"/);
  });
});

describe('your own predicates and priorities', () => {
  const registry = new AlgorithmRegistry()
    .registerPredicate('OnlyB', (_pod, { node }) => node.metadata?.labels?.zone === 'b' || ['not in b', 'sorry'])
    .registerPredicateFactory(
      'NotFirst',
      (handle) =>
        (_pod, { name }) =>
          handle.snapshot().nodes[0]?.name !== name || 'first',
    )
    .registerPriority('Later', (_pod, { name }) => (name === 'n2' ? 100 : 0))
    .registerPriorityFactory(
      'Earlier',
      (handle) =>
        (_pod, { name }) =>
          handle.snapshot().nodes[0]?.name === name ? 100 : 0,
    );
  const profileOf = (predicate: string[], priority: string[]) => {
    const policy = {
      predicates: predicate.map((name) => ({ name })),
      priorities: priority.map((name, index) => ({ name, weight: 1 + index })),
    };
    return policyProfile(policy, { registry });
  };

  it('choose the node, by filter and by score', () => {
    expect(placed(profileOf(['OnlyB'], []), { nodes }, podNamed('p'))).toBe('n2');
    expect(placed(profileOf(['NotFirst'], []), { nodes }, podNamed('p'))).toBe('n2');
    expect(placed(profileOf([], ['Earlier', 'Later']), { nodes }, podNamed('p'))).toBe('n2');
    expect(placed(profileOf([], ['Later', 'Earlier']), { nodes }, podNamed('p'))).toBe('n1');
  });

  it('give the reasons of a pod that fits nowhere', () => {
    expect(() => placed(profileOf(['OnlyB', 'NotFirst'], []), { nodes: nodes.slice(0, 1) }, podNamed('p'))).toThrow(
      '0/1 nodes are available: 1 first.',
    );
    expect(() => placed(profileOf(['OnlyB'], []), { nodes: nodes.slice(0, 1) }, podNamed('p'))).toThrow(
      '0/1 nodes are available: 1 not in b, 1 sorry.',
    );
  });

  it.each([
    [async () => true, /plugin Bad failed in filter: it returned a promise where the scheduler does not wait/],
    [async () => Promise.reject(new Error('x')), /it returned a promise where the scheduler does not wait/],
    [() => undefined, /plugin Bad failed in filter: expected it to return true, a reason or a list of reasons, got undefined/],
    [() => false, /a reason or a list of reasons, got false \(boolean\)/],
    [() => [], /a reason or a list of reasons, got \(array\)/],
    [() => [3], /a reason or a list of reasons, got \(array\)/],
    [
      () => {
        throw new Error('broken');
      },
      /plugin Bad failed in filter: broken/,
    ],
  ])('end the attempt with an error that names them: predicate %s', (predicate, message) => {
    // a function that is not async, but answers what it must not
    const wrong = new AlgorithmRegistry().registerPredicate('Bad', (() => predicate()) as never);
    const profile = policyProfile({ predicates: [{ name: 'Bad' }], priorities: [] }, { registry: wrong });
    expect(() => placed(profile, { nodes }, podNamed('p'))).toThrow(
      expect.objectContaining({ code: 'ERR_PLUGIN', plugin: 'Bad', message: expect.stringMatching(message) }),
    );
  });

  it.each([
    [() => 101, /normalised scores must be from 0 to 100, node n1 has 101/],
    [() => -1, /normalised scores must be from 0 to 100, node n1 has -1/],
    [async () => 1, /it returned a promise where the scheduler does not wait/],
    [() => 'x', /expected it to return a number/],
  ])('end the attempt with an error that names them: priority %s', (priority, message) => {
    const wrong = new AlgorithmRegistry().registerPriority('Bad', (() => priority()) as never);
    const profile = policyProfile({ predicates: [], priorities: [{ name: 'Bad', weight: 1 }] }, { registry: wrong });
    expect(() => placed(profile, { nodes }, podNamed('p'))).toThrow(
      expect.objectContaining({ code: 'ERR_PLUGIN', plugin: 'Bad', message: expect.stringMatching(message) }),
    );
  });
});
