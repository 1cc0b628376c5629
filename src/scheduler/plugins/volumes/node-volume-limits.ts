// Behaviour of the plugin nodevolumelimits, v1.36.3, with its default feature gates.
import type { V1VolumeAttachment } from '@kubernetes/client-node';
import type { Wire, WirePersistentVolume, WirePersistentVolumeClaim, WirePod } from '../../../api/json/types.ts';
import type { SpecVolume } from '../../../api/pod/pod-containers.ts';
import { claimNameOf, whyNotOwnClaim } from '../../../api/pod/volume-claims.ts';
import { errorText } from '../../../base/errors.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import type { ObjectLister } from '../../framework/cluster-objects.ts';
import { noSignature, withSignature } from '../../framework/placed-plugin.ts';
import type { ClusterEventWithHint, Plugin, PluginHandle, Rejection } from '../../framework/plugin.ts';
import { refuseArgs } from '../common.ts';
import {
  type InTreeVolumes,
  inTreeProvisioner,
  migratableVolumes,
  migratedVolumes,
  type TranslatedVolume,
  translatedPersistentVolume,
  translatedVolume,
} from './csi-translation.ts';
import { hintWhere, isClaimOf } from './volume-hints.ts';
import { classNameOf } from './volume-matching.ts';
import type { WireCsiNode, WireStorageClass } from './volume-places.ts';

const full: Rejection = { code: 'Unschedulable', reasons: ['node(s) exceed max volume count'] };

/** Rejects nodes where a driver would have more volumes attached than their CSINode says that it can. No arguments. */
export function nodeVolumeLimits(args: unknown, handle: PluginHandle): Plugin {
  refuseArgs('NodeVolumeLimits', args);
  const csiNodes = handle.objects(resources.csiNodes);
  const volumes = new AttachableVolumes(handle);
  const attachments = handle.objects(resources.volumeAttachments).index(({ spec }) => [spec?.nodeName ?? '']);
  const plugin: Plugin = {
    name: 'NodeVolumeLimits',
    eventsToRegister: () => events,
    preFilter: (_state, { pod }) => (pod.spec?.volumes?.some(mayCount) ? undefined : 'skip'),
    filter(_state, { pod }, { name, pods }) {
      const csiNode = csiNodes.get(undefined, name);
      const wanted = volumes.ofNewPod(pod, csiNode);
      if (typeof wanted === 'string') return { code: 'UnschedulableAndUnresolvable', reasons: [wanted] };
      const limits = limitsOf(csiNode);
      if (wanted.size === 0 || limits.size === 0) return undefined;
      const attached = new Map<string, string>();
      for (const other of pods) volumes.addOf(other.pod, csiNode, attached);
      const counts = new Map<string, number>();
      for (const [id, driver] of attached) {
        wanted.delete(id);
        count(counts, driver);
      }
      for (const [id, driver] of volumes.attachedBy(attachments(name))) if (!attached.has(id)) count(counts, driver);
      const added = new Map<string, number>();
      for (const driver of wanted.values()) count(added, driver);
      const isOver = ([driver, more]: readonly [string, number]): boolean =>
        (counts.get(driver) ?? 0) + more > (limits.get(driver) ?? Number.POSITIVE_INFINITY);
      return [...added].some(isOver) ? full : undefined;
    },
  };
  return withSignature(plugin, noSignature);
}

function count(counts: Map<string, number>, driver: string): void {
  counts.set(driver, (counts.get(driver) ?? 0) + 1);
}

function mayCount(volume: SpecVolume): boolean {
  return volume.persistentVolumeClaim != null || volume.ephemeral != null || migratableVolumes(volume) !== undefined;
}

/** Without a number a driver has no limit. A CSINode that cannot be read says of none. */
function limitsOf(csiNode: WireCsiNode | undefined): ReadonlyMap<string, number> {
  const limits = new Map<string, number>();
  try {
    for (const { name, allocatable } of csiNode?.spec?.drivers ?? []) {
      if (allocatable?.count != null) limits.set(name, allocatable.count);
    }
  } catch {
    limits.clear();
  }
  return limits;
}

