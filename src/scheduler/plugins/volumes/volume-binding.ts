// Behaviour of the plugin volumebinding, v1.36.3, with its default feature gates.
import { isDeepStrictEqual } from 'node:util';
import type { WirePersistentVolumeClaim, WirePod } from '../../../api/json/types.ts';
import type { SpecVolume } from '../../../api/pod/pod-containers.ts';
import { claimNameOf, whyNotOwnClaim } from '../../../api/pod/volume-claims.ts';
import { integerOption, longestTimerMs, requireKnownOptions } from '../../../base/options.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import { type CycleState, type StateData, stateKey } from '../../framework/cycle-state.ts';
import { noSignature, withSignature } from '../../framework/placed-plugin.ts';
import {
  type ClusterEventWithHint,
  type Plugin,
  type PluginHandle,
  type PreFilterAnswer,
  type Rejection,
  type SharedKey,
  sharedKey,
} from '../../framework/plugin.ts';
import { kept } from '../common.ts';
import { AssumedObjects } from './assumed-objects.ts';
import { mostBytes, StorageCapacities, type WireStorageCapacity } from './storage-capacity.ts';
import { awaitedClaims, type ReservedVolumes, VolumeBinder } from './volume-binder.ts';
import { type FoundVolumes, podClaims, type StorageView, VolumeFinder } from './volume-finder.ts';
import { hintWhere, isClaimOf } from './volume-hints.ts';
import { classNameOf, VolumeSizes } from './volume-matching.ts';
import { migratedNote, VolumePlaces, type WireCsiNode, type WireStorageClass } from './volume-places.ts';

const volumesKey = stateKey<PodVolumeState>('VolumeBinding');

/** What is known of the volumes of the pod that is scheduled. What-if questions change nothing of it. */
class PodVolumeState implements StateData<PodVolumeState> {
  /** Undefined once the pod has its node. */
  volumes: VolumeFinder | undefined;
  readonly byNode = new Map<string, FoundVolumes>();
  reserved: ReservedVolumes | undefined;

  constructor(volumes: VolumeFinder) {
    this.volumes = volumes;
  }

  /** A pod may wait for minutes: only what was taken for it is kept. */
  forgetNodes(): void {
    this.volumes = undefined;
    this.byNode.clear();
  }

  clone(): PodVolumeState {
    return this;
  }
}

/** The storage of the cluster, and the volumes that pods of all profiles have taken. */
interface Storage {
  readonly view: StorageView;
  readonly binder: VolumeBinder;
}

const storageKey: SharedKey<Storage> = sharedKey('VolumeBinding');

function storageOf(handle: PluginHandle): Storage {
  return handle.shared(storageKey, () => {
    const objects = {
      claims: handle.objects(resources.persistentVolumeClaims),
      volumes: handle.objects(resources.persistentVolumes),
    };
    const volumes = new AssumedObjects(objects.volumes);
    const byClass = objects.volumes.index((volume) => [classNameOf(volume)]);
    const view: StorageView = {
      claims: new AssumedObjects(objects.claims),
      volumes,
      // nobody here changes the class of a volume
      volumesOfClass: (className) => byClass(className).map((volume) => volumes.current(volume)),
      classes: handle.objects(resources.storageClasses),
      csiNodes: handle.objects(resources.csiNodes),
      capacities: new StorageCapacities(handle.objects(resources.csiDrivers), handle.objects(resources.csiStorageCapacities)),
      places: new VolumePlaces(),
      sizes: new VolumeSizes(),
    };
    const { client, clock } = handle;
    const binder = new VolumeBinder({ view, client, clock, node: (name) => handle.node(name) });
    objects.claims.onChange((before, after) => binder.claimChanged(after ?? before ?? {}));
    objects.volumes.onChange((before, after) => binder.volumeChanged(after ?? before ?? {}));
    return { view, binder };
  });
}

