// Behaviour of the volume binder of the plugin volumebinding, v1.36.3: what a pod's claims need of a node.
import type { WireNode, WirePersistentVolume, WirePersistentVolumeClaim, WirePod } from '../../../api/json/types.ts';
import { claimNameOf, whyNotOwnClaim } from '../../../api/pod/volume-claims.ts';
import { errorText } from '../../../base/errors.ts';
import type { ObjectLister } from '../../framework/cluster-objects.ts';
import type { AssumedObjects } from './assumed-objects.ts';
import type { StorageCapacities } from './storage-capacity.ts';
import {
  claimKeyOf,
  classNameOf,
  compareBigInts,
  type FittingVolumes,
  fittingVolumes,
  isFullyBound,
  matchingVolume,
  selectedNodeOf,
  type VolumeSizes,
} from './volume-matching.ts';
import type { VolumePlaces, WireCsiNode, WireStorageClass } from './volume-places.ts';

/** What is known of the cluster's storage. */
export interface StorageView {
  readonly claims: AssumedObjects<WirePersistentVolumeClaim>;
  readonly volumes: AssumedObjects<WirePersistentVolume>;
  /** The volumes of a class, assumed ones as they are assumed. */
  readonly volumesOfClass: (className: string) => readonly WirePersistentVolume[];
  readonly classes: ObjectLister<WireStorageClass>;
  readonly csiNodes: ObjectLister<WireCsiNode>;
  readonly capacities: StorageCapacities;
  readonly places: VolumePlaces;
  readonly sizes: VolumeSizes;
}

/** The claims of a pod, by what is to be done with them. */
export interface PodClaims {
  readonly bound: readonly WirePersistentVolumeClaim[];
  /** They wait for the pod's node. */
  readonly unbound: readonly WirePersistentVolumeClaim[];
  /** They should have a volume, and have none. */
  readonly unboundImmediate: readonly WirePersistentVolumeClaim[];
  /** The volumes of the classes of `unbound`. */
  readonly volumesByClass: ReadonlyMap<string, readonly WirePersistentVolume[]>;
}

/** Throws Error where a claim or its class cannot be read. */
export function podClaims(pod: WirePod, view: StorageView): PodClaims {
  const [bound, unbound, unboundImmediate]: WirePersistentVolumeClaim[][] = [[], [], []];
  // a claim that the pod names twice gets one volume
  for (const claim of new Set(claimsOf(pod, view))) {
    if (isFullyBound(claim)) bound?.push(claim);
    // a claim that names its volume is bound by whoever binds volumes
    else if (waitsForConsumer(claim, view) && !claim.spec?.volumeName) unbound?.push(claim);
    else unboundImmediate?.push(claim);
  }
  const classNames = new Set((unbound ?? []).map(classNameOf));
  const volumesByClass = new Map(Array.from(classNames, (name) => [name, view.volumesOfClass(name)] as const));
  return { bound: bound ?? [], unbound: unbound ?? [], unboundImmediate: unboundImmediate ?? [], volumesByClass };
}

/** True where each claim of the pod has its volume. */
export function isAllBound(pod: WirePod, view: StorageView): boolean {
  try {
    return claimsOf(pod, view).every(isFullyBound);
  } catch {
    return false;
  }
}

function claimsOf(pod: WirePod, { claims }: StorageView): WirePersistentVolumeClaim[] {
  const { namespace } = pod.metadata ?? {};
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    const name = claimNameOf(pod, volume);
    if (name === undefined) return [];
    const claim = claims.get(namespace, name);
    if (claim === undefined) {
      const key = `${namespace}/${name}`;
      throw new Error(`error getting PVC ${JSON.stringify(key)}: persistentvolumeclaims ${JSON.stringify(key)} not found`);
    }
    const problem = volume.ephemeral == null ? undefined : whyNotOwnClaim(pod, claim);
    if (problem !== undefined) throw new Error(problem);
    return [claim];
  });
}

function waitsForConsumer(claim: WirePersistentVolumeClaim, { classes }: StorageView): boolean {
  const className = classNameOf(claim);
  if (className === '') return false;
  const found = classes.get(undefined, className);
  if (found === undefined) return false;
  if (found.volumeBindingMode == null) throw new Error(`VolumeBindingMode not set for StorageClass ${JSON.stringify(className)}`);
  return found.volumeBindingMode === 'WaitForFirstConsumer';
}

/** What is to be done so that the pod's claims have volumes on a node. */
export interface FoundVolumes {
  /** Claims, and the volumes that are there for them. */
  readonly bindings: readonly { readonly claim: WirePersistentVolumeClaim; readonly volume: WirePersistentVolume }[];
  /** Claims whose volumes are to be made. */
  readonly provisions: readonly WirePersistentVolumeClaim[];
}

