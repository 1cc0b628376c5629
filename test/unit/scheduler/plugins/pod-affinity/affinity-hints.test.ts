import { describe, expect, it } from 'vitest';
import { createInterPodAffinity } from '../../../../../src/scheduler/plugins/pod-affinity/inter-pod-affinity.ts';
import { type Labels, podOf, Trial } from '../topology-world.ts';
import { affinityTo, antiAffinityTo, term } from './terms.ts';

const web = { app: 'web' };
const db = { app: 'db' };
const fond = podOf('waiting', web, affinityTo(term(db)));
const averse = podOf('waiting', web, antiAffinityTo(term(db)));
const plain = podOf('waiting', web);
const placed = (labels: Labels, spec = {}) => podOf('other', labels, { nodeName: 'n', ...spec });
const node = (labels: Labels) => ({ metadata: { name: 'n', labels } });
const hint = (pod: typeof fond, resource: 'Pod' | 'Node', before?: object, after?: object) =>
  new Trial(createInterPodAffinity, pod, { nodes: [], namespaces: { e: { team: 'a' } } }).hint(resource, before, after);

describe('the hints of InterPodAffinity', () => {
  it('are for changes of pods and of nodes', () => {
    const { plugin } = new Trial(createInterPodAffinity, plain, { nodes: [] });
    expect(plugin.eventsToRegister?.().map(({ resource, actions }) => [resource, actions])).toEqual([
      ['Pod', ['Add', 'UpdatePodLabel', 'Delete']],
      ['Node', ['Add', 'UpdateNodeLabel']],
    ]);
  });

  it.each<[string, typeof fond, object | undefined, object | undefined, string]>([
    ['a pod comes that is wanted', fond, undefined, placed(db), 'Queue'],
    ['a pod comes that is not wanted', fond, undefined, placed(web), 'Skip'],
    ['a pod that is wanted comes without a node', fond, undefined, podOf('other', db), 'Skip'],
    ['a pod that is wanted goes', fond, placed(db), undefined, 'Skip'],
    ['a pod is wanted now', fond, placed({}), placed(db), 'Queue'],
    ['a pod is not wanted any more', fond, placed(db), placed({}), 'Skip'],
    ['an unwanted pod goes', averse, placed(db), undefined, 'Queue'],
    ['an unwanted pod comes', averse, undefined, placed(db), 'Skip'],
    ['a pod is not unwanted any more', averse, placed(db), placed({}), 'Queue'],
    ['a pod is unwanted now', averse, placed({}), placed(db), 'Skip'],
    ['a pod goes that did not want it', plain, placed(db, antiAffinityTo(term(web))), undefined, 'Queue'],
    ['a pod goes that did not want others', plain, placed(db, antiAffinityTo(term({ app: 'x' }))), undefined, 'Skip'],
    ['the labels of the pod itself change', plain, podOf('waiting', db), plain, 'Queue'],
  ])('%s', (_what, pod, before, after, expected) => {
    expect(hint(pod, 'Pod', before, after)).toBe(expected);
  });

  it('know the labels of namespaces', () => {
    const namespaceSelector = { matchLabels: { team: 'a' } };
    const pod = podOf('waiting', web, affinityTo({ ...term(db), namespaceSelector }));
    const other = podOf('other', db, { nodeName: 'n' }, { namespace: 'e' });
    expect(hint(pod, 'Pod', undefined, other)).toBe('Queue');
  });

  it.each<[string, typeof fond, object | undefined, object | undefined, string]>([
    ['a node comes into a domain', fond, undefined, node({ zone: 'a' }), 'Queue'],
    ['a node comes without the label', fond, undefined, node({}), 'Skip'],
    ['a node comes into a domain later', fond, node({}), node({ zone: 'a' }), 'Queue'],
    ['a node changes the domain', fond, node({ zone: 'a' }), node({ zone: 'b' }), 'Queue'],
    ['a node leaves the domain', fond, node({ zone: 'a' }), node({}), 'Skip'],
    ['a node changes another label', fond, node({ zone: 'a' }), node({ zone: 'a', disk: 'ssd' }), 'Skip'],
    ['any node comes for a pod that avoids others', averse, undefined, node({}), 'Queue'],
    ['a node leaves a domain that is avoided', averse, node({ zone: 'a' }), node({}), 'Queue'],
    ['a node changes a domain that is avoided', averse, node({ zone: 'a' }), node({ zone: 'b' }), 'Queue'],
    ['a node comes into a domain that is avoided', averse, node({}), node({ zone: 'a' }), 'Skip'],
    ['a node comes for a pod without affinity', plain, undefined, node({ zone: 'a' }), 'Skip'],
  ])('%s', (_what, pod, before, after, expected) => {
    expect(hint(pod, 'Node', before, after)).toBe(expected);
  });
});
