import { describe, expect, it } from 'vitest';
import type { WireNode } from '../../../../../src/api/json/types.ts';
import { volumeZone } from '../../../../../src/scheduler/plugins/volumes/volume-zone.ts';
import { boundClaim, claimOf, lateClass, podWith, VolumeWorld, volumeOf, zoneLabel } from './volume-world.ts';

const oldZone = 'failure-domain.beta.kubernetes.io/zone';
const region = 'topology.kubernetes.io/region';
const node = (name: string, labels: Readonly<Record<string, string>>): WireNode => ({ metadata: { name, labels } });
const nodes = [
  node('a', { [zoneLabel]: 'a' }),
  node('b', { [zoneLabel]: 'b', [region]: 'r' }),
  node('old', { [oldZone]: 'a' }),
  node('none', { disk: 'ssd' }),
];

/** Which nodes the plugin rejects for a volume with these labels. */
function rejected(labels: Readonly<Record<string, string>>): unknown {
  const given = {
    persistentVolumes: [volumeOf('pv', undefined, {}, { labels })],
    persistentVolumeClaims: [boundClaim('c', 'pv')],
  };
  const found = new VolumeWorld(given, { factory: volumeZone, nodes }).judge(podWith('p', 'c'));
  return typeof found === 'string' ? found : Object.keys(found as object).join(' ');
}

describe('VolumeZone', () => {
  it.each([
    [{ [zoneLabel]: 'a' }, 'b old'],
    [{ [zoneLabel]: 'b__ a' }, 'old'],
    [{ [oldZone]: 'a' }, 'b'],
    [{ [oldZone]: 'b' }, 'a old'],
    [{ [zoneLabel]: 'b', [region]: 'r' }, 'a old'],
    [{ [zoneLabel]: 'a__' }, 'skip'],
    [{ [zoneLabel]: 'a__', [region]: 'r' }, 'a old'],
    [{ disk: 'hdd' }, 'skip'],
  ])('rejects nodes in other zones than a volume with the labels %j', (labels, names) => {
    expect(rejected(labels)).toBe(names);
  });

  it.each<[string, readonly object[], readonly object[], unknown]>([
    ['is missing', [], [], 'persistentvolumeclaim "c" not found'],
    ['names a volume that is missing', [boundClaim('c', 'gone')], [], 'persistentvolume "gone" not found'],
    ['waits for its node', [claimOf('c')], [lateClass], 'skip'],
    ['should be bound', [claimOf('c')], [{ ...lateClass, volumeBindingMode: 'Immediate' }], 'PersistentVolume had no name'],
    ['has no class', [claimOf('c', { storageClassName: '' })], [], 'PersistentVolumeClaim had no pv name and storageClass name'],
    ['has a class that is missing', [claimOf('c')], [], 'storageclass.storage.k8s.io "late" not found'],
    [
      'has a class that says nothing of it',
      [claimOf('c')],
      [{ metadata: { name: 'late' }, provisioner: 'x' }],
      'VolumeBindingMode not set for StorageClass "late"',
    ],
  ])('says of a claim that %s', (_what, persistentVolumeClaims, storageClasses, answer) => {
    const world = new VolumeWorld({ persistentVolumeClaims, storageClasses }, { factory: volumeZone, nodes });
    expect(world.judge(podWith('p', 'c'))).toBe(answer);
  });

  it('says nothing of a pod without claims, nor of its ephemeral volumes', () => {
    const world = new VolumeWorld({}, { factory: volumeZone, nodes });
    expect(world.judge(podWith('p', { emptyDir: {} }, { ephemeral: {} as never }))).toBe('skip');
  });
});
