import type { Pod } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { Clock } from '../../base/clock.ts';
import { settlesWithin, untilAborted } from '../../base/concurrency/aborts.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { isApiRefusal, KubeletApiRefusal } from '../server/exchange.ts';
import { hasContainer } from '../server/named-containers.ts';
import type { PodTarget } from '../server/routes.ts';
import type { ServedPods } from '../server/served-pods.ts';
import type { NodePod, PodProvider } from './pod-provider.ts';
import { shortErrorText } from './provider-calls.ts';

/** A method that answers a client of the node's API. */
export type ClientMethod =
  | 'getContainerLogs'
  | 'runInContainer'
  | 'attachToContainer'
  | 'portForward'
  | 'getStatsSummary'
  | 'getMetricsResource';

/** So long a call may go on once its client is gone, in milliseconds. It counts as a stream until then. */
const graceMs = 30_000;

export interface ClientCallsOptions {
  readonly provider: PodProvider;
  readonly pods: ServedPods;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Calls of a provider for clients of the node's API. */
export class ClientCalls {
  readonly provider: PodProvider;
  readonly clock: Clock;
  readonly #pods: ServedPods;
  readonly #logger: Logger;

  constructor({ provider, pods, clock, logger }: ClientCallsOptions) {
    this.provider = provider;
    this.clock = clock;
    this.#pods = pods;
    this.#logger = logger;
  }

  /** Throws a refusal where the provider has no such method. */
  require(method: ClientMethod): void {
    if (this.provider[method] === undefined) throw missingMethod(method);
  }

  /** The pod as the node knows it. Throws a refusal with these words where there is none. */
  pod({ namespace, podName, podUID }: PodTarget, words: string): NodePod {
    const pod = this.#pods.find(namespace, podName, podUID);
    if (pod === undefined) throw new KubeletApiRefusal(404, words);
    return pod as NodePod;
  }

  /** The same for one that is to have a container. */
  podWith(target: PodTarget & { readonly container: string }): NodePod {
    const pod = this.pod(target, 'pod does not exist');
    if (hasContainer(pod, target.container)) return pod;
    throw new KubeletApiRefusal(404, `container not found (${JSON.stringify(target.container)})`);
  }

  /**
   * What the call answers. Rejects as it does, and with the signal's reason once that aborts: the call has half a minute then to end,
   * and is told of if it goes on.
   */
  async answer<T>(method: ClientMethod, pod: Pod, call: () => T | PromiseLike<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const work = Promise.resolve().then(call);
    try {
      return await untilAborted(work, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      if (!(await settlesWithin(work, { clock: this.clock, timeoutMs: graceMs }))) {
        const fields = { ...podFields(pod.metadata), method };
        this.#logger.warn(fields, 'a call of the provider goes on, although its client is gone');
      }
      throw error;
    }
  }
}

/** Says that the node cannot do it, as virtual-kubelet does. */
export function missingMethod(...methods: readonly ClientMethod[]): KubeletApiRefusal {
  const names = methods.map((method) => `${method}()`).join(' and no ');
  return new KubeletApiRefusal(501, `not implemented: the provider of this node has no ${names}`);
}

/** What the client is told of a provider's failure: its words. A provider may choose the status by a refusal. */
export function clientError(error: unknown, prefix = ''): KubeletApiRefusal {
  return isApiRefusal(error) ? error : new KubeletApiRefusal(500, `${prefix}${shortErrorText(error)}`);
}
