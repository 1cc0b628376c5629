import { describe, expect, it } from 'vitest';
import type { WireNode } from '../../../../src/api/json/types.ts';
import { policyProfile } from '../../../../src/scheduler/classic/policy-profile.ts';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import { createPodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import type { BareParts } from '../../../support/pods.ts';
import { frameworkOf, nodeNamed, placed, podNamed } from './classic-world.ts';

type Spec = BareParts['spec'];
type Conditions = Readonly<Record<string, string>>;

const allocatable = { cpu: '2', memory: '4Gi', pods: '10' };
const reporting = (conditions: Conditions, spec: WireNode['spec'] = {}): WireNode => {
  const list = Object.entries(conditions).map(([type, status]) => ({ type, status }));
  return nodeNamed('n1', {}, { spec, status: { allocatable, conditions: list } });
};

/** The reasons of the only node, as the pod's condition would have them; empty where the pod fits. */
function reasonsOf(predicate: string, node: WireNode, spec: Spec = {}, world: object = {}): string {
  const profile = policyProfile({ predicates: [{ name: predicate }], priorities: [] });
  try {
    placed(profile, { nodes: [node], ...world }, podNamed('p', spec));
    return '';
  } catch (error) {
    return (error as Error).message.replace('0/1 nodes are available: ', '');
  }
}

const burstable = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }] };
const onlyInit = { initContainers: [{ name: 'i', image: 'i', resources: { limits: { memory: '1Mi' } } }] };
const devices = { containers: [{ name: 'c', image: 'i', resources: { limits: { 'example.com/gpu': '1' } } }] };

describe('the predicate CheckNodeCondition', () => {
  it.each<[Conditions, string]>([
    [{}, ''],
    [{ Ready: 'True' }, ''],
    [{ Ready: 'False' }, '1 node(s) were not ready.'],
    [{ Ready: 'Unknown' }, '1 node(s) were not ready.'],
    [{ NetworkUnavailable: 'False' }, ''],
    [{ NetworkUnavailable: 'True' }, '1 node(s) had unavailable network.'],
    [{ NetworkUnavailable: 'Unknown' }, '1 node(s) had unavailable network.'],
    [{ OutOfDisk: 'True' }, '1 node(s) were out of disk space.'],
    [{ OutOfDisk: 'Unknown' }, '1 node(s) were out of disk space.'],
    [{ MemoryPressure: 'True', DiskPressure: 'True' }, ''],
    [{ OutOfDisk: 'True', Ready: 'False' }, '1 node(s) were not ready, 1 node(s) were out of disk space.'],
  ])('says of a node with %j: %s', (conditions, reasons) => {
    expect(reasonsOf('CheckNodeCondition', reporting(conditions))).toBe(reasons);
  });

  it('rejects a cordoned node, also for a pod that tolerates it', () => {
    const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }];
    const cordoned = reporting({ Ready: 'True' }, { unschedulable: true });
    expect(reasonsOf('PodFitsResources', cordoned, { tolerations })).toBe('');
    expect(reasonsOf('CheckNodeCondition', cordoned, { tolerations })).toBe('1 node(s) were unschedulable.');
  });
});

describe('the predicates of pressure', () => {
  it.each<[string, Conditions, Spec, string]>([
    ['CheckNodeMemoryPressure', { MemoryPressure: 'True' }, {}, '1 node(s) had memory pressure.'],
    ['CheckNodeMemoryPressure', { MemoryPressure: 'True' }, burstable, ''],
    ['CheckNodeMemoryPressure', { MemoryPressure: 'True' }, onlyInit, ''],
    ['CheckNodeMemoryPressure', { MemoryPressure: 'True' }, devices, '1 node(s) had memory pressure.'],
    ['CheckNodeMemoryPressure', { MemoryPressure: 'Unknown' }, {}, ''],
    ['CheckNodeMemoryPressure', { DiskPressure: 'True', PIDPressure: 'True' }, {}, ''],
    ['CheckNodeDiskPressure', { DiskPressure: 'True' }, burstable, '1 node(s) had disk pressure.'],
    ['CheckNodeDiskPressure', { DiskPressure: 'Unknown' }, {}, ''],
    ['CheckNodeDiskPressure', { MemoryPressure: 'True', PIDPressure: 'True' }, {}, ''],
    ['CheckNodePIDPressure', { PIDPressure: 'True' }, burstable, '1 node(s) had pid pressure.'],
    ['CheckNodePIDPressure', { PIDPressure: 'Unknown' }, {}, ''],
    ['CheckNodePIDPressure', { DiskPressure: 'True', MemoryPressure: 'True' }, {}, ''],
  ])('%s, a node with %j and a pod of %j: %s', (predicate, conditions, spec, reasons) => {
    expect(reasonsOf(predicate, reporting(conditions), spec)).toBe(reasons);
  });
});

