import { describe, expect, it } from 'vitest';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import { nodeAffinity } from '../../../../src/scheduler/plugins/node-affinity.ts';
import { frameworkWith, nodeInfo, podInfo } from '../framework-world.ts';

const ssd = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] };
const required = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const named = (...values: string[]) => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] });
const nodes = [
  nodeInfo('n1', { metadata: { labels: { disk: 'ssd' } } }),
  nodeInfo('n2', { metadata: { labels: { disk: 'hdd' } } }),
];

function fitting(spec: object, args?: unknown): string[] {
  const framework = frameworkWith([nodeAffinity(args)], { nodes });
  const [state, pod] = [new CycleState(), podInfo('a', spec)];
  framework.preFilter(state, pod);
  return nodes.filter((node) => framework.runFiltersWithNominated(state, pod, node) === undefined).map(({ name }) => name);
}

describe('NodeAffinity', () => {
  it.each([
    ['nothing is asked', {}, ['n1', 'n2']],
    ['a node selector', { nodeSelector: { disk: 'hdd' } }, ['n2']],
    ['required terms', required(ssd), ['n1']],
    ['one of several terms', required(ssd, named('n2')), ['n1', 'n2']],
    ['no terms', required(), []],
    ['both', { nodeSelector: { disk: 'hdd' }, ...required(ssd) }, []],
  ])('filters: %s', (_what, spec, expected) => {
    expect(fitting(spec)).toEqual(expected);
  });

  it.each<[string, object, unknown]>([
    ['all terms name nodes', required(named('n1'), named('n3')), { nodeNames: new Set(['n1', 'n3']) }],
    [
      'a term names nodes twice',
      required({ matchFields: [...named('n1', 'n2').matchFields, ...named('n2').matchFields] }),
      { nodeNames: new Set(['n2']) },
    ],
    ['a term names none', required(named('n1'), ssd), undefined],
    [
      'the names contradict each other',
      required({ matchFields: [...named('n1').matchFields, ...named('n2').matchFields] }),
      { plugin: 'NodeAffinity', code: 'UnschedulableAndUnresolvable', reasons: ['pod affinity terms conflict'] },
    ],
  ])('says which nodes are left to look at: %s', (_what, spec, expected) => {
    expect(frameworkWith([nodeAffinity()]).runPreFilters(new CycleState(), podInfo('a', spec))).toEqual(expected);
  });

  it('adds the affinity of the profile to that of each pod', () => {
    const args = { addedAffinity: required(ssd).affinity.nodeAffinity };
    expect(fitting({}, args)).toEqual(['n1']);
    expect(fitting({ nodeSelector: { disk: 'hdd' } }, args)).toEqual([]);
  });

  it('scores what the pod and the profile prefer', () => {
    const preferred = (weight: number, preference: object) => [{ weight, preference }];
    const name = 'preferredDuringSchedulingIgnoredDuringExecution';
    const { scores } = frameworkWith([nodeAffinity({ addedAffinity: { [name]: preferred(10, named('n2')) } })], { nodes });
    const state = new CycleState();
    const pod = podInfo('a', { affinity: { nodeAffinity: { [name]: preferred(40, ssd) } } });
    scores.preScore(state, pod, nodes);
    expect(scores.score(state, pod, nodes).plugins).toMatchObject([{ raw: [40, 10], normalized: [100, 25] }]);
  });

  it.each<[unknown, string]>([
    [{ added: {} }, '`NodeAffinityArgs.added` to be absent'],
    [{ addedAffinity: [] }, '`NodeAffinityArgs.addedAffinity` to be an object, got (array)'],
    [
      { addedAffinity: required({ matchExpressions: [{ key: 'a', operator: 'Is' }] }).affinity.nodeAffinity },
      '.operator` to be one of',
    ],
    [
      { addedAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 'x', preference: {} }] } },
      '[0].weight` to be an integer, got "x"',
    ],
    [{ addedAffinity: { preferredDuringSchedulingIgnoredDuringExecution: {} } }, 'to be a list of objects'],
  ])('refuses arguments: %j', (args, message) => {
    expect(() => nodeAffinity(args)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(() => nodeAffinity(args)).toThrow(message);
  });
});
