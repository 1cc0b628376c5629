import type { PodMetadata } from '../../client/pod-client.ts';
import type { WirePod } from '../../wire/types.ts';

/** The part of a pod's metadata that a client returns after a write. */
export function podMetadataOf({ metadata = {} }: WirePod): PodMetadata {
  const { uid = '', resourceVersion = '', deletionTimestamp, finalizers } = metadata;
  return {
    uid,
    resourceVersion,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
}
