import type {
  V1ContainerImage,
  V1Lease,
  V1Node,
  V1NodeAddress,
  V1NodeCondition,
  V1NodeDaemonEndpoints,
  V1NodeFeatures,
  V1NodeRuntimeHandler,
  V1NodeSystemInfo,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodCondition,
  V1PodStatus,
  V1Taint,
} from '@kubernetes/client-node';

/** A value as it stands in JSON: times are RFC 3339 strings, never `Date`. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer E)[]
    ? Wire<E>[]
    : T extends object
      ? { [K in keyof T]: Wire<T[K]> }
      : T;

/** A value as users hand it in: wherever client-node's classes carry a `Date`, an RFC 3339 string or null (as Go writes it) does too. */
export type Loose<T> = T extends Date
  ? Date | string | null
  : T extends readonly (infer E)[]
    ? readonly Loose<E>[]
    : T extends object
      ? { readonly [K in keyof T]: object extends Pick<T, K> ? Loose<T[K]> | undefined : Loose<T[K]> }
      : T;

// These are interfaces, so that a compiler's message and an editor show their names and not all their fields.

/** A pod as callers and pod managers hold it: an object of client-node's `V1Pod`, or plain JSON. */
export interface Pod extends Loose<V1Pod> {}
/** A pod status as callers hand it in: client-node's `V1PodStatus`, or plain JSON. */
export interface PodStatus extends Loose<V1PodStatus> {}

export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
export type PodCondition = NonNullable<PodStatus['conditions']>[number];

/** A pod as it stands in JSON. */
export interface WirePod extends Wire<V1Pod> {}
/** A pod status as it stands in JSON. */
export interface WirePodStatus extends Wire<V1PodStatus> {}
/** A pod condition as it stands in JSON. */
export interface WirePodCondition extends Wire<V1PodCondition> {}
/** A container status as it stands in JSON. */
export type WireContainerStatus = NonNullable<WirePodStatus['containerStatuses']>[number];
export type WireContainerState = NonNullable<WireContainerStatus['state']>;

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

export interface WireNode extends Wire<V1Node> {}
export interface WireNodeCondition extends Wire<V1NodeCondition> {}
export interface WireNodeAddress extends Wire<V1NodeAddress> {}
export interface WireNodeSystemInfo extends Wire<V1NodeSystemInfo> {}
export interface WireNodeDaemonEndpoints extends Wire<V1NodeDaemonEndpoints> {}
export interface WireContainerImage extends Wire<V1ContainerImage> {}
export interface WireNodeFeatures extends Wire<V1NodeFeatures> {}
export interface WireNodeRuntimeHandler extends Wire<V1NodeRuntimeHandler> {}
export interface WireTaint extends Wire<V1Taint> {}
export interface WireLease extends Wire<V1Lease> {}
export interface WirePersistentVolume extends Wire<V1PersistentVolume> {}
export interface WirePersistentVolumeClaim extends Wire<V1PersistentVolumeClaim> {}
