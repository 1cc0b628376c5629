import type { Pod } from '../../api/json/types.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { callGuarded } from '../../base/guard.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { requireKnownOptions, requireMethods } from '../../base/options.ts';

/** Something that wants to know which pods may still need what they refer to: a manager of secrets or of config maps. */
export interface PodRegistrar {
  /** The pod is there, or has changed. */
  registerPod(pod: Pod): void;
  /** The pod has ended, or is gone. It may never have been registered. */
  unregisterPod(pod: Pod): void;
}

/** Who is told of the pods, beside the listeners. */
export interface BasicPodManagerOptions {
  /** Such as a `SecretManager` of `pod-status-manager/object-managers`. */
  readonly secretManager?: PodRegistrar | undefined;
  /** Such as a `ConfigMapManager` of `pod-status-manager/object-managers`. */
  readonly configMapManager?: PodRegistrar | undefined;
  /** Gets what a registrar throws. Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null | undefined;
}

const knownOptions = ['secretManager', 'configMapManager', 'logger'];

/**
 * Tells the registrars of a pod manager's pods, mirror pods included. What one throws, or rejects with, is logged and changes
 * nothing else. Behaviour of updatePodsInternal of the kubelet's pod manager up to v1.27.
 */
export class PodRegistrars {
  readonly #registrars: readonly PodRegistrar[];
  readonly #logger: Logger;

  /** Throws ERR_INVALID_OPTION for a registrar without one of the two methods. */
  constructor(options: BasicPodManagerOptions) {
    requireKnownOptions('options', options, knownOptions);
    const { secretManager, configMapManager, logger } = options;
    const registrars: PodRegistrar[] = [];
    for (const [name, registrar] of Object.entries({ secretManager, configMapManager })) {
      if (registrar === undefined) continue;
      requireMethods(name, registrar, ['registerPod', 'unregisterPod']);
      registrars.push(registrar);
    }
    this.#registrars = registrars;
    this.#logger = loggerOption(logger);
  }

  /** The pod takes the place of `before`. The new references come before the old ones go. */
  set(pod: Pod, before: Pod | undefined): void {
    if (isTerminalPhase(pod.status?.phase)) this.#call('unregisterPod', pod);
    else this.#call('registerPod', pod);
    if (before !== undefined && !isSameIdentity(pod, before)) this.#call('unregisterPod', before);
  }

  remove(pod: Pod): void {
    this.#call('unregisterPod', pod);
  }

  #call(method: keyof PodRegistrar, pod: Pod): void {
    for (const registrar of this.#registrars) {
      callGuarded(
        () => registrar[method](pod),
        (err) => this.#logger.error({ err, method, ...podFields(pod.metadata) }, 'a registrar of the pod manager failed'),
      );
    }
  }
}

function isSameIdentity({ metadata: a }: Pod, { metadata: b }: Pod): boolean {
  return a?.uid === b?.uid && a?.name === b?.name && a?.namespace === b?.namespace;
}
