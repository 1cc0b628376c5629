import type { V1Service } from '@kubernetes/client-node';
import { resources } from '../../client/api-resource.ts';
import type { ResourceTransport } from '../../client/resource-client.ts';
import type { MetricsSink } from '../../metrics/metrics-sink.ts';
import { Reflector } from '../../reflector/reflector.ts';
import { type Clock, sleep } from '../../seams/clock.ts';
import { ignoreFailure } from '../../seams/guard.ts';
import type { Logger } from '../../seams/logger.ts';
import type { Wire } from '../../wire/types.ts';

export interface ClusterServicesOptions {
  readonly transport: ResourceTransport;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly metrics?: MetricsSink | undefined;
}

type Service = Wire<V1Service>;

/** How long a container waits for the first list of services. */
const patienceMs = 1000;
const lookMs = 20;

/** The services of the cluster, for the environments of containers: listed once, then watched. */
export class ClusterServices {
  readonly #reflector: Reflector<Service>;
  readonly #clock: Clock;

  constructor({ clock, metrics, ...rest }: ClusterServicesOptions) {
    this.#clock = clock;
    this.#reflector = new Reflector<Service>({
      ...rest,
      clock,
      resource: resources.services,
      // of a service the environment shows its name, addresses and ports
      transform: ({ apiVersion, kind, metadata, spec }) => ({
        ...(apiVersion !== undefined && { apiVersion }),
        ...(kind !== undefined && { kind }),
        ...(metadata !== undefined && { metadata: withoutExtras(metadata) }),
        ...(spec !== undefined && { spec }),
      }),
      ...(metrics !== undefined && { metrics }),
    });
  }

  start(): void {
    this.#reflector.start().catch(ignoreFailure);
  }

  stop(): Promise<void> {
    return this.#reflector.stop();
  }

  /** The services of all namespaces. Rejects while the cluster has not listed them. */
  async list(signal: AbortSignal): Promise<readonly Service[]> {
    const until = this.#clock.now() + patienceMs;
    while (!this.#reflector.hasSynced) {
      signal.throwIfAborted();
      if (this.#clock.now() >= until) {
        throw new Error('services have not yet been read at least once, cannot construct envvars');
      }
      await sleep(this.#clock, lookMs, signal);
    }
    return [...this.#reflector.store.list()];
  }
}

function withoutExtras({ name, namespace, uid, resourceVersion }: NonNullable<Service['metadata']>) {
  return {
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}
