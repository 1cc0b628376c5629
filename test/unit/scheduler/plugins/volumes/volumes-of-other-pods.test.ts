import { describe, expect, it } from 'vitest';
import { nodeVolumeLimits } from '../../../../../src/scheduler/plugins/volumes/node-volume-limits.ts';
import { volumeRestrictions } from '../../../../../src/scheduler/plugins/volumes/volume-restrictions.ts';
import { boundClaim, claimOf, podWith, VolumeWorld, volumeOf } from './volume-world.ts';

const csi = (volumeHandle: string) => ({ csi: { driver: 'csi.example.com', volumeHandle } });
const node = (count: number) => ({
  metadata: { name: 'n1', annotations: { 'storage.alpha.kubernetes.io/migrated-plugins': 'kubernetes.io/aws-ebs' } },
  spec: { drivers: [{ name: 'csi.example.com', allocatable: { count } }] },
});

describe('volumes of the pods that are on a node', () => {
  const world = new VolumeWorld(
    {
      persistentVolumes: [volumeOf('pv', 'a', csi('1')), volumeOf('other', 'a', csi('2'))],
      persistentVolumeClaims: [boundClaim('c', 'pv'), boundClaim('e', 'other'), boundClaim('x-v0', 'other')],
      csiNodes: [node(1)],
    },
    { factory: nodeVolumeLimits },
  );

  it('count where they can be read', () => {
    expect(world.judge(podWith('p', 'c'), { n1: [podWith('q', 'e')] })).toEqual({ n1: 'node(s) exceed max volume count' });
  });

  it.each([
    ['whose claim is of somebody else', podWith('x', { ephemeral: {} })],
    ['whose claim is gone', podWith('q', 'gone')],
    ['whose claim has no name', podWith('q', '')],
    ['that no driver can serve', podWith('q', { awsElasticBlockStore: { volumeID: 'aws://z1/disk' } })],
  ])('cost no other pod its place: one %s', (_what, there) => {
    expect(world.judge(podWith('p', 'c'), { n1: [there] })).toEqual({});
    expect(world.judge(podWith('p', 'c'), { n1: [there, podWith('q', 'e')] })).toEqual({ n1: 'node(s) exceed max volume count' });
  });

  it('are told of where the pod itself has them', () => {
    expect(() => world.judge(podWith('p', { awsElasticBlockStore: { volumeID: 'aws://z1/disk' } }))).toThrow(
      'converting volume(v0) from inline to csi',
    );
    expect(world.judge(podWith('p', 'gone'))).toEqual({
      n1: 'looking up PVC d/gone: persistentvolumeclaim "gone" not found',
    });
  });
});

describe('a claim that one pod at a time may have', () => {
  const once = { accessModes: ['ReadWriteOncePod'] };
  const world = new VolumeWorld({ persistentVolumeClaims: [boundClaim('c', 'pv', once)] }, { factory: volumeRestrictions });
  const inUse =
    'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod';

  it('is in use by a pod of its namespace, and not by one of another', () => {
    const there = podWith('q', 'c', 'c');
    const elsewhere = { ...there, metadata: { ...there.metadata, namespace: 'e' } };
    expect(world.judge(podWith('p', 'c'), { n1: [there] })).toEqual({ n1: inUse });
    expect(world.judge(podWith('p', 'c'), { n1: [elsewhere] })).toBe('skip');
  });
});

describe('a claim that a pod names twice', () => {
  it('gets one volume', () => {
    const byHand = {
      metadata: { name: 'late' },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    };
    const world = new VolumeWorld({
      storageClasses: [byHand],
      persistentVolumes: [volumeOf('pv', 'a')],
      persistentVolumeClaims: [claimOf('c')],
    });
    expect(world.judge(podWith('p', 'c', 'c'))).toEqual({});
    expect(world.place(podWith('p', 'c', 'c')).awaited).toBe('the volumes of d/c');
  });
});
