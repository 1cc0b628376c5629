import {
  ApiError,
  type DeletePodOptions,
  type PodClient,
  type PodMetadata,
  type PodStatusPatch,
  type RequestOptions,
  type WirePod,
} from '../../../src/index.ts';
import { podMetadataOf } from '../../../src/testing/fakes/builders.ts';
import type { Prng } from '../chaos/prng.ts';
import { uidInPatch } from '../chaos/watched-client.ts';
import type { RunLog } from './run-log.ts';
import type { SimulatedClock } from './simulated-clock.ts';
import { type ManagerWrite, networkError, type SimulatedServer } from './simulated-server.ts';

/** How bad the network is; all chances are of one request. */
export interface NetworkWeather {
  /** The longest usual way there, or back, in milliseconds. */
  latencyMs: number;
  loss: number;
  /** A way that takes far longer than any client waits. */
  straggling: number;
  duplication: number;
}

export const fairWeather: Readonly<NetworkWeather> = { latencyMs: 20, loss: 0, straggling: 0, duplication: 0 };

export interface NetworkParts {
  readonly clock: SimulatedClock;
  readonly server: SimulatedServer;
  readonly weather: Readonly<NetworkWeather>;
  readonly prng: Prng;
  readonly log: RunLog;
  readonly nextID: () => number;
}

/**
 * The way from one process to the apiserver. What the client was told says little about what the server did: a request
 * that timed out here may still run there, much later.
 */
export class SimulatedNetwork implements PodClient {
  readonly #parts: NetworkParts;
  #dead = false;

  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  /** The process is gone: its requests may still arrive, and no answer is delivered. */
  kill(): void {
    this.#dead = true;
  }

  getPod(namespace: string, name: string, { signal }: RequestOptions): Promise<WirePod> {
    const { store } = this.#parts.server;
    return this.#send('get', namespace, name, '', signal, () => store.get(namespace, name));
  }

  patchPodStatus(namespace: string, name: string, patch: PodStatusPatch, { signal }: RequestOptions): Promise<PodMetadata> {
    const { store } = this.#parts.server;
    const { type } = patch;
    // encoded now: later changes to the object do not reach the server
    const json = JSON.stringify(patch.body);
    this.#parts.log.step(() => `patch for ${namespace}/${name}: ${json}`);
    return this.#send('patch', namespace, name, uidInPatch(patch), signal, () =>
      podMetadataOf(store.patch(namespace, name, { type, body: JSON.parse(json), subresource: 'status' })),
    );
  }

  deletePod(namespace: string, name: string, { signal, gracePeriodSeconds, uid }: DeletePodOptions): Promise<PodMetadata> {
    const { store } = this.#parts.server;
    const preconditions = uid ? { uid } : undefined;
    return this.#send('delete', namespace, name, uid ?? '', signal, () =>
      podMetadataOf(store.delete(namespace, name, { gracePeriodSeconds, preconditions }).pod),
    );
  }

  #send<T>(
    verb: ManagerWrite['verb'],
    namespace: string,
    name: string,
    uid: string,
    signal: AbortSignal,
    execute: () => T,
  ): Promise<T> {
    const { nextID, log } = this.#parts;
    let isSettled = false;
    const isAwaited = (): boolean => !isSettled && !signal.aborted && !this.#dead;
    const write: ManagerWrite = {
      id: nextID(),
      verb,
      uid,
      get isAwaited() {
        return isAwaited();
      },
    };
    const target = `${namespace}/${name}`;
    log.counts.requests++;
    log.step(() => `#${write.id} ${verb} ${target} is sent${uid === '' ? '' : `, uid ${uid}`}`);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const settle = (what: string, act: () => void): void => {
      if (isSettled || this.#dead) return;
      isSettled = true;
      signal.removeEventListener('abort', abort);
      log.step(() => `#${write.id} ${what}`);
      act();
    };
    const journey = new Journey(this.#parts, write, execute, {
      answered: (answer) => settle('is answered', () => resolve(answer)),
      failed: (error) =>
        settle(`fails: ${error instanceof Error ? error.message.slice(0, 120) : String(error)}`, () => reject(error)),
    });
    // an aborted request takes its time to settle, and may run on the server all the same
    const abort = (): void => {
      journey.abort();
      const aborted = new ApiError({ reason: 'Aborted', message: 'aborted' });
      this.#parts.clock.schedule(() => settle('is aborted', () => reject(aborted)), this.#parts.prng.between(0, 300));
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
    journey.begin();
    return promise;
  }
}

interface Ends<T> {
  readonly answered: (answer: T) => void;
  readonly failed: (error: unknown) => void;
}

/** One request's way there and back, and everything that can happen to it. */
class Journey<T> {
  readonly #parts: NetworkParts;
  readonly #write: ManagerWrite;
  readonly #execute: () => T;
  readonly #ends: Ends<T>;
  #neverArrives = false;

  constructor(parts: NetworkParts, write: ManagerWrite, execute: () => T, ends: Ends<T>) {
    this.#parts = parts;
    this.#write = write;
    this.#execute = execute;
    this.#ends = ends;
  }

  begin(): void {
    const { clock, weather, prng } = this.#parts;
    if (prng.chance(weather.loss / 2)) {
      this.#fault('request lost');
      this.#neverArrives = true;
      this.#resetMaybe();
      return;
    }
    let wayMs = prng.between(1, weather.latencyMs);
    if (prng.chance(weather.straggling)) {
      this.#fault('request straggles');
      wayMs = prng.between(2000, 40_000);
      // the connection breaks here while the request is on its way: the client tries again, and then it arrives
      if (prng.chance(0.5)) clock.schedule(() => this.#ends.failed(networkError('connection reset')), prng.between(5, 2000));
    }
    clock.schedule(() => this.#arrive(), wayMs);
    if (prng.chance(weather.duplication)) {
      this.#fault('request duplicated');
      clock.schedule(() => this.#arrive(), wayMs + prng.between(0, 15_000));
    }
  }

  abort(): void {
    if (this.#parts.prng.chance(0.3)) this.#neverArrives = true;
  }

  #arrive(): void {
    if (this.#neverArrives) return;
    const { clock, server, weather, prng, log } = this.#parts;
    let end: () => void;
    try {
      const answer = server.answer(this.#write, this.#execute);
      end = () => this.#ends.answered(answer);
    } catch (error) {
      end = () => this.#ends.failed(error);
    }
    log.step(() => `#${this.#write.id} has run on the server`);
    if (prng.chance(weather.loss / 2)) {
      this.#fault('answer lost');
      this.#resetMaybe();
      return;
    }
    clock.schedule(end, prng.between(1, weather.latencyMs));
  }

  /** Nothing comes back: the client sees the connection break, or hears nothing until it gives up. */
  #resetMaybe(): void {
    const { clock, prng } = this.#parts;
    if (prng.chance(0.5)) clock.schedule(() => this.#ends.failed(networkError('connection reset')), prng.between(1, 3000));
  }

  #fault(kind: string): void {
    this.#parts.log.fault(kind);
    this.#parts.log.step(() => `#${this.#write.id} ${kind}`);
  }
}
