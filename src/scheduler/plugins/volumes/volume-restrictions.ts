// Behaviour of the plugin volumerestrictions, v1.36.3.
import type { WirePersistentVolumeClaim, WirePod } from '../../../api/json/types.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import type { JsonMembers } from '../../../client/transport/api-answer.ts';
import { type StateData, stateKey } from '../../framework/cycle-state.ts';
import { noSignature, withSignature } from '../../framework/placed-plugin.ts';
import type { Plugin, PluginHandle, QueueingHint, Rejection } from '../../framework/plugin.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { kept, refuseArgs } from '../common.ts';
import { hintWhere, isNamedClaimOf } from './volume-hints.ts';

const diskConflict: Rejection = { code: 'Unschedulable', reasons: ['node(s) had no available disk'] };
const claimInUse: Rejection = {
  code: 'Unschedulable',
  reasons: ['node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod'],
};

const usesKey = stateKey<ClaimUses>('VolumeRestrictions');

/** The claims of a pod that only one pod may use, and how often other pods use them. */
class ClaimUses implements StateData<ClaimUses> {
  readonly #keys: ReadonlySet<string>;
  #uses: number;

  constructor(keys: ReadonlySet<string>, uses: number) {
    this.#keys = keys;
    this.#uses = uses;
  }

  get areFree(): boolean {
    return this.#uses <= 0;
  }

  change({ claimKeys }: PodInfo, sign: 1 | -1): void {
    for (const key of claimKeys) if (this.#keys.has(key)) this.#uses += sign;
  }

  clone(): ClaimUses {
    return new ClaimUses(this.#keys, this.#uses);
  }
}

/**
 * Rejects a node where a pod already has a disk that the two may not share: disks of GCE, of EBS, of iSCSI and of RBD that stand in the pod
 * itself. Rejects every node while another pod has a claim that only one pod may use (`ReadWriteOncePod`). No arguments.
 */
export function volumeRestrictions(args: unknown, handle: PluginHandle): Plugin {
  refuseArgs('VolumeRestrictions', args);
  const claims = handle.objects(resources.persistentVolumeClaims);
  const disks = diskRestrictions();
  const plugin: Plugin = {
    name: disks.name,
    eventsToRegister: () => [
      ...diskEvents,
      {
        resource: 'PersistentVolumeClaim',
        actions: ['Add'],
        hint: hintWhere<WirePersistentVolumeClaim>((pod, _before, claim) => isNamedClaimOf(pod, claim)),
      },
    ],
    preFilter(state, pod, snapshot) {
      const exclusive = new Set<string>();
      let uses = 0;
      for (const { persistentVolumeClaim } of pod.pod.spec?.volumes ?? []) {
        if (persistentVolumeClaim == null) continue;
        const { claimName } = persistentVolumeClaim;
        const claim = claims.get(pod.namespace, claimName);
        if (claim === undefined) {
          return {
            code: 'UnschedulableAndUnresolvable',
            reasons: [`persistentvolumeclaim ${JSON.stringify(claimName)} not found`],
          };
        }
        const key = `${pod.namespace}/${claimName}`;
        if (!claim.spec?.accessModes?.includes('ReadWriteOncePod') || exclusive.has(key)) continue;
        exclusive.add(key);
        const users = snapshot.grouped.usersOf(key);
        if ([...users.keys()].some((nodeName) => snapshot.get(nodeName) !== undefined)) uses += 1;
      }
      if (uses === 0 && exclusiveVolumes(pod.pod).length === 0) return 'skip';
      state.write(usesKey, new ClaimUses(exclusive, uses));
      return undefined;
    },
    addPod: (state, _toSchedule, pod) => kept(state, usesKey).change(pod, 1),
    removePod: (state, _toSchedule, pod) => kept(state, usesKey).change(pod, -1),
    filter(state, pod, node) {
      return disks.filter(state, pod, node) ?? (kept(state, usesKey).areFree ? undefined : claimInUse);
    },
  };
  return withSignature(plugin, noSignature);
}

const diskEvents = [
  { resource: 'Pod', actions: ['Delete'], hint: freesDisk },
  { resource: 'Node', actions: ['Add'] },
] as const;

/** The same without claims: as classic policies have it. */
export function diskRestrictions(): Plugin & Required<Pick<Plugin, 'filter'>> {
  return {
    name: 'VolumeRestrictions',
    eventsToRegister: () => diskEvents,
    preFilter: (_state, { pod }) => (exclusiveVolumes(pod).length === 0 ? 'skip' : undefined),
    filter: (_state, { pod }, { pods }) => {
      const wanted = exclusiveVolumes(pod);
      const conflicts = pods.some((other) => anyConflict(wanted, other.pod.spec?.volumes ?? []));
      return conflicts ? diskConflict : undefined;
    },
  };
}

/** A pod that ends helps where it had one of the pod's disks, or one of its claims. */
function freesDisk(pod: WirePod, before: JsonMembers | undefined): QueueingHint {
  const ended = before as WirePod | undefined;
  if (ended?.metadata?.namespace !== pod.metadata?.namespace) return 'Skip';
  const volumes = ended?.spec?.volumes ?? [];
  if (anyConflict(exclusiveVolumes(pod), volumes)) return 'Queue';
  const claims = new Set(claimNames(pod.spec?.volumes));
  return claimNames(volumes).some((name) => claims.has(name)) ? 'Queue' : 'Skip';
}

function claimNames(volumes: NonNullable<WirePod['spec']>['volumes']): string[] {
  return (volumes ?? []).flatMap(({ persistentVolumeClaim }) => (persistentVolumeClaim ? [persistentVolumeClaim.claimName] : []));
}

type Volume = NonNullable<NonNullable<WirePod['spec']>['volumes']>[number];

/** The volumes of a pod that only so many pods of a node may share. */
function exclusiveVolumes({ spec }: WirePod): readonly Volume[] {
  return spec?.volumes?.filter(isExclusive) ?? [];
}

/** True where two of the volumes are one disk that the two pods may not share. */
function anyConflict(volumes: readonly Volume[], others: readonly Volume[]): boolean {
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
