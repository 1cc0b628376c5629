import type { CoreV1Event } from '@kubernetes/client-node';
import { resources } from '../client/api-resource.ts';
import { ResourceClient, type ResourceTransport } from '../client/resource-client.ts';
import type { EventRecorder, EventType } from '../pod/event-recorder.ts';
import { podObjectReference } from '../pod/pod-object-reference.ts';
import { type Clock, safeClock, systemClock } from '../seams/clock.ts';
import { ignoreFailure } from '../seams/guard.ts';
import { type Logger, loggerOption } from '../seams/logger.ts';
import { formatTime } from '../wire/time.ts';
import type { Pod, Wire } from '../wire/types.ts';

/** Where events go, and who writes them. `transport` and `nodeName` are needed. */
export interface ApiEventRecorderOptions {
  /** Reaches the apiserver, such as a `KubeTransport`. Closing it is left to its owner. */
  readonly transport: ResourceTransport;
  /** The node that the events come from. */
  readonly nodeName: string;
  /** Who writes the events. Default `pod-status-manager`. */
  readonly component?: string;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

interface WaitingEvent {
  readonly key: string;
  readonly pod: Pod;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly fieldPath: string | undefined;
  readonly at: string;
}

/** So many events wait; one more is dropped. */
const mostWaiting = 500;
/** The same event again within this time raises the count of the first one. */
const sameForMs = 600_000;
const mostRemembered = 4096;
const longestMessage = 1000;
/** As client-go's spam filter: so many events of a pod at once, and then one in five minutes. */
const podBurst = 25;
const podRefillMs = 300_000;
const defaultComponent = 'pod-status-manager';

/**
 * Writes events to the apiserver, one after another. They are told once and never repeated: what
 * cannot be written is lost. A pod has 25 events at once and then one in five minutes, as client-go's spam filter allows; what is
 * more is dropped.
 *
 * @example
 * ```ts with-server
 * import { KubeTransport } from 'pod-status-manager';
 * import { ApiEventRecorder } from 'pod-status-manager/node';
 * import { resources } from 'pod-status-manager/reflector';
 *
 * const pod = server.store.create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'app', image: 'app:1' }] } });
 * const { promise: written, resolve } = Promise.withResolvers<void>();
 * const endWatch = server.objects(resources.events).watch(() => resolve());
 *
 * const transport = new KubeTransport(kubeConfig);
 * const recorder = new ApiEventRecorder({ transport, nodeName: 'node-1' });
 * recorder.event(pod, 'Normal', 'Started', 'The container runs'); // never waits
 * await written;
 * console.log(server.objects(resources.events).list()[0]?.reason); // Started
 * endWatch();
 * await recorder.stop();
 * await transport.close();
 * ```
 */
export class ApiEventRecorder implements EventRecorder {
  readonly #options: ApiEventRecorderOptions;
  readonly #events: ResourceClient<Wire<CoreV1Event>>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #waiting: WaitingEvent[] = [];
  /** The events that were written, by what they say. */
  readonly #written = new Map<string, { readonly name: string; readonly until: number; count: number }>();
  /** What is left of the events that a pod may have, by its uid. */
  readonly #budgets = new Map<string, { tokens: number; at: number }>();
  readonly #stopping = new AbortController();
  #writing: Promise<void> | undefined;
  #count = 0;

  constructor(options: ApiEventRecorderOptions) {
    this.#options = options;
    this.#events = new ResourceClient(options.transport, resources.events);
    this.#clock = safeClock(options.clock ?? systemClock);
    this.#logger = loggerOption(options.logger);
  }

  event(pod: Pod, type: EventType, reason: string, message: string, fieldPath?: string): void {
    if (this.#stopping.signal.aborted || this.#waiting.length >= mostWaiting) return;
    if (!this.#takeToken(pod.metadata?.uid ?? '')) return;
    const text = message.slice(0, longestMessage);
    const key = JSON.stringify([pod.metadata?.uid, type, reason, text, fieldPath]);
    const at = formatTime(this.#clock.now());
    this.#waiting.push({ key, pod, type, reason, message: text, fieldPath, at });
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Drops what waits, and gives up the request under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#waiting.length = 0;
    await this.#writing?.catch(ignoreFailure);
  }

  /** False: the pod has had too many events, whatever they said. */
  #takeToken(podUID: string): boolean {
    const now = this.#clock.now();
    const { tokens, at } = this.#budgets.get(podUID) ?? { tokens: podBurst, at: now };
    const refilled = Math.min(podBurst, tokens + Math.max(0, now - at) / podRefillMs);
    const isFree = refilled >= 1;
    this.#budgets.delete(podUID);
    this.#budgets.set(podUID, { tokens: isFree ? refilled - 1 : refilled, at: now });
    const [oldest] = this.#budgets.keys();
    if (this.#budgets.size > mostRemembered && oldest !== undefined) this.#budgets.delete(oldest);
    return isFree;
  }

  async #write(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        await this.#writeOne(next);
      } catch (err) {
        if (this.#stopping.signal.aborted) return;
        this.#logger.debug({ err, reason: next.reason }, 'an event could not be written');
      }
    }
  }
  async #writeOne(event: WaitingEvent): Promise<void> {
    const { signal } = this.#stopping;
    const { key, pod, type, reason, message, fieldPath, at } = event;
    const { namespace = 'default', name = '' } = pod.metadata ?? {};
    const now = this.#clock.now();
    const before = this.#written.get(key);
    if (before !== undefined && now < before.until) {
      before.count += 1;
      const body = { count: before.count, lastTimestamp: at };
      await this.#events.patch({ namespace, name: before.name }, { type: 'application/merge-patch+json', body }, { signal });
      return;
    }
    this.#count += 1;
    // as client-go: a number that grows with the time makes the name one of its own
    const eventName = `${name}.${(now * 1000 + (this.#count % 1000)).toString(16)}`;
    const { nodeName, component = defaultComponent } = this.#options;
    await this.#events.create(
      {
        metadata: { name: eventName, namespace },
        involvedObject: { ...podObjectReference(pod), ...(fieldPath !== undefined && { fieldPath }) },
        ...{ type, reason, message, count: 1, firstTimestamp: at, lastTimestamp: at },
        source: { component, host: nodeName },
        reportingComponent: component,
        reportingInstance: nodeName,
      },
      { signal },
    );
    this.#remember(key, { name: eventName, until: now + sameForMs, count: 1 });
  }

  #remember(key: string, written: { readonly name: string; readonly until: number; count: number }): void {
    this.#written.delete(key);
    this.#written.set(key, written);
    const [oldest] = this.#written.keys();
    if (this.#written.size > mostRemembered && oldest !== undefined) this.#written.delete(oldest);
  }
}