/** Drivers by what names the volume: `DRIVER/HANDLE`. */
type DriversById = Map<string, string>;

/** Finds the drivers that attach the volumes of pods. */
export class AttachableVolumes {
  readonly #claims: ObjectLister<WirePersistentVolumeClaim>;
  readonly #volumes: ObjectLister<WirePersistentVolume>;
  readonly #classes: ObjectLister<WireStorageClass>;
  readonly #isServed: (kind: InTreeVolumes, csiNode: WireCsiNode | undefined) => boolean;

  /** `isServed`: whether a driver serves this sort of Kubernetes' own volumes on the node. Default: on each that has a CSINode. */
  constructor(
    handle: PluginHandle,
    isServed: (kind: InTreeVolumes, csiNode: WireCsiNode | undefined) => boolean = (_kind, csiNode) => csiNode !== undefined,
  ) {
    this.#isServed = isServed;
    this.#claims = handle.objects(resources.persistentVolumeClaims);
    this.#volumes = handle.objects(resources.persistentVolumes);
    this.#classes = handle.objects(resources.storageClasses);
  }

  /** A text says which claim the pod lacks. Throws Error where a volume cannot be read. */
  ofNewPod(pod: WirePod, csiNode: WireCsiNode | undefined): DriversById | string {
    const found: DriversById = new Map();
    for (const volume of pod.spec?.volumes ?? []) {
      const name = claimNameOf(pod, volume);
      if (name !== undefined && name !== '' && this.#claims.get(pod.metadata?.namespace, name) === undefined) {
        const key = `${pod.metadata?.namespace}/${name}`;
        return `looking up PVC ${key}: persistentvolumeclaim ${JSON.stringify(name)} not found`;
      }
      this.#add(pod, volume, csiNode, found);
    }
    return found;
  }

  /** The volumes of a pod that is on the node. One that cannot be read, or whose claim is gone, does not count: it costs no other pod. */
  addOf(pod: WirePod, csiNode: WireCsiNode | undefined, found: DriversById): void {
    for (const volume of pod.spec?.volumes ?? []) {
      try {
        this.#add(pod, volume, csiNode, found);
      } catch {} // its pod is on the node, whatever becomes of its volumes
    }
  }

  /** What is attached to a node, whichever pod uses it. */
  attachedBy(attachments: readonly Wire<V1VolumeAttachment>[]): DriversById {
    const found: DriversById = new Map();
    for (const { spec } of attachments) {
      const volume = this.#volumes.get(undefined, spec?.source?.persistentVolumeName ?? '');
      const { csi } = volume?.spec ?? {};
      if (spec?.attacher && csi != null) found.set(`${spec.attacher}/${csi.volumeHandle}`, spec.attacher);
    }
    return found;
  }

