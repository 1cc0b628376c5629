import { describe, expect, it } from 'vitest';
import { policyProfile } from '../../../../src/scheduler/classic/policy-profile.ts';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import { createPodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import { frameworkOf, nodeNamed, placed, podNamed } from './classic-world.ts';

const nodes = [nodeNamed('n1', { zone: 'a' }), nodeNamed('n2', { zone: 'b' })];
const predicate = (name: string) => policyProfile({ predicates: [{ name }], priorities: [] });

describe('service affinity', () => {
  const profile = policyProfile({
    predicates: [{ name: 'one-zone', argument: { serviceAffinity: { labels: ['zone'] } } }],
    priorities: [],
  });
  const services = [{ metadata: { name: 's', namespace: 'd' }, spec: { selector: { app: 'web' } } }];
  const first = podNamed('first', { nodeName: 'n2' }, { app: 'web' });
  const second = podNamed('second', { nodeName: 'n1' }, { app: 'web' });
  const pod = createPodInfo(podNamed('p', {}, { app: 'web' }));

  it('brings a pod to the others of its service, and lets it go where there are none', () => {
    expect(placed(profile, { nodes, pods: [first], services }, pod.pod)).toBe('n2');
    expect(placed(profile, { nodes, pods: [first] }, pod.pod)).toBe('n1');
    expect(() =>
      placed(profile, { nodes: nodes.slice(1), pods: [first], services }, podNamed('q', { nodeSelector: { zone: 'a' } })),
    ).toThrow("1 node(s) didn't match service affinity");
  });

  it('follows pods that come and go in what-if questions, and leaves the state that was cloned alone', () => {
    const framework = frameworkOf(profile, { nodes, pods: [first, second], services });
    const [n1, n2] = framework.snapshot().nodes.map((node) => node.clone());
    if (n1 === undefined || n2 === undefined) throw new Error('two nodes');
    const state = new CycleState();
    framework.preFilter(state, pod);
    const fits = (asked: CycleState) => [n1, n2].filter((node) => !framework.runFiltersWithNominated(asked, pod, node));
    expect(fits(state)).toEqual([n1]);
    const trial = state.clone();
    framework.runRemovePod(trial, pod, createPodInfo(second), n1);
    expect(fits(trial)).toEqual([n2]);
    framework.runRemovePod(trial, pod, createPodInfo(first), n2);
    expect(fits(trial)).toEqual([n1, n2]);
    framework.runAddPod(trial, pod, createPodInfo(first), n2);
    expect(fits(trial)).toEqual([n2]);
    framework.runAddPod(trial, pod, createPodInfo(second), n1);
    expect(fits(trial)).toEqual([n2]);
    expect(fits(state)).toEqual([n1]);
  });
});

describe('limits of attached disks', () => {
  const disks = (...names: string[]) => ({
    volumes: names.map((volumeID) => ({ name: volumeID, awsElasticBlockStore: { volumeID } })),
  });
  const numbered = (count: number) => disks(...Array.from({ length: count }, (_, index) => `v${index}`));
  const there = podNamed('there', { nodeName: 'n1', ...numbered(38) });
  const world = { nodes: nodes.slice(0, 1), pods: [there] };

  it('counts each disk once, up to 39 or what the node says', () => {
    const profile = predicate('MaxEBSVolumeCount');
    expect(placed(profile, world, podNamed('p', disks('v1', 'new')))).toBe('n1');
    expect(() => placed(profile, world, podNamed('p', disks('new', 'newer')))).toThrow('1 node(s) exceed max volume count');
    const allocatable = { cpu: '2', memory: '4Gi', pods: '10', 'attachable-volumes-aws-ebs': '40' };
    const roomy = { nodes: [nodeNamed('n1', {}, { status: { allocatable } })], pods: [there] };
    expect(placed(profile, roomy, podNamed('p', disks('new', 'newer')))).toBe('n1');
  });

  it('looks at one sort of disk only', () => {
    for (const name of ['MaxGCEPDVolumeCount', 'MaxAzureDiskVolumeCount', 'MaxCinderVolumeCount'])
      expect(placed(predicate(name), world, podNamed('p', numbered(60)))).toBe('n1');
  });

  it.each(['HostName', 'CheckVolumeBinding'])('lie beside claims of devices, which are refused with a reason: %s', (name) => {
    const claiming = podNamed('p', { resourceClaims: [{ name: 'gpu', resourceClaimName: 'c' }] });
    expect(() => placed(predicate(name), world, claiming)).toThrow('resource claim "gpu" needs dynamic resource allocation');
    expect(placed(predicate(name), world, podNamed('q'))).toBe('n1');
  });
});

describe('NodePreferAvoidPodsPriority', () => {
  const avoiding = (value: string) =>
    nodeNamed(
      'n1',
      {},
      {
        metadata: { name: 'n1', annotations: { 'scheduler.alpha.kubernetes.io/preferAvoidPods': value } },
      },
    );
  const avoid = JSON.stringify({ preferAvoidPods: [{ podSignature: { podController: { kind: 'ReplicaSet', uid: 'u' } } }] });
  const profile = policyProfile({ priorities: [{ name: 'NodePreferAvoidPodsPriority', weight: 1 }] });
  const owned = podNamed('p');
  const pod = {
    ...owned,
    metadata: {
      ...owned.metadata,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u', controller: true }],
    },
  };

  it.each([
    [avoid, pod, 'n2'],
    [avoid, owned, 'n1'],
    [avoid.replace('ReplicaSet', 'ReplicationController'), pod, 'n1'],
    ['{', pod, 'n1'],
    ['null', pod, 'n1'],
    ['{"preferAvoidPods":[{}]}', pod, 'n1'],
  ])('avoids the node that says so: %s', (value, wanted, node) => {
    expect(placed(profile, { nodes: [avoiding(value), nodeNamed('n2')] }, wanted)).toBe(node);
  });
});
