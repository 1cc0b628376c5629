import { describe, expect, it } from 'vitest';
import { createPodTopologySpread } from '../../../../../src/scheduler/plugins/spread/pod-topology-spread.ts';
import { type Labels, podOf, Trial } from '../topology-world.ts';

const web = { app: 'web' };
const waiting = (nodeTaintsPolicy = 'Ignore', labels: Labels = web) =>
  podOf('waiting', labels, {
    topologySpreadConstraints: [
      {
        topologyKey: 'zone',
        maxSkew: 1,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: web },
        nodeTaintsPolicy,
      },
    ],
  });
const placed = (labels: Labels, metadata = {}) => podOf('other', labels, { nodeName: 'n' }, metadata);
const node = (labels: Labels, taints: object[] = []) => ({ metadata: { name: 'n', labels }, spec: { taints } });
const hint = (resource: 'Pod' | 'Node', before: object | undefined, after: object | undefined, pod = waiting()) =>
  new Trial(createPodTopologySpread, pod, { nodes: [] }).hint(resource, before, after);
const tolerating = (key: string) => {
  const pod = waiting('Honor');
  return { ...pod, spec: { ...pod.spec, tolerations: [{ key, operator: 'Exists' }] } };
};

describe('the hints of PodTopologySpread', () => {
  it('are for changes of pods and of nodes', () => {
    const { plugin } = new Trial(createPodTopologySpread, waiting(), { nodes: [] });
    expect(plugin.eventsToRegister?.().map(({ resource, actions }) => [resource, actions])).toEqual([
      ['Pod', ['Add', 'UpdatePodLabel', 'UpdatePodToleration', 'Delete']],
      ['Node', ['Add', 'Delete', 'UpdateNodeLabel', 'UpdateNodeTaint']],
    ]);
  });

  it.each<[string, object | undefined, object | undefined, string]>([
    ['a pod that counts comes', undefined, placed(web), 'Queue'],
    ['a pod that counts goes', placed(web), undefined, 'Queue'],
    ['a pod that does not count comes', undefined, placed({}), 'Skip'],
    ['a pod that does not count goes', placed({}), undefined, 'Skip'],
    ['a pod without a node comes', undefined, podOf('other', web), 'Skip'],
    ['a pod that was promised a node comes', undefined, { ...podOf('other', web), status: { nominatedNodeName: 'n' } }, 'Queue'],
    ['a pod of another namespace comes', undefined, placed(web, { namespace: 'e' }), 'Skip'],
    ['a pod does not count any more', placed(web), placed({}), 'Queue'],
    ['a pod counts now', placed({}), placed(web), 'Queue'],
    ['a pod changes other labels', placed(web), placed({ ...web, tier: '1' }), 'Skip'],
    ['the pod itself changes sides', waiting('Ignore', {}), waiting(), 'Queue'],
  ])('%s', (_what, before, after, expected) => {
    expect(hint('Pod', before, after)).toBe(expected);
  });

  it('a new toleration helps where taints are honoured', () => {
    expect(hint('Pod', tolerating('a'), tolerating('b'), waiting('Honor'))).toBe('Queue');
    expect(hint('Pod', tolerating('a'), tolerating('b'), waiting('Ignore'))).toBe('Skip');
    expect(hint('Pod', tolerating('a'), tolerating('a'), waiting('Honor'))).toBe('Skip');
  });

  const taint = [{ key: 'k', effect: 'NoSchedule' }];
  it.each<[string, object | undefined, object | undefined, string]>([
    ['a node with the label comes', undefined, node({ zone: 'a' }), 'Queue'],
    ['a node without the label comes', undefined, node({}), 'Skip'],
    ['a node with the label goes', node({ zone: 'a' }), undefined, 'Queue'],
    ['a node without the label goes', node({}), undefined, 'Skip'],
    ['a node gets the label', node({}), node({ zone: 'a' }), 'Queue'],
    ['a node loses the label', node({ zone: 'a' }), node({}), 'Queue'],
    ['a node moves', node({ zone: 'a' }), node({ zone: 'b' }), 'Queue'],
    ['a node gets another label', node({ zone: 'a' }), node({ zone: 'a', disk: 'ssd' }), 'Skip'],
    ['the taints of a node change', node({ zone: 'a' }, taint), node({ zone: 'a' }), 'Queue'],
    ['the taints of a node without the label change', node({}, taint), node({}), 'Skip'],
  ])('%s', (_what, before, after, expected) => {
    expect(hint('Node', before, after)).toBe(expected);
  });
});
