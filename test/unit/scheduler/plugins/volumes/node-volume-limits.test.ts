import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../../src/api/json/types.ts';
import { nodeVolumeLimits } from '../../../../../src/scheduler/plugins/volumes/node-volume-limits.ts';
import { boundClaim, claimOf, podWith, VolumeWorld, volumeOf } from './volume-world.ts';

const driver = 'csi.example.com';
const full = { n1: 'node(s) exceed max volume count' };
const csiNode = (count: number | undefined, name = driver): object => ({
  metadata: { name: 'n1' },
  spec: { drivers: [{ name, ...(count !== undefined && { allocatable: { count } }) }] },
});
const attached = (persistentVolumeName: string | undefined, attacher = driver, nodeName = 'n1'): object => ({
  spec: { attacher, nodeName, source: { ...(persistentVolumeName !== undefined && { persistentVolumeName }) } },
});
const names = ['1', '2', '3'];
const cluster = {
  persistentVolumes: names.map((name) => volumeOf(`pv${name}`, undefined, { csi: { driver, volumeHandle: `h${name}` } })),
  persistentVolumeClaims: [...names.map((name) => boundClaim(`c${name}`, `pv${name}`)), claimOf('late')],
};

interface Room {
  readonly nodes?: readonly object[];
  readonly attachments?: readonly object[];
  readonly pods?: readonly WirePod[];
}

function judge(pod: WirePod, { nodes = [csiNode(2)], attachments = [], pods = [] }: Room = {}): unknown {
  const given = { ...cluster, csiNodes: nodes, volumeAttachments: attachments };
  return new VolumeWorld(given, { factory: nodeVolumeLimits }).judge(pod, { n1: pods });
}

describe('NodeVolumeLimits', () => {
  it('rejects a node where a driver would have more volumes than it can', () => {
    const pods = [podWith('other', 'c1')];
    expect(judge(podWith('p', 'c2'), { pods })).toEqual({});
    expect(judge(podWith('p', 'c2', 'c3'), { pods })).toEqual(full);
  });

  it('counts a volume once, whoever has it', () => {
    expect(judge(podWith('p', 'c1', 'c2'), { pods: [podWith('other', 'c1')] })).toEqual({});
    const attachments = [attached('pv1'), attached('pv2')];
    expect(judge(podWith('p', 'c3'), { pods: [podWith('other', 'c1')], attachments })).toEqual(full);
    expect(judge(podWith('p', 'c3'), { pods: [podWith('other', 'c1')], attachments: attachments.slice(0, 1) })).toEqual({});
  });

  it.each([
    ['on another node', attached('pv2', driver, 'n2')],
    ['of nobody', attached('pv2', '')],
    ['of a volume that is gone', attached('gone')],
    ['of a volume of a pod', attached(undefined)],
    ['of another driver', attached('pv2', 'other.example.com')],
  ])('does not count an attachment %s', (_what, attachment) => {
    expect(judge(podWith('p', 'c3'), { pods: [podWith('other', 'c1')], attachments: [attachment] })).toEqual({});
  });

  it('knows no limit without a number, without the driver and without a CSINode', () => {
    for (const nodes of [[csiNode(undefined)], [csiNode(0, 'other.example.com')], []]) {
      expect(judge(podWith('p', 'c1', 'c2', 'c3'), { nodes })).toEqual({});
    }
    expect(judge(podWith('p', 'c1'), { nodes: [csiNode(0)] })).toEqual(full);
  });

  it('counts a volume that is to be made, by its class', () => {
    expect(judge(podWith('p', 'late'), { nodes: [csiNode(0)] })).toEqual(full);
    expect(judge(podWith('p', 'late', 'c1'), { pods: [podWith('other', 'late')] })).toEqual({});
  });

  it("counts disks of Kubernetes' own as their driver's", () => {
    const disk = { awsElasticBlockStore: { volumeID: 'vol-1' } };
    const nodes = [csiNode(0, 'ebs.csi.aws.com')];
    expect(judge(podWith('p', disk), { nodes })).toEqual(full);
    expect(
      judge(podWith('p', { vsphereVolume: { volumePath: 'x' } }), { nodes: [csiNode(0, 'csi.vsphere.vmware.com')] }),
    ).toEqual({});
    expect(judge(podWith('p', disk), { nodes: [csiNode(1, 'ebs.csi.aws.com')], pods: [podWith('other', disk)] })).toEqual({});
  });

  it('does not count the claims of other pods that are gone', () => {
    expect(judge(podWith('p', 'c1'), { nodes: [csiNode(1)], pods: [podWith('other', 'gone')] })).toEqual({});
    expect(judge(podWith('p', 'gone'))).toEqual({ n1: 'looking up PVC d/gone: persistentvolumeclaim "gone" not found' });
  });

  it('says nothing of a pod without such volumes', () => {
    expect(judge(podWith('p', { emptyDir: {} }, { csi: { driver } }))).toBe('skip');
  });
});