/** What of volume binding depends on the version of Kubernetes that is followed. */
export interface VolumeBindingRules {
  /** Where volumes can be used. Default: as the newest version sees it. */
  readonly places?: VolumePlaces;
  /** Why a claim of the pod cannot be used at all; `claim` is undefined where the cluster has none of this name. */
  whyNotUsable(pod: WirePod, volume: SpecVolume, name: string, claim: WirePersistentVolumeClaim | undefined): string | undefined;
  /** What is said of a node with one of the `conflicts`. */
  reasonFor(conflict: string): string;
}

const newestRules: VolumeBindingRules = { whyNotUsable, reasonFor: (conflict) => conflict };

/** So long a pod waits for its volumes by default, in seconds. */
const defaultBindTimeoutSeconds = 600;

/**
 * Rejects nodes that the volumes of a pod's claims cannot reach, takes volumes for claims that wait for the pod's node, or has them made
 * there, and lets the pod be bound once all its claims are. Takes kube-scheduler's argument `bindTimeoutSeconds`.
 */
export function volumeBinding(args: unknown, handle: PluginHandle): Plugin {
  return volumeBindingBy(newestRules, args, handle);
}

/** The same by the rules of another version. All of one scheduler share what is assumed of volumes and claims. */
export function volumeBindingBy(rules: VolumeBindingRules, args: unknown, handle: PluginHandle): Plugin {
  const bindTimeoutSeconds = bindTimeoutOf(args);
  const { view: whole, binder } = storageOf(handle);
  const view: StorageView = { ...whole, places: rules.places ?? whole.places };
  const plugin: Plugin = {
    name: 'VolumeBinding',
    preBindTimeoutMs: Math.min(bindTimeoutSeconds * 1000, longestTimerMs),
    eventsToRegister: () => events,
    preFilter(state, { pod }): PreFilterAnswer {
      const found = whyNoClaims(pod, view, rules);
      if (found === 'no claims') return 'skip';
      if (found !== undefined) return { code: 'UnschedulableAndUnresolvable', reasons: [found] };
      const claims = podClaims(pod, view);
      if (claims.unboundImmediate.length > 0) return unboundImmediate;
      if (claims.unbound.length > 0 && handle.client.patchObject === undefined) return cannotBind;
      state.write(volumesKey, new PodVolumeState(new VolumeFinder(claims, view)));
      return undefined;
    },
    filter(state, _pod, { name, node }) {
      const { volumes, byNode } = kept(state, volumesKey);
      if (volumes === undefined) throw new Error('the pod has its node already');
      const found = volumes.on(node);
      if (!('bindings' in found)) return { code: 'UnschedulableAndUnresolvable', reasons: found.map(rules.reasonFor) };
      byNode.set(name, found);
      return undefined;
    },
    reserve(state, { pod }, nodeName) {
      const data = state.read(volumesKey);
      const volumes = data?.byNode.get(nodeName);
      if (data !== undefined && volumes !== undefined) {
        data.reserved = binder.reserve(pod, nodeName, volumes, view.places);
      }
      return undefined;
    },
    unreserve(state) {
      const reserved = reservedVolumes(state);
      if (reserved !== undefined) binder.unreserve(reserved);
    },
    preBindPreFlight(state) {
      state.read(volumesKey)?.forgetNodes();
      return reservedVolumes(state) === undefined ? 'skip' : undefined;
    },
    async preBind(state, _pod, _nodeName, signal) {
      const reserved = reservedVolumes(state);
      if (reserved !== undefined) await binder.bind(reserved, signal);
      return undefined;
    },
    preBindWaitsFor(state) {
      const reserved = reservedVolumes(state);
      return reserved && `the volumes of ${awaitedClaims(reserved)}`;
    },
  };
  return withSignature(plugin, noSignature);
}

/** What was taken for the pod; undefined where all its claims are bound, or it has none. */
export function reservedVolumes(state: CycleState): ReservedVolumes | undefined {
  return state.read(volumesKey)?.reserved;
}

const unboundImmediate: Rejection = {
  code: 'UnschedulableAndUnresolvable',
  reasons: ['pod has unbound immediate PersistentVolumeClaims'],
};

const cannotBind: Rejection = {
  code: 'UnschedulableAndUnresolvable',
  reasons: [
    "the pod's PersistentVolumeClaims wait for its node, and the scheduler's client has no method patchObject, which binds them",
  ],
};

