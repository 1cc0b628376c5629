import type { WirePod } from '../../api/json/types.ts';
import type { PodMetadata } from '../../client/resources/pod-client.ts';

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
