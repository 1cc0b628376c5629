// Behaviour of the plugins volumebinding, volumezone and nodevolumelimits (csi.go), v1.22.17, with its default feature gates.
import { createHash } from 'node:crypto';
import { whyNotOwnClaim } from '../../../api/pod/volume-claims.ts';
import { labelOf } from '../../../api/selectors/label-selector.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import type { ClusterEventWithHint, Plugin, PluginHandle, Rejection } from '../../framework/plugin.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import type { InTreeVolumes } from '../../plugins/volumes/csi-translation.ts';
import { AttachableVolumes } from '../../plugins/volumes/node-volume-limits.ts';
import { type VolumeBindingRules, volumeBindingBy } from '../../plugins/volumes/volume-binding.ts';
import { conflicts } from '../../plugins/volumes/volume-finder.ts';
import { isMigratedOn, VolumePlaces, type WireCsiNode } from '../../plugins/volumes/volume-places.ts';
import { claimedZones, otherZone, topologyLabels, volumeZoneEvents } from '../../plugins/volumes/volume-zone.ts';

/** Of Kubernetes' own volumes v1.22 left only those of Cinder to a driver; the others wait for a feature gate. */
function mayMigrate({ name }: Pick<InTreeVolumes, 'name'>): boolean {
  return name === 'kubernetes.io/cinder';
}

/** True for volumes that a driver serves on the node in the place of Kubernetes, in the eyes of v1.22. */
export function isServedByDriver(kind: Pick<InTreeVolumes, 'name'>, csiNode: WireCsiNode | undefined): boolean {
  return mayMigrate(kind) && isMigratedOn(csiNode, kind);
}

const reasons: ReadonlyMap<string, string> = new Map([
  [conflicts.otherNode, 'node(s) had volume node affinity conflict'],
  [conflicts.volumeGone, 'pvc(s) bound to non-existent pv(s)'],
]);

/** A claim that has lost its volume is looked at like any other: the volume is then missed on each node. */
const whyNotUsable: VolumeBindingRules['whyNotUsable'] = (pod, volume, name, claim) => {
  const quoted = `persistentvolumeclaim ${JSON.stringify(name)}`;
  if (claim === undefined) return `${quoted} not found`;
  if (claim.metadata?.deletionTimestamp != null) return `${quoted} is being deleted`;
  const isOther = volume.persistentVolumeClaim == null && whyNotOwnClaim(pod, claim) !== undefined;
  return isOther ? `${quoted} was not created for the pod` : undefined;
};

/** Finds, takes and binds the volumes of a pod's claims: the predicate `CheckVolumeBinding`. */
export function classicVolumeBinding(handle: PluginHandle): Plugin {
  const rules: VolumeBindingRules = {
    places: new VolumePlaces(mayMigrate),
    whyNotUsable,
    reasonFor: (conflict) => reasons.get(conflict) ?? conflict,
  };
  return volumeBindingBy(rules, {}, handle);
}

/**
 * Rejects nodes in other zones than the volumes of the pod's claims: the predicate `NoVolumeZoneConflict`. Each label counts by its own
 * name, the older ones as well as the newer. A node without any of them suits every volume, also one that is not there.
 */
export function classicVolumeZone(handle: PluginHandle): Plugin {
  const zonesOfClaim = claimedZones(handle);
  return {
    name: 'VolumeZone',
    eventsToRegister: () => volumeZoneEvents,
    filter(_state, { pod }, { node: { metadata } }) {
      const labels = metadata?.labels;
      if (!topologyLabels.some((key) => labelOf(labels, key) !== undefined)) return undefined;
      for (const { persistentVolumeClaim } of pod.spec?.volumes ?? []) {
        if (persistentVolumeClaim == null) continue;
        const zones = zonesOfClaim(pod, persistentVolumeClaim.claimName);
        if (typeof zones === 'string') return { code: 'UnschedulableAndUnresolvable', reasons: [zones] };
        if (!zones.every(({ key, values }) => values.has(labelOf(labels, key) ?? ''))) return otherZone;
      }
      return undefined;
    },
  };
}

/** The answer of every predicate that counts volumes. */
export const tooManyVolumes: Rejection = { code: 'Unschedulable', reasons: ['node(s) exceed max volume count'] };
const limitEvents: readonly ClusterEventWithHint[] = [
  { resource: 'CSINode', actions: ['Add', 'Update'] },
  { resource: 'Node', actions: ['Add', 'UpdateNodeAllocatable'] },
  { resource: 'Pod', actions: ['Delete'] },
];

/**
 * Rejects nodes where a driver would have more volumes of claims attached than it can: the predicate `MaxCSIVolumeCountPred`. The CSINode
 * says how many, or else the node, in its allocatable resources. Only claims that a pod names count.
 */
export function classicCsiLimits(handle: PluginHandle): Plugin {
  const claims = handle.objects(resources.persistentVolumeClaims);
  const csiNodes = handle.objects(resources.csiNodes);
  const attachable = new AttachableVolumes(handle, isServedByDriver);
  /** What limits the volumes, by what names each: `DRIVER/HANDLE`. */
  const addOf = ({ pod, namespace }: PodInfo, csiNode: WireCsiNode | undefined, found: Map<string, string>): void => {
    for (const { persistentVolumeClaim } of pod.spec?.volumes ?? []) {
      if (persistentVolumeClaim == null) continue;
      if (persistentVolumeClaim.claimName === '') throw new Error('PersistentVolumeClaim had no name');
      const claim = claims.get(namespace, persistentVolumeClaim.claimName);
      const { driver, handle: id } = (claim && attachable.ofClaim(claim, csiNode)) ?? {};
      if (driver && id) found.set(`${driver}/${id}`, csiLimitKey(driver));
    }
  };
  return {
    name: 'NodeVolumeLimits',
    eventsToRegister: () => limitEvents,
    filter(_state, pod, node) {
      const csiNode = csiNodes.get(undefined, node.name);
      const wanted = new Map<string, string>();
      addOf(pod, csiNode, wanted);
      if (wanted.size === 0) return undefined;
      const attached = new Map<string, string>();
      for (const other of node.pods) addOf(other, csiNode, attached);
      const all = new Map([...attached, ...wanted]);
      const added = new Set([...wanted].flatMap(([id, key]) => (attached.has(id) ? [] : [key])));
      const limitOf = csiLimits(node, csiNode);
      const isOver = (key: string): boolean => [...all.values()].filter((other) => other === key).length > limitOf(key);
      return [...added].some(isOver) ? tooManyVolumes : undefined;
    },
  };
}

function csiLimits({ allocatable }: NodeInfo, csiNode: WireCsiNode | undefined): (key: string) => number {
  const own = new Map<string, number>();
  for (const { name, allocatable: most } of csiNode?.spec?.drivers ?? []) {
    if (most?.count != null) own.set(csiLimitKey(name), most.count);
  }
  return (key) => own.get(key) ?? allocatable.scalar.get(key) ?? Number.POSITIVE_INFINITY;
}

const csiLimitPrefix = 'attachable-volumes-csi-';
const longestResourceName = 63;

/** The resource by which a node says how many volumes of the driver it can have. A name that would be too long is cut, and told apart by a hash. */
function csiLimitKey(driver: string): string {
  if (csiLimitPrefix.length + driver.length < longestResourceName) return csiLimitPrefix + driver;
  return csiLimitPrefix + driver.slice(0, 23) + createHash('sha1').update(driver).digest('hex').slice(0, 16);
}
