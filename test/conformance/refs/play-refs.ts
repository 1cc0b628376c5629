import { Buffer } from 'node:buffer';
import type { Pod } from '../../../src/api/json/types.ts';
import { ConfigMapManager, type ObjectManagerOptions, SecretManager } from '../../../src/object-managers.ts';
import { FakeClock, settle } from '../../../src/testing/fakes/fake-clock.ts';
import type { RecordedAction, RecordedObject, RefsCase, RefsStep } from './refs-case.ts';
import { RecordedServer } from './refs-recorded-server.ts';

/** What one step has led to. */
export interface PlayedStep {
  readonly actions: readonly RecordedAction[];
  /** Of a get. */
  readonly read: PlayedRead | undefined;
  readonly openWatches: readonly string[];
  /** Of a put: the version that the object got. */
  readonly putVersion: string | undefined;
}

export interface PlayedRead {
  readonly object: RecordedObject | undefined;
  readonly failure: unknown;
  readonly waitedMs: number;
}

export interface PlayedCase {
  readonly steps: readonly PlayedStep[];
  /** What was left when the manager had stopped. */
  readonly leftWatches: readonly string[];
  readonly leftTimers: number;
}

interface Manager {
  get(namespace: string, name: string): Promise<ReadObject>;
  registerPod(pod: Pod): void;
  unregisterPod(pod: Pod): void;
  stop(): Promise<void>;
}

interface ReadObject {
  readonly metadata?: { readonly namespace?: string; readonly name?: string; readonly resourceVersion?: string };
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
}

/** Upstream looks every 10 ms whether an object has come. */
const pollMs = 10;
const longestReadMs = 5000;

/** Plays the case in virtual time. */
export async function playRefs(recorded: RefsCase): Promise<PlayedCase> {
  const player = new RefsPlayer(recorded);
  const steps: PlayedStep[] = [];
  for (const step of recorded.steps) steps.push(await player.play(step));
  return { steps, ...(await player.end()) };
}

class RefsPlayer {
  readonly #case: RefsCase;
  readonly #clock: FakeClock;
  readonly #server: RecordedServer;
  readonly #manager: Manager;
  #nodeTTLSeconds: number | undefined;

  constructor(recorded: RefsCase) {
    const { resource, mode, watchList = false, resyncSeconds = 0, nodeTTLSeconds } = recorded;
    this.#case = recorded;
    this.#clock = new FakeClock({ start: new Date(recorded.start) });
    this.#server = new RecordedServer(resource);
    this.#nodeTTLSeconds = nodeTTLSeconds;
    this.#manager = managerOf(resource, {
      transport: this.#server,
      strategy: mode,
      streamLists: watchList,
      resyncIntervalMs: resyncSeconds * 1000,
      getTtlMs: () => (this.#nodeTTLSeconds === undefined ? undefined : this.#nodeTTLSeconds * 1000),
      random: () => 0.5,
      clock: this.#clock,
    });
  }

  async play(step: RefsStep): Promise<PlayedStep> {
    const read = step.op === 'get' ? await this.#read(step.namespace, step.name) : undefined;
    const putVersion = step.op === 'get' ? undefined : await this.#perform(step);
    await settle();
    return { actions: this.#server.takeActions(), read, openWatches: this.#server.openWatches(), putVersion };
  }

  async end(): Promise<Omit<PlayedCase, 'steps'>> {
    await this.#manager.stop();
    return { leftWatches: this.#server.openWatches(), leftTimers: this.#clock.pendingTimers };
  }

  async #perform(step: Exclude<RefsStep, { op: 'get' }>): Promise<string | undefined> {
    const server = this.#server;
    if (step.op === 'server.put') return server.put(step.object);
    if (step.op === 'advance') await this.#clock.advance(step.seconds * 1000);
    else if (step.op === 'register') this.#manager.registerPod(step.pod);
    else if (step.op === 'unregister') this.#manager.unregisterPod(step.pod);
    else if (step.op === 'nodeTTL') this.#nodeTTLSeconds = step.seconds;
    else if (step.op === 'server.delete') server.delete(step.namespace, step.name);
    else if (step.op === 'server.fail') server.fail(step.verb, step.name, step.code, step.times);
    else if (step.op === 'server.stale') server.stale(step.namespace, step.name, step.times);
    else if (step.op === 'server.hold') server.hold(step.name);
    else if (step.op === 'server.letGo') server.letGo(step.name);
    else server.endWatches(step.op === 'server.expireWatches');
    return undefined;
  }

  /** A read that ours answers at once took upstream one poll when a list had to come first: the clock goes on as there. */
  async #read(namespace: string, name: string): Promise<PlayedRead> {
    const began = this.#clock.now();
    let read: Omit<PlayedRead, 'waitedMs'> | undefined;
    let settledAt = began;
    const settled = (outcome: Omit<PlayedRead, 'waitedMs'>): void => {
      read = outcome;
      settledAt = this.#clock.now();
    };
    this.#manager.get(namespace, name).then(
      (object) => settled({ object: this.#recorded(object), failure: undefined }),
      (failure: unknown) => settled({ object: undefined, failure }),
    );
    const waitsForNoWatch = await this.#waitsForNoWatch(() => read !== undefined);
    while (read === undefined && this.#clock.now() - began < longestReadMs) await this.#clock.advance(pollMs);
    if (read === undefined) throw new Error(`The read of ${namespace}/${name} takes longer than ${longestReadMs} ms`);
    const waited = settledAt - began;
    const polledMs = waitsForNoWatch ? waited : Math.max(pollMs, Math.ceil(waited / pollMs) * pollMs);
    await this.#clock.advance(began + polledMs - this.#clock.now());
    return { ...(read as Omit<PlayedRead, 'waitedMs'>), waitedMs: polledMs };
  }

  /** True for every read of a cache, and for one that is answered with no list before it. */
  async #waitsForNoWatch(isAnswered: () => boolean): Promise<boolean> {
    const requests = this.#server.requests;
    await settle();
    return this.#case.mode === 'cache' || (isAnswered() && this.#server.requests === requests);
  }

  #recorded({ metadata, immutable, data }: ReadObject): RecordedObject {
    const v = data?.v ?? '';
    return {
      namespace: metadata?.namespace ?? '',
      name: metadata?.name ?? '',
      value: this.#case.resource === 'secrets' ? Buffer.from(v, 'base64').toString() : v,
      ...(immutable === true && { immutable }),
      resourceVersion: metadata?.resourceVersion ?? '',
    };
  }
}

function managerOf(resource: RefsCase['resource'], options: ObjectManagerOptions): Manager {
  const manager =
    resource === 'secrets' ? new SecretManager({ logger: null, ...options }) : new ConfigMapManager({ logger: null, ...options });
  return {
    get: (namespace, name) =>
      manager instanceof SecretManager ? manager.getSecret(namespace, name) : manager.getConfigMap(namespace, name),
    registerPod: (pod) => manager.registerPod(pod),
    unregisterPod: (pod) => manager.unregisterPod(pod),
    stop: () => manager.stop(),
  };
}
