import type { JsonMembers } from '../client/transport/api-answer.ts';
import { apiserverSource, configSourceAnnotationKey } from '../pod/pod-identity.ts';
import { isJsonObject } from '../wire/json.ts';
import type { WirePod } from '../wire/types.ts';

/** A pod that can be told apart from others and put in order. */
export type IdentifiedWirePod = WirePod & { metadata: { uid: string; resourceVersion: string } };

/** True for an object with a uid, a name, a namespace and a resourceVersion. */
export function isPod(value: unknown): value is JsonMembers & IdentifiedWirePod {
  if (!isJsonObject(value) || !isJsonObject(value.metadata)) return false;
  const { uid, name, namespace, resourceVersion } = value.metadata;
  return [uid, name, namespace, resourceVersion].every((text) => typeof text === 'string' && text !== '');
}

/**
 * The same pod, changed in place. Its config source is `api`, as in the kubelet, whatever its annotations say: a tenant
 * may write them, and a pod with another source counts as static. Nothing here reads managedFields, and they can be larger
 * than the rest of the pod, so they are dropped.
 */
export function receivedPod<P extends IdentifiedWirePod>(pod: P): P {
  const { metadata } = pod;
  delete metadata.managedFields;
  if (!isJsonObject(metadata.annotations)) metadata.annotations = {};
  metadata.annotations[configSourceAnnotationKey] = apiserverSource;
  return pod;
}
