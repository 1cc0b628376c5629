import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { policyProfile } from '../../../../src/scheduler/classic/policy-profile.ts';
import type { GivenObjects } from '../../../support/cluster-objects.ts';
import { nodeNamed, placed, podNamed } from './classic-world.ts';

const policy = (...names: string[]) => policyProfile({ predicates: names.map((name) => ({ name })), priorities: [] });
const mounting = (...names: string[]) => ({
  volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
});
const pod = (...names: string[]) => podNamed('p', mounting(...names));

/** A claim; bound where a volume is named. */
const claim = (name: string, spec: object = {}, more: { readonly metadata?: object; readonly status?: object } = {}) => {
  const annotations = 'volumeName' in spec ? { 'pv.kubernetes.io/bind-completed': 'yes' } : {};
  return { metadata: { name, namespace: 'd', annotations, ...more.metadata }, spec, status: more.status };
};
const volume = (name: string, spec: object = {}, labels = {}) => ({ metadata: { name, labels }, spec });
const csi = (driver: string, volumeHandle: string) => ({ csi: { driver, volumeHandle } });

/** The node, or what the pod's condition would say. */
function outcome(profile: ReturnType<typeof policy>, world: Parameters<typeof placed>[1], wanted = pod('data')): string {
  try {
    return placed(profile, world, wanted);
  } catch (error) {
    return (error as Error).message;
  }
}

const none = 'none of this';
const unavailable = (reason: string): string => `0/1 nodes are available: ${reason}.`;

describe('CheckVolumeBinding', () => {
  const late = { metadata: { name: 'late' }, provisioner: 'a.example.com', volumeBindingMode: 'WaitForFirstConsumer' };
  const onN1 = {
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [labelIn('kubernetes.io/hostname', 'n1')] }] } },
  };
  const nodes = [nodeNamed('n1', { 'kubernetes.io/hostname': 'n1' })];
  const elsewhere = [nodeNamed('n2', { 'kubernetes.io/hostname': 'n2' })];

  function labelIn(key: string, value: string) {
    return { key, operator: 'In', values: [value] };
  }

  it.each<[string, GivenObjects, string]>([
    [
      'a volume of the node',
      { persistentVolumeClaims: [claim('data', { volumeName: 'pv' })], persistentVolumes: [volume('pv', onN1)] },
      'n1',
    ],
    [
      'a class that waits',
      { persistentVolumeClaims: [claim('data', { storageClassName: 'late' })], storageClasses: [late] },
      'n1',
    ],
    ['no claim', {}, unavailable('persistentvolumeclaim "data" not found')],
    [
      'no volume',
      { persistentVolumeClaims: [claim('data', { volumeName: 'pv' })] },
      unavailable('1 pvc(s) bound to non-existent pv(s)'),
    ],
    [
      'a claim that lost its volume',
      { persistentVolumeClaims: [claim('data', { volumeName: 'pv' }, { status: { phase: 'Lost' } })] },
      unavailable('1 pvc(s) bound to non-existent pv(s)'),
    ],
    [
      'a claim that goes',
      {
        persistentVolumeClaims: [
          claim('data', { volumeName: 'pv' }, { metadata: { deletionTimestamp: '2000-01-01T00:00:00Z' } }),
        ],
      },
      unavailable('persistentvolumeclaim "data" is being deleted'),
    ],
    [
      'a claim that is not bound',
      { persistentVolumeClaims: [claim('data')] },
      unavailable('pod has unbound immediate PersistentVolumeClaims'),
    ],
  ])('says of %s', (_name, objects, expected) => {
    expect(outcome(policy('CheckVolumeBinding'), { nodes, objects })).toBe(expected);
  });

  it('says of a volume of another node what v1.22 said', () => {
    const objects = { persistentVolumeClaims: [claim('data', { volumeName: 'pv' })], persistentVolumes: [volume('pv', onN1)] };
    const said = outcome(policy('CheckVolumeBinding'), { nodes: elsewhere, objects });
    expect(said).toBe(unavailable('1 node(s) had volume node affinity conflict'));
  });

  it('leaves a disk of Google to Kubernetes, whatever the node has migrated, and one of Cinder to its driver', () => {
    const zoned = (source: object) => volume('pv', { ...source, nodeAffinity: zoneAffinity }, {});
    const zoneAffinity = {
      required: { nodeSelectorTerms: [{ matchExpressions: [labelIn('topology.kubernetes.io/zone', 'z1')] }] },
    };
    const kinds = 'kubernetes.io/gce-pd,kubernetes.io/cinder';
    const csiNodes = [{ metadata: { name: 'n1', annotations: { 'storage.alpha.kubernetes.io/migrated-plugins': kinds } } }];
    const at = (source: object): string => {
      const persistentVolumeClaims = [claim('data', { volumeName: 'pv' })];
      const objects = { persistentVolumeClaims, persistentVolumes: [zoned(source)], csiNodes };
      return outcome(policy('CheckVolumeBinding'), {
        nodes: [nodeNamed('n1', { 'topology.kubernetes.io/zone': 'z1' })],
        objects,
      });
    };
    expect(at({ gcePersistentDisk: { pdName: 'disk' } })).toBe('n1');
    expect(at({ cinder: { volumeID: 'disk' } })).toBe(unavailable('1 node(s) had volume node affinity conflict'));
  });

  it('takes no volume of another quality than the claim asks for', () => {
    const free = (quality: string) => ({
      ...volume('pv', { storageClassName: 'late', volumeAttributesClassName: quality }),
      status: { phase: 'Available' },
    });
    const wanted = { storageClassName: 'late', volumeAttributesClassName: 'gold' };
    const storageClasses = [{ ...late, provisioner: 'kubernetes.io/no-provisioner' }];
    const at = (quality: string): string => {
      const objects = { persistentVolumeClaims: [claim('data', wanted)], persistentVolumes: [free(quality)], storageClasses };
      return outcome(policy('CheckVolumeBinding'), { nodes, objects });
    };
    expect(at('gold')).toBe('n1');
    expect(at('silver')).toBe(unavailable("1 node(s) didn't find available persistent volumes to bind"));
  });

  it('is asked only where the policy names it', () => {
    expect(outcome(policy('PodFitsResources'), { nodes })).toBe('n1');
    expect(outcome(policyProfile({ priorities: [] }), { nodes })).toBe(unavailable('persistentvolumeclaim "data" not found'));
  });

  it('knows a claim that was made for the pod', () => {
    const ephemeral = podNamed('p', { volumes: [{ name: 'data', ephemeral: {} }] });
    const made = claim('p-data', { storageClassName: 'late' });
    const objects = { persistentVolumeClaims: [made], storageClasses: [late] };
    const said = outcome(policy('CheckVolumeBinding'), { nodes, objects }, ephemeral);
    expect(said).toBe(unavailable('persistentvolumeclaim "p-data" was not created for the pod'));
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u-p', controller: true }];
    const owned = { ...made, metadata: { ...made.metadata, ownerReferences } };
    expect(
      outcome(policy('CheckVolumeBinding'), { nodes, objects: { ...objects, persistentVolumeClaims: [owned] } }, ephemeral),
    ).toBe('n1');
  });
});

