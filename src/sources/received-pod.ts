import { apiserverSource, configSourceAnnotationKey } from '../pod/pod-identity.ts';
import { isJsonObject } from '../wire/json.ts';
import type { WirePod } from '../wire/types.ts';

/**
 * The same pod, changed in place. Its config source is `api`, as in the kubelet, whatever its annotations say: a tenant
 * may write them, and a pod with another source counts as static.
 */
export function receivedPod(pod: WirePod): WirePod {
  pod.metadata ??= {};
  const { metadata } = pod;
  if (!isJsonObject(metadata.annotations)) metadata.annotations = {};
  metadata.annotations[configSourceAnnotationKey] = apiserverSource;
  return pod;
}
