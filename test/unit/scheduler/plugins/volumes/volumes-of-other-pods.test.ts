import { describe, expect, it } from 'vitest';
import { nodeVolumeLimits } from '../../../../../src/scheduler/plugins/volumes/node-volume-limits.ts';
import { boundClaim, podWith, VolumeWorld, volumeOf } from './volume-world.ts';

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
