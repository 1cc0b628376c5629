import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import type { StatusManager } from '../../status/status-manager.ts';

/** The pods of a node as its API shows them: each with the newest status that the agent has for it. */
export class ServedPods {
  readonly #podManager: BasicPodManager;
  readonly #statusManager: Pick<StatusManager, 'getPodStatus'>;

  constructor(podManager: BasicPodManager, statusManager: Pick<StatusManager, 'getPodStatus'>) {
    this.#podManager = podManager;
    this.#statusManager = statusManager;
  }

  all(): Pod[] {
    return this.#podManager.getPods().map((pod) => this.#withStatus(pod));
  }

  /**
   * One of them by its name, and by its uid where that is given: the pod's own, or that of its mirror. A mirror pod counts as the
   * static pod.
   */
  find(namespace: string, name: string, uid: string | undefined): Pod | undefined {
    const pod = this.#podManager.getPodByName(namespace, name);
    if (pod === undefined) return undefined;
    const own = pod.metadata?.uid;
    const isOther = uid !== undefined && own !== uid && this.#podManager.translatePodUID(uid) !== own;
    return isOther ? undefined : this.#withStatus(pod);
  }

  #withStatus(pod: Pod): Pod {
    const status = this.#statusManager.getPodStatus(podUIDOf(pod));
    return status === undefined ? pod : { ...pod, status };
  }
}
