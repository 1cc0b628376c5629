// Behaviour of component-helpers/storage/volume, v0.36.3.
import type { WireNode, WirePersistentVolume, WirePersistentVolumeClaim } from '../../../api/json/types.ts';
import { isQuantity, quantityInNano } from '../../../api/quantity/quantity-arithmetic.ts';
import { type LabelSelector, labelOf, parseLabelSelector } from '../../../api/selectors/label-selector.ts';
import { invalidArgument } from '../../../base/errors.ts';
import type { VolumePlaces } from './volume-places.ts';
import { VolumesByNode } from './volumes-by-node.ts';

const oldClass = 'volume.beta.kubernetes.io/storage-class';
const bindCompleted = 'pv.kubernetes.io/bind-completed';
const boundByController = 'pv.kubernetes.io/bound-by-controller';
/** What a claim says of the node for which its volume is made. */
export const selectedNodeKey = 'volume.kubernetes.io/selected-node';

/** The name of the class; empty for none. */
export function classNameOf({ metadata, spec }: WirePersistentVolume | WirePersistentVolumeClaim): string {
  return labelOf(metadata?.annotations, oldClass) ?? spec?.storageClassName ?? '';
}

/** The node for which the claim's volume is made; undefined where none was chosen. */
export function selectedNodeOf({ metadata }: WirePersistentVolumeClaim): string | undefined {
  return labelOf(metadata?.annotations, selectedNodeKey);
}

/** True where the claim has its volume, and whoever binds them has finished. */
export function isFullyBound({ metadata, spec }: WirePersistentVolumeClaim): boolean {
  return Boolean(spec?.volumeName) && labelOf(metadata?.annotations, bindCompleted) !== undefined;
}

/** `namespace/name`. */
export function claimKeyOf({ metadata }: WirePersistentVolumeClaim): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}

/** True where the volume says that it belongs to this claim. */
function isBoundTo({ spec }: WirePersistentVolume, { metadata: claim }: WirePersistentVolumeClaim): boolean {
  const { claimRef } = spec ?? {};
  if (claimRef == null || claimRef.name !== claim?.name || claimRef.namespace !== claim?.namespace) return false;
  return !claimRef.uid || claimRef.uid === claim?.uid;
}

/** What changes so that the volume belongs to the claim, as a merge patch; undefined where nothing does. */
export function bindingPatch(volume: WirePersistentVolume, claim: WirePersistentVolumeClaim): VolumePatch | undefined {
  const { claimRef } = volume.spec ?? {};
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = claim.metadata ?? {};
  const isNamed = claimRef?.name === name && claimRef?.namespace === namespace && claimRef?.uid === uid;
  const isMarked = isBoundTo(volume, claim) || labelOf(volume.metadata?.annotations, boundByController) !== undefined;
  if (isNamed && isMarked) return undefined;
  const ref = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion };
  return {
    ...(!isMarked && { metadata: { annotations: { [boundByController]: 'yes' } } }),
    ...(!isNamed && { spec: { claimRef: ref } }),
  };
}

/** What is to change of a volume. */
export interface VolumePatch {
  readonly metadata?: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec?: { readonly claimRef: NonNullable<NonNullable<WirePersistentVolume['spec']>['claimRef']> };
}

/** The volume after the patch. */
export function patchedVolume(volume: WirePersistentVolume, { metadata, spec }: VolumePatch): WirePersistentVolume {
  const annotations = metadata && { annotations: { ...volume.metadata?.annotations, ...metadata.annotations } };
  return {
    ...volume,
    metadata: { ...volume.metadata, ...annotations },
    ...(spec && { spec: { ...volume.spec, claimRef: { ...volume.spec?.claimRef, ...spec.claimRef } } }),
  };
}

/** The volumes that a claim could have, on whatever node. */
export interface FittingVolumes {
  readonly claim: WirePersistentVolumeClaim;
  /** How much the claim asks for, in billionths of a byte. */
  readonly size: bigint;
  /** It was set aside for the claim, which takes no other one then. */
  readonly own: WirePersistentVolume | undefined;
  /** Those that are free, the smallest first. */
  readonly free: VolumesByNode;
}

