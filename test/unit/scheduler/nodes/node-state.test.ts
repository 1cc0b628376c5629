import { describe, expect, it } from 'vitest';
import { NodeState, zoneKeyOf } from '../../../../src/scheduler/nodes/node-info.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../../support/node-snapshots.ts';
import { podInfo } from '../framework-world.ts';

const web = { name: 'c', resources: { requests: { cpu: '100m', 'a.b/c': '1' } }, ports: [{ containerPort: 1, hostPort: 80 }] };
const term = { topologyKey: 'zone', labelSelector: {} };
const lonely = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
const node = { metadata: { name: 'n1' }, status: { allocatable: { cpu: '2', pods: '10' } } };
const port = { ip: '10.0.0.1', protocol: 'TCP', port: 80 };

describe('the state of a node', () => {
  it('adds up its pods, and takes them off again', () => {
    const state = createNodeInfo(node, [podInfo('a', { containers: [web], affinity: lonely }), podInfo('b'), podInfo('c')]);
    expect(state.allocatable).toMatchObject({ milliCPU: 2000, pods: 10 });
    expect(state.requested).toMatchObject({ milliCPU: 100, scalar: new Map([['a.b/c', 1]]) });
    expect(state.podsWithRequiredAntiAffinity.map(({ name }) => name)).toEqual(['a']);
    expect(state.hasConflict(port)).toBe(true);
    const { generation } = state;

    expect(state.removePod(podInfo('a'))).toBe(true);
    expect(state.removePod(podInfo('a'))).toBe(false);
    expect(state.pods.map(({ name }) => name)).toEqual(['c', 'b']);
    expect(state.requested).toMatchObject({ milliCPU: 0, scalar: new Map([['a.b/c', 0]]) });
    expect([state.podsWithAffinity, state.podsWithRequiredAntiAffinity]).toEqual([[], []]);
    expect(state.hasConflict(port)).toBe(false);
    expect(state.generation).toBe(generation + 1);
  });

  it('is not changed by what happens to a copy', () => {
    const state = createNodeInfo(node, [podInfo('a', { containers: [web], affinity: lonely })]);
    const copy = state.clone();
    copy.removePod(podInfo('a'));
    copy.addPod(podInfo('b', { containers: [web] }));
    copy.removePod(podInfo('b'));
    expect(state.pods.map(({ name }) => name)).toEqual(['a']);
    expect(state.podsWithAffinity).toHaveLength(1);
    expect(state.requested).toMatchObject({ milliCPU: 100, scalar: new Map([['a.b/c', 1]]) });
    expect(state.nonZeroRequested.milliCPU).toBe(100);
    expect(state.hasConflict(port)).toBe(true);
    expect(copy.hasConflict(port)).toBe(false);
  });

  it('keeps what it was where a node is refused', () => {
    const state = createNodeInfo(node);
    const bad = { metadata: { name: 'n1' }, status: { allocatable: { cpu: 'many' } } };
    expect(() => state.setNode(bad, new Map())).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
    expect(state.node).toBe(node);
  });

  it('has no node before it is set', () => {
    const state = new NodeState('n1');
    expect(state.hasNode).toBe(false);
    expect(() => state.node).toThrow('the node n1 is not known');
  });

  it('stands in the parts of a snapshot that its pods put it into', () => {
    const plain = createNodeInfo(node);
    const other = createNodeInfo({ metadata: { name: 'n2' } }, [podInfo('a', { affinity: lonely })]);
    const snapshot = nodeSnapshotOf([plain, other]);
    expect(snapshot.get('n2')).toBe(other);
    expect(snapshot.get('n3')).toBeUndefined();
    expect([snapshot.nodesWithAffinity, snapshot.nodesWithRequiredAntiAffinity]).toEqual([[other], [other]]);
  });
});

describe('affinity to other pods', () => {
  it('speaks of the own namespace, unless namespaces are named', () => {
    const [own] = podInfo('a', { affinity: lonely }).requiredAntiAffinityTerms;
    expect(own?.matches({ metadata: { namespace: 'd' } }, {})).toBe(true);
    expect(own?.matches({ metadata: { namespace: 'e' } }, {})).toBe(false);
    const named = { ...term, namespaces: ['e'], namespaceSelector: { matchLabels: { team: 'x' } } };
    const [other] = podInfo('a', {
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [named] } },
    }).requiredAffinityTerms;
    expect(other?.matches({ metadata: { namespace: 'e' } }, {})).toBe(true);
    expect(other?.matches({ metadata: { namespace: 'd' } }, {})).toBe(false);
    expect(other?.matches({ metadata: { namespace: 'd' } }, { team: 'x' })).toBe(true);
  });

  it('that breaks a rule counts as none, and the problem is told', () => {
    const bad = { ...term, labelSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } };
    const preferred = [{ weight: 5, podAffinityTerm: term }];
    const info = podInfo('a', {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [bad],
          preferredDuringSchedulingIgnoredDuringExecution: preferred,
        },
      },
    });
    expect(info.requiredAffinityTerms).toEqual([]);
    expect(info.preferredAffinityTerms).toMatchObject([{ weight: 5, topologyKey: 'zone' }]);
    expect(info.affinityProblem).toMatch(/podAffinity\.required.*\[0\]\.labelSelector\.matchExpressions\[0\]\.operator/);
    expect(podInfo('b').affinityProblem).toBeUndefined();
  });
});

it.each([
  [{}, ''],
  [{ 'topology.kubernetes.io/zone': 'z' }, ':\0:z'],
  [{ 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' }, 'r:\0:z'],
  [{ 'topology.kubernetes.io/zone': 'z', 'failure-domain.beta.kubernetes.io/zone': 'old' }, ':\0:old'],
])('the zone of a node with labels %j', (labels, key) => {
  expect(zoneKeyOf({ metadata: { labels } })).toBe(key);
});
