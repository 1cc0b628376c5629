import type { V1Pod, V1PodCondition, V1PodStatus } from '@kubernetes/client-node';

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

/** A pod as it stands in JSON. */
export interface WirePod extends Wire<V1Pod> {}
/** A pod status as it stands in JSON. */
export interface WirePodStatus extends Wire<V1PodStatus> {}
/** A pod condition as it stands in JSON. */
export interface WirePodCondition extends Wire<V1PodCondition> {}
/** A container status as it stands in JSON. */
export type WireContainerStatus = NonNullable<WirePodStatus['containerStatuses']>[number];

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A JSON object. */
export type JsonObject = { [key: string]: Json };
