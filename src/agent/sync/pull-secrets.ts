// Behaviour of getPullSecretsForPod in pkg/kubelet/kubelet_pods.go, v1.36.3.
import type { EventRecorder } from '../../pod/event-recorder.ts';
import type { Pod } from '../../wire/types.ts';
import type { PullSecret } from './sync-parts.ts';

/** Where secrets come from: a `SecretManager`. */
export interface SecretReader {
  /** Rejects where there is none. */
  getSecret(namespace: string, name: string): Promise<PullSecret>;
}

/** The secrets that the pod names for pulling its images, in its order. Those that cannot be read are left out; an event names them. */
export function pullSecretsReader(
  secrets: SecretReader,
  eventRecorder: EventRecorder,
): (pod: Pod, signal: AbortSignal) => Promise<readonly PullSecret[]> {
  return async (pod) => {
    const names = (pod.spec?.imagePullSecrets ?? []).flatMap(({ name }) => (name ? [name] : []));
    const read = await Promise.allSettled(names.map((name) => secrets.getSecret(pod.metadata?.namespace ?? '', name)));
    const failed = names.filter((_, index) => read[index]?.status === 'rejected');
    if (failed.length > 0) {
      const which = `Unable to retrieve some image pull secrets (${failed.join(', ')})`;
      const message = `${which}; attempting to pull the image may not succeed.`;
      eventRecorder.event(pod, 'Warning', 'FailedToRetrieveImagePullSecret', message);
    }
    return read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  };
}
