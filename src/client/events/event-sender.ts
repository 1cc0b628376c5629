// Behaviour of client-go tools/record and tools/events, v0.36.3.

import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../api/json/types.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { BoundedMap } from '../../base/concurrency/bounded-map.ts';
import { LateSet } from '../../base/concurrency/late-collections.ts';
import { isDnsSubdomain } from '../../base/names.ts';
import type { ApiObject } from '../resources/api-resource.ts';
import { readApiFailure, unlessGone } from '../resources/error-class.ts';
import type { ResourceClient } from '../resources/resource-client.ts';

/** As client-go: an event that the server has not answered is sent again, and those after it wait meanwhile. */
export const mostEventTries = 12;
export const eventRetryMs = 10_000;
const mostRemembered = 4096;

export interface EventSenderOptions<Event, Sent extends ApiObject> {
  readonly client: ResourceClient<Sent>;
  readonly clock: SteadyClock;
  /** So many events wait; one more is dropped. */
  readonly mostWaiting: number;
  /** Asked at each event: how many are sent at once, one at least. */
  readonly mostAtOnce: () => number;
  /** The same event again within this time raises the count of the first one. */
  readonly sameForMs: number;
  /** True: an event that is sent again later keeps the process alive until then. */
  readonly keepAlive: boolean;
  /** Makes the request of an event, once its turn has come. Where no answer came, the same request is made again, under the same name. */
  readonly requestOf: (event: Event) => () => Promise<unknown>;
  /** Asked at each failure: in how many milliseconds the event is sent again; undefined: it is given up. */
  readonly retryIn: (event: Event, error: unknown, tries: number) => number | undefined;
}

/** Sends events to the apiserver in their order, at most `mostAtOnce()` at once. `First` is what it keeps of an event, to count the same one again. */
export class EventSender<Event, Sent extends ApiObject, First> {
  readonly #options: EventSenderOptions<Event, Sent>;
  readonly #waiting: Event[] = [];
  /** What was told, by what it says; `until` is by `Clock.elapsed`. */
  readonly #told = new BoundedMap<string, { readonly first: First; readonly until: number; count: number }>(mostRemembered);
  readonly #lanes = new LateSet<Promise<void>>();
  readonly #stopping = new AbortController();
  #dropped = 0;
  #named = 0;

  constructor(options: EventSenderOptions<Event, Sent>) {
    this.#options = options;
  }

  /** How many events were dropped because too many waited. */
  get dropped(): number {
    return this.#dropped;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Never waits. */
  send(event: Event): void {
    if (this.isStopped) return;
    if (this.#waiting.length >= this.#options.mostWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(event);
    this.#begin();
  }

  /** More may be sent at once than before. */
  widen(): void {
    while (this.#begin());
  }

  /** Resolves once nothing waits and nothing is being sent. */
  async flush(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.all(this.#lanes);
  }

  /** Drops what waits, and gives up the requests under way. */
  async stop(): Promise<void> {
    this.#waiting.length = 0;
    this.#stopping.abort();
    await this.flush();
  }

  /** Counts one more of an event that was remembered. Undefined: there was none, or too long ago. */
  countAgain(key: string): { readonly first: First; readonly count: number } | undefined {
    const known = this.#told.get(key);
    if (known === undefined || this.#options.clock.elapsed() >= known.until) return undefined;
    known.count += 1;
    return { first: known.first, count: known.count };
  }

  /** The first event that says this; `since` is when it came, by `Clock.elapsed`. */
  remember(key: string, first: First, since: number): void {
    this.#told.set(key, { first, until: since + this.#options.sameForMs, count: 1 });
  }

  /** As client-go: the name of the object with a number that grows with the time, or a random one where that would be no name. */
  newName(objectName: string): string {
    this.#named += 1;
    const number = BigInt(Math.floor(this.#options.clock.now())) * 1_000_000n + BigInt(this.#named % 1_000_000);
    const name = `${objectName}.${number.toString(16)}`;
    return isDnsSubdomain(name) ? name : randomUUID();
  }

  /** False: it is there already, from an earlier try whose answer was lost. */
  async create(event: Sent): Promise<boolean> {
    try {
      await this.#options.client.create(event, { signal: this.#stopping.signal });
      return true;
    } catch (error) {
      if (readApiFailure(error).reason !== 'AlreadyExists') throw error;
      return false;
    }
  }

  /** Raises the count of an event with a merge patch. Where the server has forgotten the event, it is written anew. */
  async raise(event: Sent, body: JsonObject): Promise<void> {
    const { namespace, name = '' } = event.metadata ?? {};
    const patch = { type: 'application/merge-patch+json', body } as const;
    const raise = () => this.#options.client.patch({ namespace, name }, patch, { signal: this.#stopping.signal });
    // the server forgets events after an hour, others may delete them, and the first may still be on its way
    if ((await unlessGone(raise())) === undefined && !(await this.create(event))) await raise();
  }

  /** Begins one more lane. False where there is none to begin. */
  #begin(): boolean {
    if (this.#waiting.length === 0 || this.#lanes.size >= this.#options.mostAtOnce()) return false;
    const lane: Promise<void> = this.#lane(() => this.#lanes.delete(lane));
    this.#lanes.add(lane);
    return true;
  }

  /** Ends at once when nothing waits, or when it is one too many: an event that comes then begins a lane of its own. */
  async #lane(end: () => void): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#next()) await this.#send(next);
    end();
  }

  #next(): Event | undefined {
    return this.#lanes.size > this.#options.mostAtOnce() ? undefined : this.#waiting.shift();
  }

  /** Until the server has answered. Never rejects. */
  async #send(event: Event): Promise<void> {
    const { clock, keepAlive, requestOf, retryIn } = this.#options;
    const { signal } = this.#stopping;
    let request: (() => Promise<unknown>) | undefined;
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        request ??= requestOf(event);
        await request();
        return;
      } catch (error) {
        if (signal.aborted) return;
        const waitMs = retryIn(event, error, tries);
        if (waitMs === undefined) return;
        await sleep(clock, waitMs, signal, { keepAlive });
      }
    }
  }
}
