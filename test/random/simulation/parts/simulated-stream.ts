import type { JsonObject } from '../../../../src/api/json/types.ts';
import type { CancelTimer } from '../../../../src/base/clock.ts';
import { ApiError, BrokenOffError } from '../../../../src/client/transport/api-error.ts';
import type { KubeStream } from '../../../../src/client/transport/kube-transport.ts';
import { expired, StoreError, statusJson } from '../../../../src/testing/objects/api-status.ts';
import type { ServedStore } from '../../../../src/testing/objects/resource-store.ts';
import { type ObjectFilter, objectFilter } from '../../../../src/testing/objects/selectors.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import type { ApiWeather } from './api-weather.ts';
import { type SimulatedObjects, type StoreEvent, selectionOf, shown } from './simulated-objects.ts';

export interface StreamParts {
  readonly clock: SimulatedClock;
  readonly objects: SimulatedObjects;
  readonly weather: Readonly<ApiWeather>;
  readonly prng: Prng;
  readonly count: (fault: string) => void;
  /** The watch is no longer open. */
  readonly ended: (stream: SimulatedStream) => void;
}

const bookmarkEveryMs = 60_000;
const fates = ['reset', 'cut in a line', 'ended', '410', 'silent', 'hanging', 'refused', '410 at once'] as const;

/** One watch: its events come late but in order, and something may become of it. */
export class SimulatedStream {
  readonly done: Promise<void>;
  readonly #parts: StreamParts;
  readonly #request: KubeStream;
  readonly #settle: (error?: unknown) => void;
  readonly #stops: CancelTimer[] = [];
  #isOpen = true;
  #isSilent = false;
  #heardAtMs: number;
  #lastDeliveryMs = 0;

