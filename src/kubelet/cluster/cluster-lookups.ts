import type { V1RuntimeClass, V1Service } from '@kubernetes/client-node';
import type { Pod, Wire } from '../../api/json/types.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { MetricsSink } from '../../base/metrics/metrics.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';

export interface ClusterServicesOptions {
  readonly transport: ResourceTransport;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly metrics?: MetricsSink;
}

type Service = Wire<V1Service>;

/** How long a container waits for the first list of services. */
const patienceMs = 1000;
const lookMs = 20;

/** The services of the cluster, for the environments of containers: listed once, then watched. */
export class ClusterServices {
  readonly #reflector: Reflector<Service>;
  readonly #clock: SteadyClock;

  constructor({ metrics, ...options }: ClusterServicesOptions) {
    this.#clock = options.clock;
    this.#reflector = new Reflector<Service>({
      ...options,
      resource: resources.services,
      ...(metrics !== undefined && { metrics }),
    });
  }

  start(): void {
    this.#reflector.start().catch(ignoreFailure);
  }

  stop(): Promise<void> {
    return this.#reflector.stop();
  }

  /** Undefined until the cluster has listed them. */
  known(): readonly Service[] | undefined {
    return this.#reflector.hasSynced ? this.#reflector.store.list() : undefined;
  }

  /** Resolves once the cluster has listed them, or a second has passed. */
  async awaitFirstList(signal: AbortSignal): Promise<void> {
    const until = this.#clock.elapsed() + patienceMs;
    while (!this.#reflector.hasSynced && !signal.aborted && this.#clock.elapsed() < until)
      await sleep(this.#clock, lookMs, signal);
  }
}

// Behaviour of pkg/kubelet/runtimeclass, v1.36.3.

/** Finds the runtime handlers that pods ask for by the name of a RuntimeClass. */
export class RuntimeClasses {
  readonly #classes: ResourceClient<Wire<V1RuntimeClass>>;

  constructor(transport: ResourceTransport) {
    this.#classes = new ResourceClient(transport, resources.runtimeClasses);
  }

  /** The handler's name; empty: the default one. Rejects where there is no such class. */
  async handlerOf(pod: Pod, signal: AbortSignal): Promise<string> {
    const name = pod.spec?.runtimeClassName;
    if (!name) return '';
    try {
      return (await this.#classes.get({ name }, { signal })).handler;
    } catch (cause) {
      const isGone = classifyApiError(cause) === 'gone';
      const why = isGone ? `runtimeclass.node.k8s.io "${name}" not found` : errorText(cause);
      throw new Error(`failed to get RuntimeClass: failed to find RuntimeClass ${name}: ${why}`, { cause });
    }
  }
}
