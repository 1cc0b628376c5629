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

/** A pod as callers and pod managers hold it: a client-node object or plain JSON. */
export type Pod = Loose<V1Pod>;
/** A pod status as callers hand it in. */
export type PodStatus = Loose<V1PodStatus>;

export type WirePod = Wire<V1Pod>;
export type WirePodStatus = Wire<V1PodStatus>;
export type WirePodCondition = Wire<V1PodCondition>;
export type WireContainerStatus = NonNullable<WirePodStatus['containerStatuses']>[number];

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
