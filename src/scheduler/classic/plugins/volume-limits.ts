// Behaviour of pkg/scheduler/framework/plugins/nodevolumelimits, v1.22.17, for volumes that need no claim.
import type { WirePod } from '../../../api/json/types.ts';
import type { ClusterEventWithHint, Plugin, Rejection } from '../../framework/plugin.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';

type Volume = NonNullable<NonNullable<WirePod['spec']>['volumes']>[number];

export type VolumeLimitName = 'EBSLimits' | 'GCEPDLimits' | 'AzureDiskLimits' | 'CinderLimits';

interface Limit {
  /** What the node may say of itself in its allocatable resources. */
  readonly resource: string;
  /** For a node that says nothing. */
  readonly most: number;
  idOf(volume: Volume): string | undefined;
}

const limits: Readonly<Record<VolumeLimitName, Limit>> = {
  EBSLimits: { resource: 'aws-ebs', most: 39, idOf: ({ awsElasticBlockStore }) => awsElasticBlockStore?.volumeID },
  GCEPDLimits: { resource: 'gce-pd', most: 16, idOf: ({ gcePersistentDisk }) => gcePersistentDisk?.pdName },
  AzureDiskLimits: { resource: 'azure-disk', most: 16, idOf: ({ azureDisk }) => azureDisk?.diskName },
  CinderLimits: { resource: 'cinder', most: 256, idOf: ({ cinder }) => cinder?.volumeID },
};
const rejection: Rejection = { code: 'Unschedulable', reasons: ['node(s) exceed max volume count'] };
const events: readonly ClusterEventWithHint[] = [
  { resource: 'Node', actions: ['Add', 'UpdateNodeAllocatable'] },
  { resource: 'Pod', actions: ['Delete'] },
];

/** Rejects a node that would have more disks of one sort attached than it can have. */
export function volumeLimit(name: VolumeLimitName): Plugin {
  const { resource, most, idOf } = limits[name];
  const idsOf = ({ spec }: WirePod): string[] => (spec?.volumes ?? []).flatMap((volume) => idOf(volume) ?? []);
  return {
    name,
    eventsToRegister: () => events,
    filter(_state, { pod }, node) {
      const ids = new Set(idsOf(pod));
      if (ids.size === 0) return undefined;
      for (const other of node.pods) for (const id of idsOf(other.pod)) ids.add(id);
      return ids.size > (ownLimit(node, resource) ?? most) ? rejection : undefined;
    },
  };
}

function ownLimit({ allocatable }: NodeInfo, resource: string): number | undefined {
  return allocatable.scalar.get(`attachable-volumes-${resource}`);
}
