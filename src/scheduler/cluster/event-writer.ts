import type { EventsV1Event } from '@kubernetes/client-node';
import { formatMicroTime } from '../../api/json/time.ts';
import type { Wire } from '../../api/json/types.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { BoundedMap } from '../../base/concurrency/bounded-map.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { eventName, podObjectReference } from '../../client/events/event-recorder.ts';
import { type ApiResource, apiResource } from '../../client/resources/api-resource.ts';
import { classifyApiError, readApiFailure } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import type { SchedulingEvent } from '../framework/scheduler-client.ts';

export interface EventWriterOptions {
  readonly transport: ResourceTransport;
  /** Tells one process from another. */
  readonly identity: string;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** So many events wait; one more is dropped. Bindings come first, so a storm of some thousand pods must find room here. */
const mostWaiting = 10_000;
const mostAtOnce = 8;
/** The same event within this time makes one series. */
const seriesMs = 360_000;
const mostSeries = 4096;
const tries = 12;
const retryMs = 10_000;

interface Series {
  readonly event: WireEvent;
  /** By `elapsed` of the clock. */
  readonly until: number;
  count: number;
}

/** Writes events to the apiserver, several at once. An event that happens again is counted in the first one's series. */
export class EventWriter {
  readonly #options: EventWriterOptions;
  readonly #events: ResourceClient<WireEvent>;
  readonly #waiting: SchedulingEvent[] = [];
  readonly #series = new BoundedMap<string, Series>(mostSeries);
  readonly #writing = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #count = 0;
  #dropped = 0;

  constructor(options: EventWriterOptions) {
    this.#options = options;
    this.#events = new ResourceClient(options.transport, schedulingEvents);
  }

  /** How many events were dropped because too many waited. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Never waits. */
  event(event: SchedulingEvent): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#waiting.length >= mostWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(event);
    if (this.#writing.size < mostAtOnce) this.#begin();
  }

  /** Resolves once nothing waits and nothing is being written. */
  async flush(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing);
  }

  /** Drops what waits, and gives up the requests under way. */
  async stop(): Promise<void> {
    this.#waiting.length = 0;
    this.#stopping.abort();
    await this.flush();
  }

  #begin(): void {
    const lane: Promise<void> = this.#lane().finally(() => this.#writing.delete(lane));
    this.#writing.add(lane);
  }

  async #lane(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) await this.#tryToWrite(next);
  }

  async #tryToWrite(event: SchedulingEvent): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stopping;
    let write: (() => Promise<unknown>) | undefined;
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        write ??= this.#next(event);
        await write();
        return;
      } catch (err) {
        if (signal.aborted) return;
        // a server that has refused it will refuse it again, and what this process may not write another one will tell
        const { status = 500 } = readApiFailure(err);
        const isWorthIt = classifyApiError(err) !== 'aborted' && (status >= 500 || status === 429);
        if (!isWorthIt || attempt === tries) {
          logger.debug({ err, reason: event.reason }, 'an event could not be written');
          return;
        }
        await sleep(clock, retryMs, signal);
      }
    }
  }

  /** The request that tells of this event: a new one, or a higher count of the series. */
  #next(event: SchedulingEvent): () => Promise<unknown> {
    const { clock, identity } = this.#options;
    const { signal } = this.#stopping;
    const now = clock.now();
    const elapsed = clock.elapsed();
    const key = seriesKey(event);
    const known = this.#series.get(key);
    if (known !== undefined && elapsed < known.until) {
      known.count += 1;
      const { event: first, count } = known;
      return () => this.#raise({ ...first, series: { count, lastObservedTime: formatMicroTime(now) } });
    }
    this.#count += 1;
    const object = eventObject(event, identity, now, this.#count);
    this.#series.set(key, { event: object, until: elapsed + seriesMs, count: 1 });
    return () => this.#events.create(object, { signal });
  }

  /** Writes the count of a series. */
  async #raise(event: WireEvent): Promise<void> {
    const { signal } = this.#stopping;
    const { series, metadata: { namespace, name = '' } = {} } = event;
    const patch = { type: 'application/merge-patch+json', body: { series } } as const;
    const raise = () => this.#events.patch({ namespace, name }, patch, { signal });
    try {
      await raise();
    } catch (err) {
      if (readApiFailure(err).status !== 404) throw err;
      // somebody has deleted the first event, or it is still on its way
      try {
        await this.#events.create(event, { signal });
      } catch (failure) {
        if (readApiFailure(failure).status !== 409) throw failure;
        await raise();
      }
    }
  }
}

// Behaviour of client-go tools/events, v0.36.3.

/** An event of `events.k8s.io`, as it stands in JSON. */
export interface WireEvent extends Wire<EventsV1Event> {}

/** The newer API of events: the same objects as those of the core group, with other names of their fields. */
export const schedulingEvents: ApiResource<WireEvent> = apiResource<WireEvent>({
  group: 'events.k8s.io',
  version: 'v1',
  resource: 'events',
  kind: 'Event',
  namespaced: true,
});

/** The server refuses a longer note. */
const longestNote = 1024;

/** The event to write. It is told by the profile that schedules the pod; `identity` tells one process from another. `count` makes the name one of its own. */
function eventObject(event: SchedulingEvent, identity: string, now: number, count: number): WireEvent {
  const { pod, related, type, reason, action, note } = event;
  const { namespace = 'default' } = pod.metadata ?? {};
  // as client-go: a number that grows with the time
  const number = BigInt(Math.floor(now)) * 1_000_000n + BigInt(count % 1_000_000);
  const reportingController = (related ?? pod).spec?.schedulerName || 'default-scheduler';
  return {
    metadata: { name: eventName(pod.metadata?.name ?? '', number), namespace },
    eventTime: formatMicroTime(now),
    reportingController,
    reportingInstance: `${reportingController}-${identity}`,
    action,
    reason,
    type,
    note: shortNote(note),
    regarding: podObjectReference(pod),
    ...(related !== undefined && { related: podObjectReference(related) }),
  };
}

/** Events that differ in nothing of this are one series. */
function seriesKey({ pod, related, type, reason, action }: SchedulingEvent): string {
  const { uid, resourceVersion } = pod.metadata ?? {};
  return JSON.stringify([uid, resourceVersion, related?.metadata?.uid, type, reason, action]);
}

function shortNote(note: string): string {
  // the server counts bytes
  const bytes = Buffer.from(note);
  if (bytes.length <= longestNote) return note;
  return `${new TextDecoder('utf-8').decode(bytes.subarray(0, longestNote - 6)).replace(/\uFFFD+$/, '')} ...`;
}