describe('NoVolumeZoneConflict', () => {
  const [newer, older] = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];
  const conflict = unavailable('1 node(s) had no available volume zone');

  it.each([
    [{ [newer]: 'z1' }, { [newer]: 'z1' }, 'n1'],
    [{ [newer]: 'z2' }, { [newer]: 'z1' }, conflict],
    [{ [newer]: 'z2' }, { [newer]: 'z1__z2' }, 'n1'],
    // v1.36 takes the newer label in the place of the older one
    [{ [newer]: 'z1' }, { [older]: 'z1' }, conflict],
    [{ [older]: 'z1' }, { [older]: 'z1' }, 'n1'],
    [{}, { [newer]: 'z1' }, 'n1'],
    [{ [newer]: 'z1' }, { [newer]: '' }, 'n1'],
  ])('a node with %j and a volume with %j: %s', (labels, ofVolume, expected) => {
    const objects = {
      persistentVolumeClaims: [claim('data', { volumeName: 'pv' })],
      persistentVolumes: [volume('pv', {}, ofVolume)],
    };
    expect(outcome(policy('NoVolumeZoneConflict'), { nodes: [nodeNamed('n1', labels)], objects })).toBe(expected);
  });

  it('looks for claims only where nodes have zones', () => {
    const missing = unavailable('1 persistentvolumeclaim "data" not found');
    expect(outcome(policy('NoVolumeZoneConflict'), { nodes: [nodeNamed('n1', { [newer]: 'z1' })] })).toBe(missing);
    expect(outcome(policy('NoVolumeZoneConflict'), { nodes: [nodeNamed('n1')] })).toBe('n1');
  });
});

