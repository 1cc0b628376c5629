// Behaviour of pkg/scheduler/framework/plugins/volumerestrictions, v1.36.3.
import type { WirePod } from '../../../api/json/types.ts';

type Volume = NonNullable<NonNullable<WirePod['spec']>['volumes']>[number];

/** The volumes of a pod that only so many pods of a node may share. */
export function exclusiveVolumes({ spec }: WirePod): readonly Volume[] {
  return spec?.volumes?.filter(isExclusive) ?? [];
}

/** True where two of the volumes are one disk that the two pods may not share. */
export function anyConflict(volumes: readonly Volume[], others: readonly Volume[]): boolean {
  return volumes.some((volume) => others.some((other) => conflict(volume, other)));
}

function isExclusive(volume: Volume): boolean {
  return Boolean(volume.gcePersistentDisk ?? volume.awsElasticBlockStore ?? volume.rbd ?? volume.iscsi);
}

/** One disk of Amazon's belongs to one pod; any other disk may be shared by pods that only read it. */
function conflict(one: Volume, other: Volume): boolean {
  return (
    isSameDisk(one.gcePersistentDisk, other.gcePersistentDisk, ({ pdName }) => pdName) ||
    isSameDisk(one.iscsi, other.iscsi, ({ iqn }) => iqn) ||
    isSameImage(one.rbd, other.rbd) ||
    isSameElasticDisk(one.awsElasticBlockStore, other.awsElasticBlockStore)
  );
}

function isSameDisk<Disk extends { readOnly?: boolean }>(
  one: Disk | undefined,
  other: Disk | undefined,
  nameOf: (disk: Disk) => string | undefined,
): boolean {
  if (!one || !other) return false;
  return (nameOf(one) ?? '') === (nameOf(other) ?? '') && !(one.readOnly && other.readOnly);
}

function isSameElasticDisk(one: Volume['awsElasticBlockStore'], other: Volume['awsElasticBlockStore']): boolean {
  return Boolean(one && other) && (one?.volumeID ?? '') === (other?.volumeID ?? '');
}

/** Two images are one where they have a monitor, the pool and the name in common. */
function isSameImage(one: Volume['rbd'], other: Volume['rbd']): boolean {
  if (!one || !other || (one.readOnly && other.readOnly)) return false;
  if ((one.pool ?? '') !== (other.pool ?? '') || (one.image ?? '') !== (other.image ?? '')) return false;
  return (one.monitors ?? []).some((monitor) => other.monitors?.includes(monitor));
}
