import type { WirePod } from '../../api/json/types.ts';
import { type Clock, type SteadyClock, sleep } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import type { RateLimiterOptions } from '../../base/concurrency/rate-limiter.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import type { PodStatusChange, SchedulerClient, SchedulingEvent } from '../framework/scheduler-client.ts';
import { EventWriter } from './event-writer.ts';
import { PodBinding } from './pod-binding.ts';
import { statusPatch } from './pod-status-patch.ts';
import { WriteTransport } from './write-transport.ts';

export interface ApiSchedulerClientParts {
  readonly transport: ResourceTransport;
  /** The most requests that change pods, and apart from them the most events: these must not hold up bindings. */
  readonly requestLimit?: RateLimiterOptions | undefined;
  /** Tells this process from others, in events. */
  readonly identity: string;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  /** False: this process may write nothing. Asked right before each write leaves. */
  readonly mayWrite: () => boolean;
}

/** How often a status or a deletion is sent, and the waits between the tries. */
const tries = 4;
const retry = { firstMs: 200 };

/** What the scheduler writes, over an apiserver. */
export class ApiSchedulerClient implements SchedulerClient {
  readonly #pods: ResourceClient<WirePod>;
  readonly #clock: Clock;
  readonly #binding: PodBinding;
  readonly #events: EventWriter;
  readonly #mayWrite: () => boolean;
  readonly #writes: readonly WriteTransport[];

  constructor({ transport, requestLimit, identity, clock, logger, mayWrite }: ApiSchedulerClientParts) {
    const options = { transport, limit: requestLimit, clock, mayWrite };
    const [ofPods, ofEvents] = [new WriteTransport(options), new WriteTransport(options)];
    this.#writes = [ofPods, ofEvents];
    this.#pods = new ResourceClient<WirePod>(ofPods, resources.pods);
    this.#clock = clock;
    this.#binding = new PodBinding(this.#pods, clock);
    this.#events = new EventWriter({ transport: ofEvents, identity, clock, logger });
    this.#mayWrite = mayWrite;
  }

  bind(pod: WirePod, nodeName: string, signal: AbortSignal): Promise<void> {
    return this.#binding.bind(pod, nodeName, signal);
  }

  async patchStatus(pod: WirePod, change: PodStatusChange, signal: AbortSignal): Promise<void> {
    const body = statusPatch(pod, change, this.#clock.now());
    if (body === undefined) return;
    const { namespace, name = '' } = pod.metadata ?? {};
    const target = { namespace, name, subresource: 'status' };
    const patch = { type: 'application/strategic-merge-patch+json', body } as const;
    await this.#retried(signal, () => this.#pods.patch(target, patch, { signal }));
  }

  async deletePod({ metadata }: WirePod, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid } = metadata ?? {};
    await this.#retried(signal, () => this.#pods.delete({ namespace, name }, { uid, signal }));
  }

  event(event: SchedulingEvent): void {
    if (this.#mayWrite()) this.#events.event(event);
  }

  /** Resolves once no event waits to be written. */
  flush(): Promise<void> {
    return this.#events.flush();
  }

  async stop(): Promise<void> {
    await this.#events.stop();
    for (const transport of this.#writes) transport.close();
  }

  /** A pod that is gone, or whose name another one has by now, is no failure. */
  async #retried(signal: AbortSignal, request: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await request();
        return;
      } catch (error) {
        const errorClass = classifyApiError(error);
        if (errorClass === 'gone' || errorClass === 'conflict') return;
        const isWorthIt = ['unavailable', 'timeout', 'throttled', 'broken-answer'].includes(errorClass);
        if (signal.aborted || !isWorthIt || attempt === tries) throw error;
        await sleep(this.#clock, nthDelayMs(attempt, retry), signal);
      }
    }
  }
}
