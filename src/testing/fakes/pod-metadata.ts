import type { PodMetadata } from '../../client/pod-client.ts';
import type { WirePod } from '../../wire/types.ts';

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
