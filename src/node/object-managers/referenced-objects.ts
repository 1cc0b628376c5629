import type { Pod } from '../../api/json/types.ts';
import { settledAtOnce } from '../../base/concurrency/aborts.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { ConfigMapManager } from './config-map-manager.ts';
import type { ObjectManagerOptions } from './object-manager.ts';
import { type FrozenSecret, SecretManager } from './secret-manager.ts';

/** So many pull secrets of a pod are read at once. */
const pullSecretsAtOnce = 8;

/** The secrets and config maps that the pods of the node refer to. */
export class ReferencedObjects {
  readonly secretManager: SecretManager;
  readonly configMapManager: ConfigMapManager;
  readonly #eventRecorder: EventRecorder;

  constructor(eventRecorder: EventRecorder, options: ObjectManagerOptions) {
    this.#eventRecorder = eventRecorder;
    this.secretManager = new SecretManager(options);
    this.configMapManager = new ConfigMapManager(options);
  }

  /** What the pod refers to is read, and watched, until it has ended. */
  registerPod(pod: Pod): void {
    this.secretManager.registerPod(pod);
    this.configMapManager.registerPod(pod);
  }

  unregisterPod(pod: Pod): void {
    for (const manager of [this.secretManager, this.configMapManager]) {
      callGuarded(() => manager.unregisterPod(pod), ignoreFailure);
    }
  }

  /** Throws ERR_OVER_BUDGET for a pod that names more secrets and config maps than the node holds for one. */
  requireWithinBudget(pod: Pod): void {
    const refusal = this.secretManager.refusalOf(pod) ?? this.configMapManager.refusalOf(pod);
    if (refusal !== undefined) throw refusal;
  }

  /**
   * The secrets that the pod pulls images with, in their order. One that cannot be read is left out, and an event says so. None
   * are read of a pod that names too many.
   */
  async pullSecretsOf(pod: Pod): Promise<readonly FrozenSecret[]> {
    const namespace = pod.metadata?.namespace ?? '';
    if (this.secretManager.refusalOf(pod) !== undefined) return [];
    const named = (pod.spec?.imagePullSecrets ?? []).flatMap((reference) => (reference.name ? [reference.name] : []));
    const names = [...new Set(named)];
    const read = await settledAtOnce(names, pullSecretsAtOnce, (name) => this.secretManager.getSecret(namespace, name));
    const missing = names.filter((_, index) => read[index]?.status === 'rejected');
    if (missing.length > 0) {
      const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
      this.#eventRecorder.event(pod, 'Warning', 'FailedToRetrieveImagePullSecret', message);
    }
    return read.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  }

  async stop(): Promise<void> {
    await Promise.all([this.secretManager.stop(), this.configMapManager.stop()]);
  }
}
