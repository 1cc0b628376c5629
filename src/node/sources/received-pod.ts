import { isJsonObject } from '../../api/json/json.ts';
import type { WirePod } from '../../api/json/types.ts';
import { apiserverSource, configSourceAnnotationKey } from '../../api/pod/pod-identity.ts';

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