describe('limits of volumes of claims', () => {
  const full = unavailable('1 node(s) exceed max volume count');
  const long = 'a-driver-with-a-very-long-name.storage.example.com';
  const cut = `attachable-volumes-csi-${long.slice(0, 23)}${createHash('sha1').update(long).digest('hex').slice(0, 16)}`;
  const claims = ['data', 'more', 'there'].map((name) => claim(name, { volumeName: `pv-${name}`, storageClassName: 'c' }));
  const volumesOf = (source: (name: string) => object) =>
    ['data', 'more', 'there'].map((name) => volume(`pv-${name}`, source(name)));
  const there = podNamed('there', { nodeName: 'n1', ...mounting('there') });
  const nodeWith = (limits: Readonly<Record<string, string>>) => [
    nodeNamed('n1', {}, { status: { allocatable: { cpu: '2', memory: '4Gi', pods: '10', ...limits } } }),
  ];
  const csiNode = (name: string, count: number) => ({
    metadata: { name: 'n1' },
    spec: { drivers: [{ name, nodeID: 'n1', allocatable: { count } }] },
  });

  it.each<[string, Readonly<Record<string, string>>, readonly object[], string, string[], string]>([
    ['a.example.com', {}, [], 'no limit', ['data', 'more'], 'n1'],
    ['a.example.com', { 'attachable-volumes-csi-a.example.com': '2' }, [], 'room for one', ['data'], 'n1'],
    ['a.example.com', { 'attachable-volumes-csi-a.example.com': '2' }, [], 'room for one', ['data', 'more'], full],
    ['a.example.com', { 'attachable-volumes-csi-a.example.com': '2' }, [], 'the same one', ['there', 'data'], 'n1'],
    ['a.example.com', { 'attachable-volumes-csi-a.example.com': '0' }, [], 'no room, and none needed', ['there'], 'n1'],
    ['a.example.com', { 'attachable-volumes-csi-a.example.com': '2' }, [], 'no claim', ['gone', 'data'], 'n1'],
    [
      'a.example.com',
      { 'attachable-volumes-csi-a.example.com': '9' },
      [csiNode('a.example.com', 1)],
      'the CSINode counts',
      ['data'],
      full,
    ],
    [long, { [cut]: '1' }, [], 'a long name', ['data'], full],
    [long, {}, [csiNode(long, 1)], 'a long name', ['data'], full],
  ])('of %s by %j and %j, %s: %j', (driver, limits, csiNodes, _what, names, expected) => {
    const objects = { persistentVolumeClaims: claims, persistentVolumes: volumesOf((name) => csi(driver, name)), csiNodes };
    const world = { nodes: nodeWith(limits), pods: [there], objects };
    expect(outcome(policy('MaxCSIVolumeCountPred'), world, pod(...names))).toBe(expected);
  });

  it.each<[string, string, object | string, string]>([
    ['MaxEBSVolumeCount', 'aws-ebs', { awsElasticBlockStore: {} }, 'volumeID'],
    ['MaxGCEPDVolumeCount', 'gce-pd', { gcePersistentDisk: {} }, 'pdName'],
    ['MaxAzureDiskVolumeCount', 'azure-disk', { azureDisk: {} }, 'diskName'],
    ['MaxCinderVolumeCount', 'cinder', { cinder: {} }, 'volumeID'],
  ])('of %s count disks of claims, and claims without a volume by their class', (predicate, resource, source, member) => {
    const [kind = ''] = Object.keys(source as object);
    const disks = volumesOf((name) => ({ [kind]: { [member]: name } }));
    const classes = [{ metadata: { name: 'c' }, provisioner: `kubernetes.io/${resource}` }];
    const objects = { persistentVolumeClaims: claims, persistentVolumes: disks, storageClasses: classes };
    const at = (limit: string, own: GivenObjects, names = ['data']): string =>
      outcome(
        policy(predicate),
        { nodes: nodeWith({ [`attachable-volumes-${resource}`]: limit }), pods: [there], objects: own },
        pod(...names),
      );
    expect([at('2', objects), at('1', objects), at('1', objects, ['there'])]).toEqual(['n1', full, 'n1']);
    expect(at('1', { ...objects, persistentVolumes: disks.slice(1) })).toBe(full);
    expect(at('1', { ...objects, persistentVolumes: disks.slice(1), storageClasses: [] })).toBe('n1');
    expect(at('1', { ...objects, persistentVolumeClaims: [] })).toBe('n1');
    const migrated = { 'storage.alpha.kubernetes.io/migrated-plugins': `${none},kubernetes.io/${resource}` };
    const left = at('1', { ...objects, csiNodes: [{ metadata: { name: 'n1', annotations: migrated } }] });
    expect(left).toBe(resource === 'cinder' ? 'n1' : full);
  });

  it.each(['MaxCSIVolumeCountPred', 'MaxEBSVolumeCount'])('of %s end the attempt at a claim without a name', (predicate) => {
    expect(outcome(policy(predicate), { nodes: nodeWith({}) }, pod(''))).toContain('PersistentVolumeClaim had no name');
  });
});
