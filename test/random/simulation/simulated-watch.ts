import type { WirePod } from '../../../src/index.ts';
import { type PodEvent, StoreError } from '../../../src/testing.ts';
import type { Prng } from '../chaos/prng.ts';
import type { RunLog } from './run-log.ts';
import type { SimulatedClock } from './simulated-clock.ts';
import type { SimulatedServer } from './simulated-server.ts';

export interface WatchParts {
  readonly clock: SimulatedClock;
  readonly server: SimulatedServer;
  readonly prng: Prng;
  readonly log: RunLog;
  readonly set: (pod: WirePod) => void;
  /** A list shows an older copy of this pod than was known. */
  readonly replace: (pod: WirePod) => void;
  readonly remove: (pod: WirePod) => void;
  /** Something was heard from the server, if only that nothing changed. */
  readonly heard: () => void;
  /** A list has been delivered. `startedAt` is what the process's clock said when it began. */
  readonly listed: (startedAt: number) => void;
  readonly now: () => number;
}

const bookmarkEveryMs = 10_000;

/**
 * A pod source over an unreliable connection: events come late but in order; when the connection breaks, those on their
 * way are lost, and a list makes up for them some time later.
 */
export class SimulatedWatch {
  readonly #parts: WatchParts;
  readonly #known = new Map<string, WirePod>();
  /** The longest usual delay of an event, in milliseconds. */
  lagMs = 50;
  /** Lists come from a server whose cache lags behind: copies go back in time, and pods come and go again. */
  listsAreStale = false;
  #connection = 0;
  #isConnected = false;
  #lastDeliveryMs = 0;
  #stop: () => void;
  #dead = false;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#stop = parts.server.store.watch((event) => this.#announce(event));
    this.#relistAfter(parts.prng.between(5, 500));
    this.#bookmark();
  }

  /** Cuts the connection. A list comes after a while; until then nothing is heard. */
  cut(gapMs: number): void {
    if (this.#dead) return;
    this.#isConnected = false;
    this.#connection++;
    this.#relistAfter(gapMs);
  }

  /** The source hears nothing from now on, and does not know it. */
  die(): void {
    this.#isConnected = false;
    this.#connection++;
  }

  kill(): void {
    this.#dead = true;
    this.#stop();
  }

  #announce(event: PodEvent): void {
    if (!this.#isConnected) return;
    this.#deliver(() => {
      this.#parts.log.step(() => `watch: ${event.type} ${shown(event.object)}`);
      if (event.type === 'DELETED') this.#remove(event.object);
      else this.#set(event.object);
    });
  }

  /** In order of the events, each at least as late as the one before it. */
  #deliver(act: () => void): void {
    const { clock, prng, heard } = this.#parts;
    const connection = this.#connection;
    this.#lastDeliveryMs = Math.max(this.#lastDeliveryMs, clock.elapsedMs + prng.between(1, this.lagMs));
    clock.schedule(() => {
      if (this.#dead || connection !== this.#connection) return;
      heard();
      act();
    }, this.#lastDeliveryMs - clock.elapsedMs);
  }

  #relistAfter(delayMs: number): void {
    const { clock, server, prng } = this.#parts;
    const connection = this.#connection;
    clock.schedule(() => {
      if (this.#dead || connection !== this.#connection) return;
      if (server.mode === 'down' || (server.mode !== 'well' && prng.chance(0.7))) {
        this.#relistAfter(prng.between(500, 5000));
        return;
      }
      const startedAt = this.#parts.now();
      const { pods, resourceVersion } = this.listsAreStale ? server.staleList(prng) : server.list();
      this.#isConnected = true;
      this.#lastDeliveryMs = clock.elapsedMs;
      this.#deliver(() => {
        this.#replace(pods);
        this.#parts.listed(startedAt);
      });
      this.#catchUpFrom(resourceVersion);
    }, delayMs);
  }

  /** What happened since a list. What the server has forgotten takes another list. */
  #catchUpFrom(resourceVersion: string): void {
    const { server } = this.#parts;
    try {
      for (const event of server.store.eventsSince(resourceVersion)) this.#announce(event);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.cut(100);
    }
  }

  #replace(pods: readonly WirePod[]): void {
    const old = pods.filter(({ metadata }) => isOlder(metadata, this.#known.get(metadata?.uid ?? '')?.metadata));
    this.#parts.log.step(() => `watch: a list of ${pods.length} pods, ${old.length} of them older than known`);
    for (const _ of old) this.#parts.log.fault('copy back in time');
    const uids = new Set(pods.map((pod) => pod.metadata?.uid));
    for (const known of [...this.#known.values()]) if (!uids.has(known.metadata?.uid)) this.#remove(known);
    for (const pod of pods) {
      if (old.includes(pod)) this.#parts.replace(pod);
      this.#set(pod);
    }
  }

  #set(pod: WirePod): void {
    this.#known.set(pod.metadata?.uid ?? '', pod);
    this.#parts.set(pod);
  }

  #remove(pod: WirePod): void {
    if (this.#known.delete(pod.metadata?.uid ?? '')) this.#parts.remove(pod);
  }

  #bookmark(): void {
    this.#parts.clock.schedule(() => {
      if (this.#dead) return;
      if (this.#isConnected) this.#deliver(() => {});
      this.#bookmark();
    }, bookmarkEveryMs);
  }
}

type Metadata = WirePod['metadata'];

function isOlder(pod: Metadata, known: Metadata): boolean {
  return Number(pod?.resourceVersion) < Number(known?.resourceVersion ?? 0);
}

function shown({ metadata = {} }: WirePod): string {
  const deleting = metadata.deletionTimestamp === undefined ? '' : ', deleting';
  return `${metadata.namespace}/${metadata.name} (${metadata.uid}, version ${metadata.resourceVersion}${deleting})`;
}
