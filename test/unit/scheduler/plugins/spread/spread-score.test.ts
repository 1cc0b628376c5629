import { describe, expect, it } from 'vitest';
import { createPodTopologySpread } from '../../../../../src/scheduler/plugins/spread/pod-topology-spread.ts';
import { nodeOf, podOf, Trial } from '../topology-world.ts';

const web = { app: 'web' };
const zone = 'topology.kubernetes.io/zone';
const host = 'kubernetes.io/hostname';
const labelsOf = (name: string, zoneName?: string) => ({ [host]: name, ...(zoneName && { [zone]: zoneName }) });
const preferring = (topologyKey: string, maxSkew = 1) =>
  podOf('new', web, {
    topologySpreadConstraints: [
      { topologyKey, maxSkew, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels: web } },
    ],
  });
const three = () => [
  nodeOf('a', labelsOf('a', 'z1'), [podOf('a1', web), podOf('a2', web)]),
  nodeOf('b', labelsOf('b', 'z1'), [podOf('b1', web)]),
  nodeOf('c', labelsOf('c', 'z2')),
];
const service = { metadata: { name: 's', namespace: 'd' }, spec: { selector: web } };
const owned = (apiVersion: string, kind: string) =>
  podOf('new', web, {}, { ownerReferences: [{ apiVersion, kind, name: 'o', uid: 'o', controller: true }] });

describe('the scores of PodTopologySpread', () => {
  it('counts pods by domain, weighed by how many domains there are', () => {
    const score = Math.round(3 * Math.log(2 + 2));
    const trial = new Trial(createPodTopologySpread, preferring(zone), { nodes: three() });
    expect(trial.scores()).toEqual({ a: [score, 0], b: [score, 0], c: [0, 100] });
  });

  it('adds to each score what the constraint tolerates', () => {
    const trial = new Trial(createPodTopologySpread, preferring(zone, 4), { nodes: three() });
    expect(trial.scores()).toEqual({ a: [7, 42], b: [7, 42], c: [3, 100] });
  });

  it('counts the pods of a node where each node is a domain', () => {
    const trial = new Trial(createPodTopologySpread, preferring(host), { nodes: three() });
    expect(trial.scores()).toEqual({ a: [3, 0], b: [2, 33], c: [0, 100] });
  });

  it('gives 0 to a node that lacks a topology key of the pod', () => {
    const trial = new Trial(createPodTopologySpread, preferring(zone), { nodes: [...three(), nodeOf('d', labelsOf('d'))] });
    expect(trial.scores()).toMatchObject({ c: [0, 100], d: [0, 0] });
  });

  it('gives 100 to all where there are no pods', () => {
    const nodes = [nodeOf('a', labelsOf('a', 'z1')), nodeOf('b', labelsOf('b', 'z2'))];
    expect(new Trial(createPodTopologySpread, preferring(zone), { nodes }).scores()).toEqual({ a: [0, 100], b: [0, 100] });
  });

  it('spreads the pods of a service over nodes and zones by default, and scores nodes without a zone', () => {
    const nodes = [...three(), nodeOf('d', labelsOf('d'), [podOf('d1', web)])];
    const trial = new Trial(createPodTopologySpread, podOf('new', web), { nodes, services: [service] });
    // Over four nodes and three domains, one of them the nodes without a zone: 2·ln 6 + 2 + 3·ln 5 + 4, and so on.
    expect(trial.scores()).toEqual({ a: [14, 28], b: [13, 35], c: [6, 85], d: [4, 100] });
  });

  it('skips a pod that no service selects and no controller owns', () => {
    const other = { metadata: { name: 's' }, spec: { selector: { app: 'db' } } };
    const unselective = { metadata: { name: 's' }, spec: {} };
    const trial = new Trial(createPodTopologySpread, podOf('new', web), { nodes: three(), services: [other, unselective] });
    expect(trial.scores()).toBe('skip');
  });

  it.each([
    ['v1', 'ReplicationController', 'replicationControllers', web],
    ['apps/v1', 'ReplicaSet', 'replicaSets', { matchLabels: web }],
    ['apps/v1', 'StatefulSet', 'statefulSets', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }],
  ])('spreads the pods of a %s %s', (apiVersion, kind, member, selector) => {
    const controllers = { [member]: [{ metadata: { name: 'o', namespace: 'd' }, spec: { selector } }] };
    const pod = owned(apiVersion, kind);
    expect(new Trial(createPodTopologySpread, pod, { nodes: three(), controllers }).scores()).toMatchObject({ c: [6, 100] });
    expect(new Trial(createPodTopologySpread, pod, { nodes: three() }).scores()).toBe('skip');
  });

  it('asks for the labels of the service and of the controller together', () => {
    const nodes = [
      nodeOf('a', labelsOf('a', 'z1'), [podOf('a1', web)]),
      nodeOf('b', labelsOf('b', 'z1'), [podOf('b1', { ...web, tier: '1' }), podOf('b2', { tier: '1' })]),
    ];
    const pod = { ...owned('apps/v1', 'ReplicaSet') };
    const controllers = {
      replicaSets: [{ metadata: { name: 'o' }, spec: { selector: { matchLabels: { tier: '1' } } } }],
    };
    const scores = new Trial(createPodTopologySpread, pod, { nodes, controllers, services: [service] }).scores();
    expect(scores).toEqual({ a: [7, 100], b: [8, 87] });
  });

  it('spreads by the constraints of the profile where it has a list', () => {
    const args = {
      defaultingType: 'List',
      defaultConstraints: [{ topologyKey: zone, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
    };
    const trial = new Trial(createPodTopologySpread, podOf('new', web), { nodes: three(), services: [service], args });
    expect(Object.keys(trial.rejected())).toEqual(['a', 'b']);
    expect(trial.scores()).toBe('skip');
  });
});