  constructor(request: KubeStream, parts: StreamParts) {
    this.#request = request;
    this.#parts = parts;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.done = promise;
    const { signal } = request;
    const abort = (): void => this.#settle(new ApiError({ reason: 'Aborted', message: 'aborted' }));
    this.#settle = (error) => {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      for (const stop of this.#stops) stop();
      signal?.removeEventListener('abort', abort);
      parts.ended(this);
      if (error === undefined) resolve();
      else reject(error);
    };
    this.#heardAtMs = parts.clock.elapsedMs;
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    else this.#begin();
  }

  get resource(): string {
    return this.#parts.objects.target(this.#request.path).store.resource.resource;
  }

  /** Of the one object that is watched. */
  get name(): string | undefined {
    const { fieldSelector = '' } = selectionOf(undefined, this.#request.query ?? new URLSearchParams());
    return /^metadata\.name=(.*)$/.exec(fieldSelector)?.[1];
  }

  /** The connection breaks. */
  reset(): void {
    this.#settle(new BrokenOffError({ message: 'connection reset' }));
  }

  /** Nothing comes any more. */
  silence(): void {
    this.#isSilent = true;
  }

  /** Ends with a 410, if nothing has come any more. */
  expire(): void {
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#sendRefusal(expired('0', '1'));
  }

  #begin(): void {
    const { clock, prng, weather } = this.#parts;
    this.#watchSilence();
    const fate = prng.chance(weather.watchFaults) ? prng.pick(fates) : undefined;
    if (fate !== undefined) this.#parts.count(`watch ${fate}`);
    if (fate === 'hanging') return;
    this.#stops.push(clock.schedule(() => this.#answer(fate), prng.between(1, weather.latencyMs)));
  }

  #answer(fate: (typeof fates)[number] | undefined): void {
    const { prng, objects } = this.#parts;
    const refusal = this.#refusal(fate);
    if (refusal !== undefined) {
      this.#settle(refusal);
      return;
    }
    const query = this.#request.query ?? new URLSearchParams();
    const { store, namespace } = objects.target(this.#request.path);
    try {
      this.#serve(store, namespace, query);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // a kube-apiserver answers the watch, and then sends the refusal
      if (error instanceof StoreError && prng.chance(0.7)) this.#sendRefusal(error);
      else this.#settle(error);
    }
    if (fate !== undefined) this.#stops.push(this.#later(() => this.#meet(fate), prng.between(5, 20_000)));
    const seconds = Number(query.get('timeoutSeconds') ?? 0);
    if (seconds > 0) this.#stops.push(this.#later(() => this.#settle(), seconds * 1000));
  }

  #refusal(fate: (typeof fates)[number] | undefined): ApiError | undefined {
    const { prng, weather } = this.#parts;
    if (weather.server === 'down') return refusedConnection();
    if (weather.server === 'throttling' && prng.chance(0.6)) return failure(429, 'TooManyRequests', 2000);
    if (fate === 'refused' || (weather.server === 'failing' && prng.chance(0.5)))
      return failure(prng.pick([500, 503, 403, 401, 400]) ?? 500, 'Simulated');
    return fate === '410 at once' ? failure(410, 'Expired') : undefined;
  }

  #serve(store: ServedStore, namespace: string | undefined, query: URLSearchParams): void {
    const { objects } = this.#parts;
    const from = query.get('resourceVersion') ?? undefined;
    const selection = selectionOf(namespace, query);
    const matches = objectFilter(selection, store.rules.fields);
    let since = from ?? objects.newest;
    if (query.get('sendInitialEvents') === 'true' || from === '0') {
      const { objects: list, version } = objects.listAt(store, selection, objects.viewFrom(from));
      since = version;
      for (const object of list) this.#send('ADDED', shown(store, object));
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      if (from !== '0') this.#send('BOOKMARK', { metadata: { resourceVersion: version, annotations } });
    }
    for (const event of store.eventsSince(since)) this.#pass(store, event, matches);
    this.#stops.push(store.watch((event) => this.#pass(store, event, matches)));
    this.#bookmark(store);
  }

  /** An object that begins to match is ADDED for this client; one that no longer matches is DELETED. */
  #pass(store: ServedStore, { type, object, previous, resourceVersion }: StoreEvent, matches: ObjectFilter): void {
    const isIn = type !== 'DELETED' && matches(object as JsonObject);
    const wasIn = previous !== undefined && matches(previous as JsonObject);
    if (isIn) this.#send(wasIn ? 'MODIFIED' : 'ADDED', shown(store, object));
    else if (wasIn) this.#send('DELETED', shown(store, { ...previous, metadata: { ...previous?.metadata, resourceVersion } }));
  }

  #bookmark(store: ServedStore): void {
    const later = this.#later(() => {
      this.#send('BOOKMARK', { metadata: { resourceVersion: store.resourceVersion } });
      this.#bookmark(store);
    }, bookmarkEveryMs);
    this.#stops.push(later);
  }

  #sendRefusal(error: StoreError): void {
    this.#deliver(() => {
      this.#chunk(`${JSON.stringify({ type: 'ERROR', object: statusJson(error.body) })}\n`);
      this.#settle();
    });
  }

  #send(type: string, object: JsonObject): void {
    this.#deliver(() => this.#chunk(`${JSON.stringify({ type, object })}\n`));
  }

  /** In order, each at least as late as the one before it. */
  #deliver(act: () => void): void {
    const { clock, prng, weather } = this.#parts;
    this.#lastDeliveryMs = Math.max(this.#lastDeliveryMs, clock.elapsedMs + prng.between(1, weather.latencyMs));
    clock.schedule(() => {
      if (this.#isOpen && !this.#isSilent) act();
    }, this.#lastDeliveryMs - clock.elapsedMs);
  }

  #chunk(text: string): void {
    if (!this.#isOpen) return;
    this.#heardAtMs = this.#parts.clock.elapsedMs;
    try {
      this.#request.onChunk(Buffer.from(text));
    } catch (error) {
      this.#settle(error);
    }
  }

  #meet(fate: (typeof fates)[number]): void {
    if (fate === 'silent') this.silence();
    else if (fate === 'ended') this.#settle();
    else if (fate === '410') this.#sendRefusal(expired('0', '1'));
    else {
      if (fate === 'cut in a line') this.#chunk('{"type":"MODIFIED","object":{"kin');
      this.reset();
    }
  }

  #watchSilence(): void {
    const { idleTimeoutMs } = this.#request;
    const look = (): void => {
      const leftMs = this.#heardAtMs + idleTimeoutMs - this.#parts.clock.elapsedMs;
      if (leftMs > 0) this.#stops.push(this.#later(look, leftMs));
      else this.#settle(new ApiError({ reason: 'Timeout', message: 'the watch was silent' }));
    };
    this.#stops.push(this.#later(look, idleTimeoutMs));
  }

  #later(act: () => void, delayMs: number): CancelTimer {
    return this.#parts.clock.schedule(() => {
      if (this.#isOpen) act();
    }, delayMs);
  }
}

export function refusedConnection(): ApiError {
  const cause = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
  return new ApiError({ reason: 'Network', message: 'connect ECONNREFUSED', cause });
}

export function failure(status: number, reason: string, retryAfterMs?: number): ApiError {
  return new ApiError({ status, reason, message: `a simulated ${status}`, retryAfterMs });
}