/**
 * Of the volumes of the claim's class. One that cannot be read fits no claim. Throws ERR_INVALID_ARGUMENT for a size that is no quantity, and
 * for a selector that breaks a rule.
 */
export function fittingVolumes(
  claim: WirePersistentVolumeClaim,
  volumes: readonly WirePersistentVolume[],
  { sizes, places }: { readonly sizes: VolumeSizes; readonly places: VolumePlaces },
): FittingVolumes {
  const { selector: given, resources } = claim.spec ?? {};
  const size = inNano('spec.resources.requests.storage', resources?.requests?.storage ?? '0');
  const selector = given == null ? undefined : parseLabelSelector('spec.selector', given);
  let own: WirePersistentVolume | undefined;
  const free: { readonly volume: WirePersistentVolume; readonly capacity: bigint }[] = [];
  for (const volume of volumes) {
    try {
      const isOwn = isBoundTo(volume, claim);
      if (volume.spec?.claimRef != null && !isOwn) continue;
      const capacity = sizes.of(volume);
      if (capacity < size || !suits(volume, claim)) continue;
      if (isOwn) own ??= volume;
      else if (isFree(volume, claim, selector)) free.push({ volume, capacity });
    } catch {} // it costs no other volume
  }
  free.sort((one, other) => compareBigInts(one.capacity, other.capacity));
  const sorted = free.map(({ volume }) => volume);
  return { claim, size, own, free: new VolumesByNode(sorted, (volume) => places.pinOf(volume)) };
}

/** The volume for the claim on the node; undefined for none. `taken` are the names of those for other claims of the pod. */
export function matchingVolume(
  { own, free }: FittingVolumes,
  node: WireNode,
  { taken, places }: { readonly taken: ReadonlySet<string>; readonly places: VolumePlaces },
): WirePersistentVolume | undefined {
  if (own !== undefined) return places.reaches(own, node) ? own : undefined;
  for (const volume of free.near(node)) {
    if (!taken.has(volume.metadata?.name ?? '') && places.reaches(volume, node)) return volume;
  }
  return undefined;
}

/** How large volumes are. An object never changes, so each is read once. */
export class VolumeSizes {
  readonly #known = new WeakMap<WirePersistentVolume, bigint>();

  /** In billionths of a byte. Throws ERR_INVALID_ARGUMENT for what is no quantity. */
  of(volume: WirePersistentVolume): bigint {
    let size = this.#known.get(volume);
    if (size === undefined) {
      size = inNano('spec.capacity.storage', volume.spec?.capacity?.storage ?? '0');
      this.#known.set(volume, size);
    }
    return size;
  }
}

/** Throws ERR_INVALID_ARGUMENT for what is no quantity; `path` names it. */
function inNano(path: string, quantity: unknown): bigint {
  if (typeof quantity !== 'string' || !isQuantity(quantity)) throw invalidArgument(path, 'a quantity', quantity);
  return quantityInNano(quantity.trim());
}

/** Below 0 where the first one is smaller. */
export function compareBigInts(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other);
}

/** What also counts for a volume that was set aside for the claim. */
function suits({ metadata, spec }: WirePersistentVolume, { spec: claim }: WirePersistentVolumeClaim): boolean {
  const isSameMode = (spec?.volumeMode ?? 'Filesystem') === (claim?.volumeMode ?? 'Filesystem');
  const isSameQuality = (spec?.volumeAttributesClassName ?? '') === (claim?.volumeAttributesClassName ?? '');
  return isSameMode && isSameQuality && metadata?.deletionTimestamp == null;
}

function isFree(volume: WirePersistentVolume, claim: WirePersistentVolumeClaim, selector: LabelSelector | undefined): boolean {
  if (volume.status?.phase !== 'Available' || classNameOf(volume) !== classNameOf(claim)) return false;
  if (selector !== undefined && !selector.matches(volume.metadata?.labels)) return false;
  const modes = volume.spec?.accessModes ?? [];
  return (claim.spec?.accessModes ?? []).every((mode) => modes.includes(mode));
}
