// Behaviour of the plugin volumezone, v1.36.3.
import { isDeepStrictEqual } from 'node:util';
import type { WireNode, WirePersistentVolume, WirePersistentVolumeClaim, WirePod } from '../../../api/json/types.ts';
import { labelOf } from '../../../api/selectors/label-selector.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import { type StateData, stateKey } from '../../framework/cycle-state.ts';
import { noSignature, withSignature } from '../../framework/placed-plugin.ts';
import type { ClusterEventWithHint, Plugin, PluginHandle, PreFilterAnswer, Rejection } from '../../framework/plugin.ts';
import { kept, refuseArgs } from '../common.ts';
import { hintWhere, isNamedClaimOf } from './volume-hints.ts';
import { classNameOf } from './volume-matching.ts';
import type { WireStorageClass } from './volume-places.ts';

/** The values of a label that nodes must have one of. */
export interface Zones {
  readonly key: string;
  readonly values: ReadonlySet<string>;
}

/** The zones of a pod's volumes. */
interface PodZones extends StateData<PodZones> {
  readonly zones: readonly Zones[];
}

const zonesKey = stateKey<PodZones>('VolumeZone');
const newerLabels: { readonly [older: string]: string } = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
};
/** The labels that say where nodes and volumes are. */
export const topologyLabels = [...Object.keys(newerLabels), ...Object.values(newerLabels)];

export const otherZone: Rejection = { code: 'UnschedulableAndUnresolvable', reasons: ['node(s) had no available volume zone'] };

/** Rejects nodes in other zones than the persistent volumes of the pod's claims, by the labels of both. No arguments. */
export function volumeZone(args: unknown, handle: PluginHandle): Plugin {
  refuseArgs('VolumeZone', args);
  const zonesOfClaim = claimedZones(handle);
  const plugin: Plugin = {
    name: 'VolumeZone',
    eventsToRegister: () => volumeZoneEvents,
    preFilter(state, { pod }): PreFilterAnswer {
      const zones: Zones[] = [];
      for (const { persistentVolumeClaim } of pod.spec?.volumes ?? []) {
        if (persistentVolumeClaim == null) continue;
        const found = zonesOfClaim(pod, persistentVolumeClaim.claimName);
        if (typeof found === 'string') return { code: 'UnschedulableAndUnresolvable', reasons: [found] };
        zones.push(...found);
      }
      if (zones.length === 0) return 'skip';
      const data: PodZones = { zones, clone: () => data };
      state.write(zonesKey, data);
      return undefined;
    },
    filter: (state, _pod, { node }) => (isInZones(node, kept(state, zonesKey).zones) ? undefined : otherZone),
  };
  return withSignature(plugin, noSignature);
}

/** Finds the zones of the volume of a claim; a text says why they cannot be told. */
export function claimedZones(handle: PluginHandle): (pod: WirePod, claimName: string) => readonly Zones[] | string {
  const claims = handle.objects(resources.persistentVolumeClaims);
  const volumes = handle.objects(resources.persistentVolumes);
  const classes = handle.objects(resources.storageClasses);
  return (pod, claimName) => {
    if (claimName === '') return 'PersistentVolumeClaim had no name';
    const claim = claims.get(pod.metadata?.namespace, claimName);
    if (claim === undefined) return `persistentvolumeclaim ${JSON.stringify(claimName)} not found`;
    const { volumeName } = claim.spec ?? {};
    if (!volumeName) return whyUnbound(claim, (name) => classes.get(undefined, name)) ?? [];
    const volume = volumes.get(undefined, volumeName);
    return volume === undefined ? `persistentvolume ${JSON.stringify(volumeName)} not found` : zonesOf(volume);
  };
}

export const volumeZoneEvents: readonly ClusterEventWithHint[] = [
  { resource: 'StorageClass', actions: ['Add'], hint: hintWhere<WireStorageClass>((_pod, _before, added) => waits(added)) },
  { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
  {
    resource: 'PersistentVolumeClaim',
    actions: ['Add', 'Update'],
    hint: hintWhere<WirePersistentVolumeClaim>((pod, _before, claim) => isNamedClaimOf(pod, claim)),
  },
  { resource: 'PersistentVolume', actions: ['Add', 'Update'], hint: hintWhere<WirePersistentVolume>(isMoved) },
];

/** Undefined for a claim that waits for the pod's node. */
function whyUnbound(
  claim: WirePersistentVolumeClaim,
  find: (className: string) => WireStorageClass | undefined,
): string | undefined {
  const className = classNameOf(claim);
  if (className === '') return 'PersistentVolumeClaim had no pv name and storageClass name';
  const found = find(className);
  if (found === undefined) return `storageclass.storage.k8s.io ${JSON.stringify(className)} not found`;
  if (found.volumeBindingMode == null) return `VolumeBindingMode not set for StorageClass ${JSON.stringify(className)}`;
  return waits(found) ? undefined : 'PersistentVolume had no name';
}

function waits({ volumeBindingMode }: WireStorageClass): boolean {
  return volumeBindingMode === 'WaitForFirstConsumer';
}

function zonesOf({ metadata }: WirePersistentVolume): readonly Zones[] {
  return topologyLabels.flatMap((key) => {
    const zones = labelOf(metadata?.labels, key)
      ?.split('__')
      .map((zone) => zone.trim());
    // a list with an empty name says nothing
    return zones === undefined || zones.includes('') ? [] : [{ key, values: new Set(zones) }];
  });
}

/** A node that says nothing of zones is in all of them: it is in a cluster with one zone. */
function isInZones({ metadata }: WireNode, zones: readonly Zones[]): boolean {
  const labels = metadata?.labels;
  if (!topologyLabels.some((key) => labelOf(labels, key) !== undefined)) return true;
  return zones.every(({ key, values }) => {
    const value = labelOf(labels, key) ?? labelOf(labels, newerLabels[key] ?? key);
    return value !== undefined && values.has(value);
  });
}

function isMoved(_pod: WirePod, before: WirePersistentVolume | undefined, after: WirePersistentVolume): boolean {
  return before === undefined || !isDeepStrictEqual(zonesOf(before), zonesOf(after));
}
