import type { WirePod } from '../../api/json/types.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { classifyApiError, type ErrorClass } from '../../client/resources/error-class.ts';
import type { ResourceClient } from '../../client/resources/resource-client.ts';

/** How often one binding is sent, and the wait between two bindingTries, in milliseconds. */
const bindingTries = 3;
const retryMs = 200;

/** Where it is unknown whether the server has bound the pod, or it says that somebody has. */
const inDoubt: readonly ErrorClass[] = ['conflict', 'timeout', 'unavailable', 'broken-answer'];

/**
 * Binds a pod by POST of its binding. The server binds a pod once and no more, and only the one of this uid. Where an answer
 * is lost, the pod is read: one that is on the node counts as bound, one that is on none is sent once more.
 */
export class PodBinding {
  readonly #pods: ResourceClient<WirePod>;
  readonly #clock: Clock;

  constructor(pods: ResourceClient<WirePod>, clock: Clock) {
    this.#pods = pods;
    this.#clock = clock;
  }

  async bind(pod: WirePod, nodeName: string, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid } = pod.metadata ?? {};
    const metadata = { name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) };
    const body = { apiVersion: 'v1', kind: 'Binding', metadata, target: { kind: 'Node', name: nodeName } };
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#pods.createSubresource({ namespace, name }, 'binding', body, { signal });
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        const errorClass = classifyApiError(error);
        if (inDoubt.includes(errorClass)) {
          if (await this.#isBound(pod, nodeName, error, signal)) return;
        } else if (errorClass !== 'throttled') throw error; // a server without room has done nothing
        if (attempt === bindingTries) throw error;
        await sleep(this.#clock, retryMs * attempt, signal);
      }
    }
  }

  /** True: on this node. False: on none, or the read failed, too. Throws where another try can do nothing. */
  async #isBound(pod: WirePod, nodeName: string, cause: unknown, signal: AbortSignal): Promise<boolean> {
    const { namespace, name = '', uid } = pod.metadata ?? {};
    let now: WirePod;
    try {
      now = await this.#pods.get({ namespace, name }, { signal });
    } catch (error) {
      if (classifyApiError(error) === 'gone') throw cause;
      return false;
    }
    if (now.metadata?.uid !== uid) throw cause;
    const { nodeName: on = '' } = now.spec ?? {};
    if (on === nodeName) return true;
    if (on === '' && now.metadata?.deletionTimestamp == null) return false;
    if (on === '') throw cause;
    throw new StatusManagerError('ERR_API', `The pod is on the node "${on}" already`, { cause });
  }
}
