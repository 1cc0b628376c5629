// Behaviour of pkg/scheduler/framework/plugins/nodevolumelimits (non_csi.go), v1.22.17.
import type { WirePersistentVolume, WirePersistentVolumeClaim } from '../../../api/json/types.ts';
import type { SpecVolume } from '../../../api/pod/pod-containers.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import type { ClusterEventWithHint, Plugin, PluginHandle } from '../../framework/plugin.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { isServedByDriver, tooManyVolumes } from './claimed-volumes.ts';

export type VolumeLimitName = 'EBSLimits' | 'GCEPDLimits' | 'AzureDiskLimits' | 'CinderLimits';

type Source = Pick<SpecVolume, 'awsElasticBlockStore' | 'gcePersistentDisk' | 'azureDisk' | 'cinder'>;

interface Limit {
  /** What the node may say of itself in its allocatable resources. */
  readonly resource: string;
  /** For a node that says nothing. */
  readonly most: number;
  /** The sort of volumes, as classes and CSINodes have it. */
  readonly kind: string;
  idOf(source: Source): string | undefined;
}

const limits: Readonly<Record<VolumeLimitName, Limit>> = {
  EBSLimits: {
    resource: 'aws-ebs',
    most: 39,
    kind: 'kubernetes.io/aws-ebs',
    idOf: ({ awsElasticBlockStore }) => awsElasticBlockStore?.volumeID,
  },
  GCEPDLimits: {
    resource: 'gce-pd',
    most: 16,
    kind: 'kubernetes.io/gce-pd',
    idOf: ({ gcePersistentDisk }) => gcePersistentDisk?.pdName,
  },
  AzureDiskLimits: {
    resource: 'azure-disk',
    most: 16,
    kind: 'kubernetes.io/azure-disk',
    idOf: ({ azureDisk }) => azureDisk?.diskName,
  },
  CinderLimits: { resource: 'cinder', most: 256, kind: 'kubernetes.io/cinder', idOf: ({ cinder }) => cinder?.volumeID },
};
const events: readonly ClusterEventWithHint[] = [
  { resource: 'Node', actions: ['Add', 'UpdateNodeAllocatable'] },
  { resource: 'CSINode', actions: ['Add', 'Update'] },
  { resource: 'Pod', actions: ['Delete'] },
];

/**
 * Rejects a node that would have more disks of one sort attached than it can have, those of claims counted. Where a driver serves the
 * disks on the node, its own limit counts instead.
 */
export function volumeLimit(name: VolumeLimitName, handle: PluginHandle): Plugin {
  const limit = limits[name];
  const csiNodes = handle.objects(resources.csiNodes);
  const addOf = idsOfPods(limit, handle);
  return {
    name,
    eventsToRegister: () => events,
    filter(_state, pod, node) {
      const ids = new Set<string>();
      addOf(pod, ids);
      if (ids.size === 0 || isServedByDriver({ name: limit.kind }, csiNodes.get(undefined, node.name))) return undefined;
      for (const other of node.pods) addOf(other, ids);
      return ids.size > (ownLimit(node, limit.resource) ?? limit.most) ? tooManyVolumes : undefined;
    },
  };
}

function idsOfPods({ kind, idOf }: Limit, handle: PluginHandle): (pod: PodInfo, found: Set<string>) => void {
  const claims = handle.objects(resources.persistentVolumeClaims);
  const volumes = handle.objects(resources.persistentVolumes);
  const classes = handle.objects(resources.storageClasses);
  const volumeOf = ({ spec }: WirePersistentVolumeClaim): WirePersistentVolume | undefined =>
    spec?.volumeName ? volumes.get(undefined, spec.volumeName) : undefined;
  const isOfKind = ({ spec }: WirePersistentVolumeClaim): boolean =>
    spec?.storageClassName != null && classes.get(undefined, spec.storageClassName)?.provisioner === kind;
  const claimedId = (namespace: string, name: string): string | undefined => {
    if (name === '') throw new Error('PersistentVolumeClaim had no name');
    const claim = claims.get(namespace, name);
    if (claim === undefined) return undefined;
    const volume = volumeOf(claim);
    if (volume !== undefined) return idOf(volume.spec ?? {});
    // a volume that is not known yet counts by its claim's name, which no disk has
    return isOfKind(claim) ? `claim:${namespace}/${name}` : undefined;
  };
  return ({ pod, namespace }, found) => {
    for (const volume of pod.spec?.volumes ?? []) {
      const { persistentVolumeClaim } = volume;
      const id = idOf(volume) ?? (persistentVolumeClaim && claimedId(namespace, persistentVolumeClaim.claimName));
      if (id !== undefined && id !== null) found.add(id);
    }
  };
}

function ownLimit({ allocatable }: NodeInfo, resource: string): number | undefined {
  return allocatable.scalar.get(`attachable-volumes-${resource}`);
}