/** Why a node cannot be used, in the words of kube-scheduler, in its order. */
export const conflicts = {
  otherNode: "node(s) didn't match PersistentVolume's node affinity",
  noVolume: "node(s) didn't find available persistent volumes to bind",
  noRoom: 'node(s) did not have enough free storage',
  volumeGone: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
} as const;

/** Looks at one node after another for the claims of one pod. */
export class VolumeFinder {
  readonly #claims: PodClaims;
  readonly #view: StorageView;
  #fitting: readonly FittingVolumes[] | undefined;

  constructor(claims: PodClaims, view: StorageView) {
    this.#claims = claims;
    this.#view = view;
  }

  /** What is to be done on this node, or why it cannot be used. Throws Error where a claim, its class or a volume cannot be read. */
  on(node: WireNode): FoundVolumes | readonly string[] {
    const reasons: string[] = [];
    const bound = this.#boundConflict(node);
    if (bound === conflicts.otherNode) reasons.push(bound);
    const found = this.#forUnbound(node);
    if (typeof found === 'string') reasons.push(found);
    if (bound === conflicts.volumeGone) reasons.push(bound);
    return reasons.length > 0 || typeof found === 'string' ? reasons : found;
  }

  #boundConflict(node: WireNode): string | undefined {
    const { volumes, csiNodes, places } = this.#view;
    const csiNode = csiNodes.get(undefined, node.metadata?.name ?? '');
    for (const { spec } of this.#claims.bound) {
      const volume = volumes.get(undefined, spec?.volumeName ?? '');
      if (volume === undefined) return conflicts.volumeGone;
      if (!places.reachesAsServed(volume, node, csiNode)) return conflicts.otherNode;
    }
    return undefined;
  }

  #forUnbound(node: WireNode): FoundVolumes | string {
    const { unbound } = this.#claims;
    if (unbound.length === 0) return { bindings: [], provisions: [] };
    const selected = unbound.filter((claim) => selectedNodeOf(claim) !== undefined);
    if (selected.some((claim) => selectedNodeOf(claim) !== node.metadata?.name)) return conflicts.noVolume;
    const { bindings, unmatched } = this.#match(node);
    const provisions = [...selected, ...unmatched];
    return this.#provisionConflict(provisions, node) ?? { bindings, provisions };
  }

  /** The smallest claims choose first. */
  #match(node: WireNode): {
    readonly bindings: FoundVolumes['bindings'];
    readonly unmatched: readonly WirePersistentVolumeClaim[];
  } {
    const taken = new Set<string>();
    const bindings: FoundVolumes['bindings'][number][] = [];
    const unmatched: WirePersistentVolumeClaim[] = [];
    for (const fitting of this.#toMatch()) {
      const volume = matchingVolume(fitting, node, { taken, places: this.#view.places });
      if (volume === undefined) unmatched.push(fitting.claim);
      else {
        taken.add(volume.metadata?.name ?? '');
        bindings.push({ claim: fitting.claim, volume });
      }
    }
    return { bindings, unmatched };
  }

  /** Worked out once for all nodes. */
  #toMatch(): readonly FittingVolumes[] {
    this.#fitting ??= this.#claims.unbound
      .filter((claim) => selectedNodeOf(claim) === undefined)
      .map((claim) => this.#fittingOf(claim))
      .toSorted((one, other) => compareBigInts(one.size, other.size));
    return this.#fitting;
  }

  #fittingOf(claim: WirePersistentVolumeClaim): FittingVolumes {
    try {
      return fittingVolumes(claim, this.#claims.volumesByClass.get(classNameOf(claim)) ?? [], this.#view);
    } catch (cause) {
      const key = claimKeyOf(claim);
      throw new Error(`error creating internal label selector for claim: ${key}: ${errorText(cause)}`, { cause });
    }
  }

  #provisionConflict(claims: readonly WirePersistentVolumeClaim[], node: WireNode): string | undefined {
    for (const claim of claims) {
      const className = classNameOf(claim);
      if (className === '') throw new Error(`no class for claim ${JSON.stringify(claimKeyOf(claim))}`);
      const found = this.#view.classes.get(undefined, className);
      if (found === undefined) throw new Error(`failed to find storage class ${JSON.stringify(className)}`);
      if (!found.provisioner || found.provisioner === 'kubernetes.io/no-provisioner') return conflicts.noVolume;
      if (!this.#view.places.allows(found, node)) return conflicts.noVolume;
      if (!this.#view.capacities.isEnough(claim, found, node)) return conflicts.noRoom;
    }
    return undefined;
  }
}
