import { describe, expect, it } from 'vitest';
import type { WirePersistentVolume } from '../../../../../src/api/json/types.ts';
import {
  inTreeProvisioner,
  migratableVolumes,
  migratedVolumes,
  translatedPersistentVolume,
  translatedTerms,
  translatedVolume,
} from '../../../../../src/scheduler/plugins/volumes/csi-translation.ts';

const [zone, oldZone] = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];
const [region, oldRegion] = ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'];
const gce = { gcePersistentDisk: { pdName: 'd' } };
const ebs = (volumeID: string) => ({ awsElasticBlockStore: { volumeID } });

function handleOf(source: object): string {
  const volume = { name: 'v', ...source } as never;
  const kind = migratedVolumes(volume);
  if (kind === undefined) throw new Error('not migrated');
  const { driver, handle } = translatedVolume(kind, volume);
  return `${driver}/${handle}`;
}

function persistent(
  source: object,
  labels?: Readonly<Record<string, string>>,
  expressions?: readonly object[],
): WirePersistentVolume {
  const required = expressions && { nodeSelectorTerms: [{ matchExpressions: expressions }] };
  return {
    metadata: { name: 'pv', ...(labels && { labels }) },
    spec: { ...source, ...(required && { nodeAffinity: { required } }) },
  } as never;
}

describe("a disk of Kubernetes' own is its driver's", () => {
  it.each([
    [gce, 'pd.csi.storage.gke.io/projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d'],
    [ebs('vol-1'), 'ebs.csi.aws.com/vol-1'],
    [ebs('anything'), 'ebs.csi.aws.com/anything'],
    [ebs('aws://a/vol-1'), 'ebs.csi.aws.com/vol-1'],
    [ebs('aws:///vol-1/'), 'ebs.csi.aws.com/vol-1'],
    [ebs('aws://a/vol-1?x#y'), 'ebs.csi.aws.com/vol-1'],
    [{ cinder: { volumeID: 'c' } }, 'cinder.csi.openstack.org/c'],
    [{ azureDisk: { diskName: 'n', diskURI: '/uri' } }, 'disk.csi.azure.com//uri'],
    [{ azureDisk: { diskName: 'n', diskURI: '/uri', kind: 'MANAGED' } }, 'disk.csi.azure.com//uri'],
    [{ portworxVolume: { volumeID: 'p' } }, 'pxd.portworx.com/p'],
  ])('%j', (source, handle) => {
    expect(handleOf(source)).toBe(handle);
  });

  it.each([
    [ebs('aws://a/disk'), 'Invalid format for AWS volume (aws://a/disk)'],
    [ebs('aws://vol-1'), 'Invalid format for AWS volume (aws://vol-1)'],
    [ebs('aws://a/b/vol-1'), 'Invalid format for AWS volume (aws://a/b/vol-1)'],
    [{ azureDisk: { diskName: 'n', diskURI: '/uri', kind: 'Shared' } }, 'kind(Shared) is not supported in csi migration'],
  ])('but for one that no driver can serve: %j', (source, message) => {
    expect(() => handleOf(source)).toThrow(message);
  });

  it('but for the sorts that no driver has taken over, and for all others', () => {
    const sorts = [{ azureFile: {} }, { vsphereVolume: {} }, { nfs: {} }, { csi: {} }].map(
      (one) => ({ name: 'v', ...one }) as never,
    );
    expect(sorts.map((one) => migratedVolumes(one)?.driver)).toEqual([undefined, undefined, undefined, undefined]);
    const drivers = sorts.map((one) => migratableVolumes(one)?.driver);
    expect(drivers).toEqual(['file.csi.azure.com', 'csi.vsphere.vmware.com', undefined, undefined]);
  });

  it('also as the provisioner of a class', () => {
    expect(inTreeProvisioner('kubernetes.io/cinder')).toMatchObject({ driver: 'cinder.csi.openstack.org', isMigrated: true });
    expect(inTreeProvisioner('kubernetes.io/azure-file')).toMatchObject({ driver: 'file.csi.azure.com', isMigrated: false });
    expect(inTreeProvisioner('csi.example.com')).toBeUndefined();
  });
});

describe("a persistent disk of Google's", () => {
  const handle = (labels: Readonly<Record<string, string>>): string => {
    const volume = persistent(gce, labels);
    return translatedPersistentVolume(migratedVolumes(volume.spec as never) as never, volume).handle;
  };

  it.each([
    [{ [zone]: 'eu-west-a' }, 'projects/UNSPECIFIED/zones/eu-west-a/disks/d'],
    [{ [zone]: 'x', [oldZone]: 'eu-west-b' }, 'projects/UNSPECIFIED/zones/eu-west-b/disks/d'],
    [{ [zone]: 'eu-west-a__eu-west-b' }, 'projects/UNSPECIFIED/regions/eu-west/disks/d'],
  ])('is named by its zone or its region: %j', (labels, expected) => {
    expect(handle(labels)).toBe(expected);
  });

  it.each([
    ['eu-west-a__eu-east-b', 'multiple or no regions gotten from zones, got: map[eu-east:{} eu-west:{}]'],
    ['eu-west-a__west', 'zone in unexpected format, expected: {locale}-{region}-{zone}, got: west'],
  ])('is in one region: %s', (zones, message) => {
    expect(() => handle({ [zone]: zones })).toThrow(message);
  });
});

describe('where a persistent disk can be used, as its driver says', () => {
  const key = 'topology.gke.io/zone';
  const termsOf = (...parts: [labels?: Readonly<Record<string, string>>, expressions?: readonly object[]]) => {
    const volume = persistent(gce, ...parts);
    return translatedTerms(migratedVolumes(volume.spec as never) as never, volume);
  };
  const isIn = (label: string, ...values: readonly string[]) => ({ key: label, operator: 'In', values });

  it.each([
    ['its zones in the place of the old label', undefined, [isIn(oldZone, 'a')], [isIn(key, 'a')]],
    [
      'its zones in the place of the new one, which counts more',
      undefined,
      [isIn(oldZone, 'a'), isIn(zone, 'b')],
      [isIn(oldZone, 'a'), isIn(key, 'b')],
    ],
    [
      'the zones of its labels, without repeats, where it asks for none',
      { [zone]: 'b__ a__b__' },
      [isIn('disk', 'ssd')],
      [isIn('disk', 'ssd'), isIn(key, 'a', 'b')],
    ],
    ['the zones of its old label', { [oldZone]: 'a' }, undefined, [isIn(key, 'a')]],
    [
      'the new name of its region beside an old zone',
      undefined,
      [isIn(oldZone, 'a'), isIn(oldRegion, 'r')],
      [isIn(key, 'a'), isIn(region, 'r')],
    ],
    [
      'its region as it is beside a new zone',
      undefined,
      [isIn(zone, 'a'), isIn(oldRegion, 'r')],
      [isIn(key, 'a'), isIn(oldRegion, 'r')],
    ],
  ])('%s', (_what, labels, expressions, expected) => {
    expect(termsOf(labels, expressions)).toEqual([{ matchExpressions: expected }]);
  });

  it('everywhere where it says nothing, and by its own words where its driver has no zones', () => {
    expect(termsOf()).toBeUndefined();
    const volume = persistent({ azureDisk: { diskURI: 'u' } }, { [zone]: 'a' }, [isIn(zone, 'b')]);
    expect(translatedTerms(migratedVolumes(volume.spec as never) as never, volume)).toEqual([
      { matchExpressions: [isIn(zone, 'b')] },
    ]);
  });
});