describe('the predicate PodToleratesNodeNoExecuteTaints', () => {
  const predicate = 'PodToleratesNodeNoExecuteTaints';
  const tainted = (effect: string) => reporting({}, { taints: [{ key: 'k', value: 'v', effect }] });

  it('finds taints of the effect NoExecute that the pod does not tolerate', () => {
    const profile = policyProfile({ predicates: [{ name: predicate }], priorities: [] });
    const framework = frameworkOf(profile, { nodes: [tainted('NoExecute'), tainted('NoSchedule')] });
    const filter = framework.profile.points?.filter?.find(({ name }) => name === predicate)?.filter;
    const tolerations = [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute' }];
    const asked = [podNamed('p'), podNamed('p', { tolerations })].map((pod) =>
      framework.snapshot().nodes.map((node) => filter?.(new CycleState(), createPodInfo(pod), node)?.reasons.join()),
    );
    const reason = "node(s) had taints that the pod didn't tolerate";
    expect(asked).toEqual([
      [reason, undefined],
      [undefined, undefined],
    ]);
  });

  it('has the taints looked at before, by the predicate that always runs', () => {
    expect(reasonsOf(predicate, tainted('NoExecute'))).toBe("1 node(s) had taint {k: v}, that the pod didn't tolerate.");
  });
});

describe('the predicate NoVolumeNodeConflict', () => {
  const claimed = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] };
  const claim = (volumeName?: string) => ({ metadata: { name: 'data', namespace: 'd' }, spec: { volumeName } });
  const at = (zone: string) => {
    const matchExpressions = [{ key: 'zone', operator: 'In', values: [zone] }];
    return { metadata: { name: 'pv' }, spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } } };
  };

  it.each<[object, string]>([
    [{ persistentVolumeClaims: [claim('pv')], persistentVolumes: [at('a')] }, ''],
    [{ persistentVolumeClaims: [claim('pv')], persistentVolumes: [{ metadata: { name: 'pv' }, spec: {} }] }, ''],
    [{ persistentVolumeClaims: [claim('pv')], persistentVolumes: [at('b')] }, '1 node(s) had volume node affinity conflict.'],
    [{ persistentVolumeClaims: [claim('pv')] }, '1 PersistentVolume not found: "pv".'],
    [{ persistentVolumeClaims: [claim()] }, '1 PersistentVolumeClaim is not bound: "data".'],
    [{}, '1 PersistentVolumeClaim was not found: "data".'],
  ])('says of %j: %s', (objects, reasons) => {
    expect(reasonsOf('NoVolumeNodeConflict', nodeNamed('n1', { zone: 'a' }), claimed, { objects })).toBe(reasons);
  });

  it('rejects a claim without a name, and says nothing of other volumes', () => {
    const nameless = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: '' } }] };
    expect(reasonsOf('NoVolumeNodeConflict', nodeNamed('n1'), nameless)).toBe('1 PersistentVolumeClaim had no name.');
    expect(reasonsOf('NoVolumeNodeConflict', nodeNamed('n1'), { volumes: [{ name: 'v', emptyDir: {} }] })).toBe('');
  });
});

describe('the priority ResourceLimitsPriority', () => {
  const limited = (limits: Record<string, string>, init: Record<string, string> = {}): Spec => ({
    containers: [{ name: 'c', image: 'i', resources: { limits } }],
    initContainers: [{ name: 'i', image: 'i', resources: { limits: init } }],
  });

  it.each<[Spec, number]>([
    [{}, 0],
    [limited({ cpu: '2' }), 1],
    [limited({ cpu: '2001m' }), 0],
    [limited({ memory: '4Gi' }), 1],
    [limited({ memory: '5Gi' }), 0],
    [limited({ cpu: '3', memory: '1Gi' }), 1],
    [limited({ cpu: '1' }, { cpu: '3' }), 0],
    [limited({}, { cpu: '1' }), 1],
    [limited({ 'ephemeral-storage': '1Gi' }), 0],
  ])('scores a pod of %j: %i', (spec, score) => {
    const profile = policyProfile({ predicates: [], priorities: [{ name: 'ResourceLimitsPriority', weight: 1 }] });
    const framework = frameworkOf(profile, { nodes: [nodeNamed('n1')] });
    const [node] = framework.snapshot().nodes;
    const scorer = framework.profile.points?.score?.[0]?.score;
    expect(node && scorer?.(new CycleState(), createPodInfo(podNamed('p', spec)), node)).toBe(score);
  });

  it('decides between nodes that are equal otherwise, whatever runs there', () => {
    const small = nodeNamed('n1', {}, { status: { allocatable: { ...allocatable, cpu: '1' } } });
    const profile = policyProfile({ predicates: [], priorities: [{ name: 'ResourceLimitsPriority', weight: 3 }] });
    const pods = [podNamed('there', { nodeName: 'n2', ...limited({ cpu: '2' }) })];
    expect(placed(profile, { nodes: [small, nodeNamed('n2')], pods }, podNamed('p', limited({ cpu: '2' })))).toBe('n2');
  });
});

it('the older predicates stand where v1.11 had them', () => {
  const names = [
    ...['CheckNodeDiskPressure', 'NoVolumeZoneConflict', 'CheckNodePIDPressure', 'CheckNodeMemoryPressure', 'HostName'],
    ...['PodToleratesNodeNoExecuteTaints', 'CheckNodeCondition', 'NoDiskConflict', 'MatchInterPodAffinity'],
  ];
  const profile = policyProfile({ predicates: names.map((name) => ({ name })), priorities: [] });
  const { points } = frameworkOf(profile, { nodes: [] }).profile;
  expect(points?.filter?.map(({ name }) => name)).toEqual([
    ...['CheckNodeCondition', 'NodeUnschedulable', 'NodeName', 'VolumeRestrictions', 'TaintToleration'],
    ...['PodToleratesNodeNoExecuteTaints', 'VolumeZone', 'CheckNodeMemoryPressure', 'CheckNodePIDPressure'],
    ...['CheckNodeDiskPressure', 'InterPodAffinity'],
  ]);
});
