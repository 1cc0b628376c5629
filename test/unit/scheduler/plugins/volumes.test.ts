import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { isStatusManagerError } from '../../../../src/base/errors.ts';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import type { Plugin, PluginHandle } from '../../../../src/scheduler/framework/plugin.ts';
import type { NodeInfo, Snapshot } from '../../../../src/scheduler/nodes/node-info.ts';
import type { PodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import { dynamicResources } from '../../../../src/scheduler/plugins/devices/allocating-plugin.ts';
import { nodeVolumeLimits } from '../../../../src/scheduler/plugins/volumes/node-volume-limits.ts';
import { volumeBinding } from '../../../../src/scheduler/plugins/volumes/volume-binding.ts';
import { diskRestrictions, volumeRestrictions } from '../../../../src/scheduler/plugins/volumes/volume-restrictions.ts';
import { volumeZone } from '../../../../src/scheduler/plugins/volumes/volume-zone.ts';
import { barePod } from '../../../support/pods.ts';

type Volume = NonNullable<NonNullable<WirePod['spec']>['volumes']>[number];

const podWith = (volumes: readonly Omit<Volume, 'name'>[], namespace = 'd'): WirePod =>
  barePod({
    metadata: { name: 'p', namespace },
    spec: { volumes: volumes.map((source, index) => ({ name: `v${index}`, ...source })) },
  });
const infoOf = (pod: WirePod) => ({ pod }) as PodInfo;
const preFilter = (plugin: Plugin, pod: WirePod) => plugin.preFilter?.(new CycleState(), infoOf(pod), {} as Snapshot);

const gce = (pdName: string, readOnly = false) => ({ gcePersistentDisk: { pdName, readOnly } });
const ebs = (volumeID: string, readOnly = false) => ({ awsElasticBlockStore: { volumeID, readOnly } });
const iscsi = (iqn: string, readOnly = false) => ({ iscsi: { iqn, readOnly, lun: 0, targetPortal: '' } });
const rbd = (monitors: string[], image: string, readOnly = false, pool = 'rbd') => ({
  rbd: { monitors, image, readOnly, pool },
});

describe('VolumeRestrictions of disks', () => {
  const plugin = diskRestrictions();
  const onNodeWith = (pod: WirePod, other: WirePod) =>
    plugin.filter?.(new CycleState(), infoOf(pod), { pods: [infoOf(other)] } as unknown as NodeInfo);

  it('has nothing to say of a pod without such disks', () => {
    expect(preFilter(plugin, podWith([{ emptyDir: {} }]))).toBe('skip');
    expect(preFilter(plugin, podWith([gce('a')]))).toBeUndefined();
  });

  it.each([
    [gce('a'), gce('a', true)],
    [iscsi('a', true), iscsi('a')],
    [ebs('a', true), ebs('a', true)],
    [rbd(['m', 'n'], 'i'), rbd(['o', 'n'], 'i', true)],
  ])('rejects a disk that may not be shared: %j', (wanted, there) => {
    const rejection = { code: 'Unschedulable', reasons: ['node(s) had no available disk'] };
    expect(onNodeWith(podWith([gce('z'), wanted]), podWith([there], 'other'))).toEqual(rejection);
  });

  it.each([
    [gce('a'), gce('b')],
    [gce('a', true), gce('a', true)],
    [gce('a'), iscsi('a')],
    [iscsi('a', true), iscsi('a', true)],
    [iscsi('a'), iscsi('b')],
    [ebs('a'), ebs('b')],
    [rbd(['m'], 'i', true), rbd(['m'], 'i', true)],
    [rbd(['m'], 'i'), rbd(['n'], 'i')],
    [rbd(['m'], 'i'), rbd(['m'], 'j')],
    [rbd(['m'], 'i', false, 'p'), rbd(['m'], 'i', false, 'q')],
  ])('agrees to other disks, and to disks that are only read: %j', (wanted, there) => {
    expect(onNodeWith(podWith([wanted]), podWith([there]))).toBeUndefined();
  });

  it('is helped by the end of a pod of the namespace that has the disk or the claim', () => {
    const claim = (claimName: string) => ({ persistentVolumeClaim: { claimName } });
    const pod = podWith([gce('a'), claim('c')]);
    const [events] = plugin.eventsToRegister?.() ?? [];
    const hints = [podWith([gce('a')]), podWith([claim('c')]), podWith([gce('b'), claim('d')]), podWith([gce('a')], 'other')].map(
      (ended) => events?.hint?.(pod, ended as Record<string, unknown>, undefined),
    );
    expect(hints).toEqual(['Queue', 'Queue', 'Skip', 'Skip']);
  });
});

it.each([
  volumeRestrictions,
  volumeBinding,
  volumeZone,
  nodeVolumeLimits,
  dynamicResources,
])('%o refuses unknown arguments', (factory) => {
  const make = () => factory({ bindTimeout: 1 }, {} as PluginHandle);
  expect(make).toThrow(expect.toSatisfy((error) => isStatusManagerError(error, 'ERR_INVALID_OPTION')));
});