function bindTimeoutOf(args: unknown): number {
  const given = args ?? {};
  requireKnownOptions('VolumeBinding', given, ['apiVersion', 'kind', 'bindTimeoutSeconds']);
  const { bindTimeoutSeconds } = given as { readonly bindTimeoutSeconds?: unknown };
  if (bindTimeoutSeconds == null) return defaultBindTimeoutSeconds;
  return integerOption('VolumeBinding.bindTimeoutSeconds', bindTimeoutSeconds, 0);
}

/** Why a claim of the pod cannot be used at all; undefined where all can be. */
function whyNoClaims(pod: WirePod, { claims }: StorageView, rules: VolumeBindingRules): string | undefined {
  let has = false;
  for (const volume of pod.spec?.volumes ?? []) {
    const name = claimNameOf(pod, volume);
    if (name === undefined) continue;
    has = true;
    const problem = rules.whyNotUsable(pod, volume, name, claims.stored(pod.metadata?.namespace, name));
    if (problem !== undefined) return problem;
  }
  return has ? undefined : 'no claims';
}

function whyNotUsable(
  pod: WirePod,
  volume: SpecVolume,
  name: string,
  claim: WirePersistentVolumeClaim | undefined,
): string | undefined {
  const isEphemeral = volume.persistentVolumeClaim == null;
  const quoted = JSON.stringify(name);
  if (claim === undefined) {
    if (!isEphemeral) return `persistentvolumeclaim ${quoted} not found`;
    return `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}`;
  }
  const { metadata, spec, status } = claim;
  if (status?.phase === 'Lost')
    return `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${JSON.stringify(spec?.volumeName ?? '')}`;
  if (metadata?.deletionTimestamp != null) return `persistentvolumeclaim ${quoted} is being deleted`;
  return isEphemeral ? whyNotOwnClaim(pod, claim) : undefined;
}

const events: readonly ClusterEventWithHint[] = [
  { resource: 'StorageClass', actions: ['Add', 'Update'], hint: hintWhere<WireStorageClass>(opensClass) },
  {
    resource: 'PersistentVolumeClaim',
    actions: ['Add', 'Update'],
    hint: hintWhere<WirePersistentVolumeClaim>((pod, _before, claim) => isClaimOf(pod, claim)),
  },
  { resource: 'PersistentVolume', actions: ['Add', 'Update'] },
  { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
  {
    resource: 'CSINode',
    actions: ['Add', 'Update'],
    hint: hintWhere<WireCsiNode>((_pod, before, after) => before === undefined || migratedNote(before) !== migratedNote(after)),
  },
  {
    resource: 'CSIDriver',
    actions: ['Update'],
    hint: hintWhere<DriverParts>(
      (pod, before, after) => needsDriver(pod, after) && countsCapacity(before) && !countsCapacity(after),
    ),
  },
  { resource: 'CSIStorageCapacity', actions: ['Add', 'Update'], hint: hintWhere<WireStorageCapacity>(hasMoreRoom) },
];

/** What of a CSIDriver counts here. */
interface DriverParts {
  readonly metadata?: { readonly name?: string };
  readonly spec?: { readonly storageCapacity?: boolean };
}

/** How volumes are bound never changes. */
function opensClass(_pod: WirePod, before: WireStorageClass | undefined, after: WireStorageClass): boolean {
  return before === undefined || !isDeepStrictEqual(before.allowedTopologies ?? [], after.allowedTopologies ?? []);
}

function needsDriver({ spec }: WirePod, { metadata }: DriverParts): boolean {
  return (spec?.volumes ?? []).some(({ csi }) => csi != null && csi.driver === metadata?.name);
}

function countsCapacity(driver: DriverParts | undefined): boolean {
  return driver?.spec?.storageCapacity === true;
}

function hasMoreRoom(_pod: WirePod, before: WireStorageCapacity | undefined, after: WireStorageCapacity): boolean {
  if (before === undefined) return true;
  const [was, is] = [mostBytes(before), mostBytes(after)];
  return is !== undefined && (was === undefined || is > was);
}
