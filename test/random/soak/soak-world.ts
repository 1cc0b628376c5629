import type { ApiObject } from '../../../src/client/resources/api-resource.ts';
import type { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import { Prng } from '../chaos/prng.ts';
import { ApiFaults, fairApiWeather } from '../simulation/parts/api-weather.ts';
import { SimulatedObjects } from '../simulation/parts/simulated-objects.ts';
import { SimulatedTransport } from '../simulation/parts/simulated-transport.ts';
import { nextTurn, ProcessClock, SimulatedClock } from '../simulation/simulated-clock.ts';
import { epochMs } from '../simulation/simulated-server.ts';

export const namespace = 'soak';
export const nodeName = 'node-1';

/** Whose memory is looked at: a part that lives for months, with what it is wired to. */
export interface SoakSubject {
  /** One round of life. Whatever it brings has gone again when it ends. Resolves with the number of changes. */
  churn(round: number): Promise<number>;
  /** Ends the part. Nothing of it may be left then. */
  stop(): Promise<void>;
}

export interface SoakPart {
  readonly name: string;
  /** So many changes at least are made before anything is measured: until everything that is bounded is full. */
  readonly warmUp?: number;
  open(world: SoakWorld): Promise<SoakSubject>;
}

/** A server in memory and a network in virtual time, in which weather comes and goes. It keeps nothing of what is gone. */
export class SoakWorld {
  readonly prng: Prng;
  readonly clock: SimulatedClock;
  /** The clock of the part. */
  readonly partClock: ProcessClock;
  readonly transport: SimulatedTransport;
  readonly #weather = { ...fairApiWeather };
  readonly #objects: SimulatedObjects;
  #expectedGone: { readonly reference: WeakRef<object>; readonly round: number }[] = [];
  readonly #noted = new WeakSet<object>();
  #storms = 0;
  #rounds = 0;

  constructor(seed: number, settle = nextTurn) {
    this.prng = new Prng(seed).fork('soak');
    this.clock = new SimulatedClock(settle);
    this.partClock = new ProcessClock(this.clock, epochMs);
    this.#objects = new SimulatedObjects(this.clock, this.prng.fork('server'), this.#weather);
    const network = { clock: this.clock, objects: this.#objects, weather: this.#weather };
    this.transport = new SimulatedTransport({ ...network, prng: this.prng.fork('network'), count: () => {} });
  }

  /** The same transport, for a part that asks for a `KubeTransport`: it needs no more than these methods. */
  get kubeTransport(): KubeTransport {
    const { transport } = this;
    const narrow: Pick<KubeTransport, 'request' | 'stream' | 'close'> = {
      request: (request) => transport.request(request),
      stream: (request) => transport.stream(request),
      close: async () => {},
    };
    return narrow as KubeTransport;
  }

  store(resource: string, group = '/api/v1'): ReturnType<SimulatedObjects['target']>['store'] {
    return this.#objects.target(`${group}/${resource}`).store;
  }

  /** Lets time pass. */
  pass(ms: number): Promise<void> {
    return this.clock.runUntil(this.clock.elapsedMs + ms, () => false);
  }

  /** Lets time pass until the work has settled, and no longer: what it has left behind can be seen then. */
  async awaited<T>(work: Promise<T>): Promise<T> {
    let hasSettled = false;
    const settled = (): void => {
      hasSettled = true;
    };
    work.then(settled, settled);
    for (let i = 0; !hasSettled && i < 10_000; i++) await this.pass(20);
    if (!hasSettled) throw new Error('the end of the part does not come');
    return work;
  }

  /** Everything may go wrong for a while: requests, watches, the wall clock. */
  async storm(ms: number): Promise<void> {
    const faults = new ApiFaults({
      clock: this.clock,
      weather: this.#weather,
      cachesLag: true,
      prng: this.prng.fork(`storm ${++this.#storms}`),
      compact: () => this.#objects.compact(),
      resetAll: () => this.transport.resetAll(),
      jumpClock: (by) => this.partClock.jump(by),
      count: () => {},
    });
    await this.pass(ms);
    faults.end();
    await this.pass(60_000);
  }

  /** Takes an object of a store away, whatever holds it. */
  remove(resource: string, object: ApiObject, group?: string): void {
    const store = this.store(resource, group);
    const name = object.metadata?.name ?? '';
    if (store.has({ namespace, name })) store.delete({ namespace, name }, { gracePeriodSeconds: 0 } as never);
  }

  /** From the end of the next round on nothing may hold this object. A part may look at the last change until the next one. */
  expectGone<T extends object>(object: T): T {
    if (!this.#noted.has(object)) this.#expectedGone.push({ reference: new WeakRef(object), round: this.#rounds });
    this.#noted.add(object);
    return object;
  }

  /** A round has ended: the server forgets its history, as etcd does by compaction, and the events that were written to it. */
  endRound(): void {
    this.#rounds += 1;
    for (const group of ['/api/v1', '/apis/events.k8s.io/v1']) {
      const events = this.store('events', group);
      for (const { metadata } of events.list()) {
        events.delete({ namespace: metadata?.namespace ?? namespace, name: metadata?.name ?? '' });
      }
    }
    this.#objects.compact();
  }

  /** How many objects that should be gone can still be reached. Ask after a garbage collection. */
  stillReachable(): number {
    this.#expectedGone = this.#expectedGone.filter(({ reference }) => reference.deref() !== undefined);
    return this.#expectedGone.filter(({ round }) => round < this.#rounds - 1).length;
  }
}
