import type { PodMetadata } from '../api/pod-client.ts';
import type { WirePod } from '../api/wire.ts';

/** What a client hands on of the pod a request left. */
export function podMetadataOf({ metadata = {} }: WirePod): PodMetadata {
  const { uid = '', resourceVersion = '', deletionTimestamp, finalizers } = metadata;
  return {
    uid,
    resourceVersion,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
}