  #add(pod: WirePod, volume: SpecVolume, csiNode: WireCsiNode | undefined, found: DriversById): void {
    const name = claimNameOf(pod, volume);
    if (name === undefined) {
      addTo(found, ownVolume(volume, csiNode));
      return;
    }
    if (name === '') throw new Error('PersistentVolumeClaim had no name');
    const claim = this.#claims.get(pod.metadata?.namespace, name);
    if (claim === undefined) return;
    const problem = volume.persistentVolumeClaim == null ? whyNotOwnClaim(pod, claim) : undefined;
    if (problem !== undefined) throw new Error(problem);
    const claimed = this.ofClaim(claim, csiNode);
    if (claimed?.handle) addTo(found, claimed);
  }

  /** The claim's volume as its driver sees it; undefined where none attaches it. */
  ofClaim(claim: WirePersistentVolumeClaim, csiNode: WireCsiNode | undefined): TranslatedVolume | undefined {
    const { volumeName } = claim.spec ?? {};
    const volume = volumeName ? this.#volumes.get(undefined, volumeName) : undefined;
    if (volume === undefined) return this.#toBeMade(claim, csiNode);
    const { csi } = volume.spec ?? {};
    if (csi != null) return { driver: csi.driver, handle: csi.volumeHandle };
    const kind = volume.spec && migratedVolumes(volume.spec);
    if (kind === undefined || !this.#isServed(kind, csiNode)) return undefined;
    try {
      return translatedPersistentVolume(kind, volume);
    } catch {
      return undefined; // it is not counted
    }
  }

  /** A volume that is to be made counts by its claim's name, which no driver gives a volume. */
  #toBeMade(claim: WirePersistentVolumeClaim, csiNode: WireCsiNode | undefined): TranslatedVolume | undefined {
    const provisioner = this.#classes.get(undefined, classNameOf(claim))?.provisioner;
    if (!provisioner) return undefined;
    const { namespace, name } = claim.metadata ?? {};
    const handle = `claim:${namespace}/${name}`;
    const kind = inTreeProvisioner(provisioner);
    if (kind === undefined) return { driver: provisioner, handle };
    return kind.isMigrated && this.#isServed(kind, csiNode) ? { driver: kind.driver, handle } : undefined;
  }
}

function addTo(found: DriversById, volume: TranslatedVolume | undefined): void {
  if (volume !== undefined) found.set(`${volume.driver}/${volume.handle}`, volume.driver);
}

/** A disk that stands in the pod itself, where a driver serves it. */
function ownVolume(volume: SpecVolume, csiNode: WireCsiNode | undefined): TranslatedVolume | undefined {
  const kind = csiNode && migratedVolumes(volume);
  if (kind === undefined) return undefined;
  try {
    return translatedVolume(kind, volume);
  } catch (cause) {
    throw new Error(`converting volume(${volume.name}) from inline to csi: ${errorText(cause)}`, { cause });
  }
}

const events: readonly ClusterEventWithHint[] = [
  { resource: 'CSINode', actions: ['Add'] },
  { resource: 'CSINode', actions: ['Update'], hint: hintWhere<WireCsiNode>((_pod, before, after) => hasMoreRoom(before, after)) },
  { resource: 'Pod', actions: ['Delete'], hint: hintWhere<WirePod>((_pod, _before, gone) => mayFreeRoom(gone)) },
  {
    resource: 'PersistentVolumeClaim',
    actions: ['Add'],
    hint: hintWhere<WirePersistentVolumeClaim>((pod, _before, claim) => isClaimOf(pod, claim)),
  },
  {
    resource: 'VolumeAttachment',
    actions: ['Delete'],
    hint: hintWhere<Wire<V1VolumeAttachment>>((pod, _before, gone) => mayNeed(pod, gone)),
  },
];

/** Without a number a driver counts as one without room. */
function hasMoreRoom(before: WireCsiNode | undefined, after: WireCsiNode): boolean {
  const was = new Map((before?.spec?.drivers ?? []).map(({ name, allocatable }) => [name, allocatable?.count ?? 0]));
  return (after.spec?.drivers ?? []).some(({ name, allocatable }) => (allocatable?.count ?? 0) > (was.get(name) ?? 0));
}

function mayFreeRoom({ spec, status }: WirePod): boolean {
  if (!spec?.nodeName && !status?.nominatedNodeName) return false;
  return (spec?.volumes ?? []).some(mayCount);
}

/** A claim may be what the pod waits for, or a disk of the driver that was attached, or one that no driver could serve. */
function mayNeed(pod: WirePod, { spec: gone }: Wire<V1VolumeAttachment>): boolean {
  return (pod.spec?.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim != null) return true;
    const kind = migratableVolumes(volume);
    return kind !== undefined && (kind.driver === gone?.attacher || !canBeServed(kind, volume));
  });
}

function canBeServed(kind: InTreeVolumes, volume: SpecVolume): boolean {
  try {
    translatedVolume(kind, volume);
    return true;
  } catch {
    return false;
  }
}
