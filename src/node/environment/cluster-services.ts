import type { V1Service } from '@kubernetes/client-node';
import type { Wire } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import type { LastFailure } from '../../base/concurrency/run-state.ts';
import { errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { MetricsSink } from '../../base/metrics/metrics.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import { resources } from '../../client/resources/api-resource.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';

export interface ClusterServicesOptions {
  readonly transport: ResourceTransport;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly metrics?: MetricsSink;
}

type Service = Wire<V1Service>;

/** The services of the cluster, as those know them who only read. */
export interface KnownServices {
  /** They are listed and watched from now on. Called again, it does nothing. */
  start(): void;
  /** Undefined until the cluster has listed them. */
  known(): readonly Wire<V1Service>[] | undefined;
  /** Why no list has come yet, in words. */
  unreadText(): string;
  /** Resolves once the cluster has listed them, or `mostMs` (1000) have passed; after a failure within a second. */
  awaitFirstList(signal: AbortSignal, mostMs?: number): Promise<void>;
}

/** Why no container starts before the first list, in the kubelet's words. */
export const servicesUnread = 'services have not yet been read at least once, cannot construct envvars';

/** How long a container waits for the first list of services. */
const patienceMs = 1000;

/** The services of the cluster, for the environments of containers: listed once, then watched. */
export class ClusterServices implements KnownServices {
  readonly #reflector: Reflector<Service>;
  readonly #clock: SteadyClock;
  /** Settles with the first list, or with the end. */
  #firstList: Promise<void> | undefined;

  constructor({ metrics, ...options }: ClusterServicesOptions) {
    this.#clock = options.clock;
    this.#reflector = new Reflector<Service>({
      ...options,
      resource: resources.services,
      ...(metrics !== undefined && { metrics }),
    });
  }

  /** Called again, it does nothing. */
  start(): void {
    this.#firstList ??= this.#reflector.start().catch(ignoreFailure);
  }

  stop(): Promise<void> {
    return this.#reflector.stop();
  }

  /** Undefined until the cluster has listed them. */
  known(): readonly Service[] | undefined {
    return this.#reflector.hasSynced ? this.#reflector.store.list() : undefined;
  }

  /** Why the last list or watch failed; undefined while they work. */
  lastFailure(): LastFailure | undefined {
    return this.#reflector.lastFailure();
  }

  /** Why no list has come yet, in words: the kubelet's, and what the server said last. */
  unreadText(): string {
    const failure = this.#reflector.lastFailure();
    return failure === undefined ? servicesUnread : `${servicesUnread}: ${errorText(failure.error)}`;
  }

  /** Resolves once the cluster has listed them, or a second has passed; with `mostMs` after that time, unless the list has failed before. */
  async awaitFirstList(signal: AbortSignal, mostMs = patienceMs): Promise<void> {
    const until = this.#clock.elapsed() + mostMs;
    for (let restMs = mostMs; restMs > 0 && this.#firstList !== undefined; restMs = until - this.#clock.elapsed()) {
      const limits = { clock: this.#clock, timeoutMs: Math.min(restMs, patienceMs), signal };
      const isOver = await settlesWithin(this.#firstList, limits);
      if (isOver || signal.aborted || this.#reflector.lastFailure() !== undefined) return;
    }
  }
}
