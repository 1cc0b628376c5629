import type { V1Service } from '@kubernetes/client-node';
import { resources } from '../../client/api-resource.ts';
import type { ResourceTransport } from '../../client/resource-client.ts';
import type { MetricsSink } from '../../metrics/metrics-sink.ts';
import { Reflector } from '../../reflector/reflector.ts';
import { type SteadyClock, sleep } from '../../seams/clock.ts';
import { ignoreFailure } from '../../seams/guard.ts';
import type { Logger } from '../../seams/logger.ts';
import type { Wire } from '../../wire/types.ts';

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
