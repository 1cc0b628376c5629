import { BasicPodManager, isStatusManagerError, type MetricsSink } from '../../../../src/index.ts';
import { type FrozenSecret, SecretManager } from '../../../../src/object-managers.ts';
import { Prng } from '../../chaos/prng.ts';
import { ProcessClock, SimulatedClock } from '../simulated-clock.ts';
import { Checker } from './checker.ts';
import type { ObjectAgent, ObjectMutant } from './mutants.ts';
import { namespaces, Pods, secretNames } from './pods.ts';
import type { Violation } from './rules.ts';
import { SimulatedWire } from './simulated-wire.ts';
import { type FaultKind, Storm } from './weather.ts';

export interface ObjectSimulationOptions {
  readonly seed: number;
  /** Simulated minutes of faults; some of calm follow. */
  readonly minutes: number;
  readonly strategy: 'watch' | 'cache';
  readonly mutant?: ObjectMutant | undefined;
  readonly onStep?: ((line: string) => void) | undefined;
}

export interface ObjectSimulationResult {
  readonly seed: number;
  readonly simulatedMs: number;
  readonly requests: number;
  /** Reads that gave a value. */
  readonly reads: number;
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly violation: Violation | undefined;
}

/** Longer than the silence after which a watch counts as dead, the longest wait after failures, and a list. */
const calmMs = 300_000;
/** Part of every value, so that one is found wherever it stands. */
const valueMark = 'secret-value';

/** Runs a manager of secrets through every kind of fault, in virtual time. */
export async function simulateObjects(options: ObjectSimulationOptions): Promise<ObjectSimulationResult> {
  const run = new ObjectRun(options);
  return run.run();
}

class ObjectRun {
  readonly #options: ObjectSimulationOptions;
  readonly #clock = new SimulatedClock();
  readonly #process = new ProcessClock(this.#clock, Date.UTC(2000, 0, 1));
  readonly #prng: Prng;
  readonly #wire: SimulatedWire;
  readonly #storm: Storm;
  readonly #checker: Checker;
  readonly #manager: SecretManager;
  readonly #agent: ObjectAgent;
  readonly #pods: Pods;
  #referencedGauge = 0;
  #puts = 0;
  #isOver = false;

  constructor(options: ObjectSimulationOptions) {
    const { seed, strategy, mutant } = options;
    this.#options = options;
    this.#prng = new Prng(seed, strategy === 'watch' ? 1 : 2);
    this.#wire = new SimulatedWire(this.#clock, this.#prng.fork('wire'), () => this.#storm?.weather);
    this.#storm = new Storm(this.#clock, this.#wire.server, this.#prng.fork('storm'));
    this.#checker = new Checker({ server: this.#wire.server, strategy, now: () => this.#clock.elapsedMs });
    const transport = mutant?.transport?.(this.#wire, this.#prng.fork('mutant')) ?? this.#wire;
    const random = this.#prng.fork('manager');
    this.#manager = new SecretManager({
      transport,
      strategy,
      ttlMs: this.#prng.pick([0, 5000, 60_000]) ?? 0,
      resyncIntervalMs: this.#prng.pick([0, 20_000, 60_000]) ?? 0,
      streamLists: this.#prng.chance(0.7),
      random: () => random.next(),
      clock: this.#process,
      metrics: this.#metrics(),
      logger: this.#logger(),
    });
    const manager = this.#manager;
    const agent: ObjectAgent = {
      getSecret: (namespace, name) => manager.getSecret(namespace, name),
      registerPod: (pod) => manager.registerPod(pod),
      unregisterPod: (pod) => manager.unregisterPod(pod),
    };
    this.#agent = mutant?.agent?.(agent, this.#prng.fork('mutant')) ?? agent;
    this.#pods = new Pods(new BasicPodManager({ secretManager: this.#agent }), this.#checker, this.#prng.fork('pods'));
  }

  async run(): Promise<ObjectSimulationResult> {
    const { seed, minutes } = this.#options;
    this.#storm.begin();
    this.#often(() => this.#pods.act(), 3000);
    this.#often(() => this.#change(), 2000);
    this.#often(() => this.#readAny(), 400);
    this.#often(() => this.#checker.look(this.#referencedGauge), 100);
    await this.#until(minutes * 60_000);
    this.#storm.calm();
    this.#isOver = true;
    await this.#until(this.#clock.elapsedMs + calmMs);
    await this.#checkNewest();
    await this.#end();
    const { server } = this.#wire;
    const { violation, checked } = this.#checker;
    const simulatedMs = this.#clock.elapsedMs;
    return { seed, simulatedMs, requests: server.requests.length, reads: checked, faults: this.#storm.counts, violation };
  }

  #until(ms: number): Promise<void> {
    return this.#clock.runUntil(ms, () => this.#checker.violation !== undefined);
  }

  /** Calls `act` again and again until the storm is over, about every so many milliseconds. */
  #often(act: () => void, everyMs: number): void {
    const again = (): void => {
      if (this.#isOver) return;
      act();
      this.#often(act, everyMs);
    };
    this.#clock.schedule(again, this.#prng.between(0, 2 * everyMs));
  }

  /** Somebody creates, changes or deletes a secret. An immutable one is only deleted. */
  #change(): void {
    const { server } = this.#wire;
    const namespace = this.#prng.pick(namespaces) ?? 'd';
    const name = this.#prng.pick(secretNames) ?? 'a';
    const isImmutable = server.versionAt(namespace, name)?.immutable === true;
    if (isImmutable || this.#prng.chance(0.2)) {
      this.#step(() => `${namespace}/${name} is deleted`);
      server.delete(namespace, name);
      return;
    }
    const version = server.put(namespace, name, `${valueMark}-${++this.#puts}`, this.#prng.chance(0.1));
    this.#step(() => `${namespace}/${name} has version ${version}`);
  }

  #readAny(): void {
    const any = `${this.#prng.pick(namespaces)}/${this.#prng.pick(secretNames)}`;
    void this.#read(this.#prng.chance(0.1) ? any : (this.#prng.pick(this.#checker.referenced) ?? any));
  }

  /** Resolves to the version that was given. */
  async #read(key: string): Promise<number | undefined> {
    const [namespace = '', name = ''] = key.split('/');
    const reading = this.#checker.begin(key);
    try {
      const secret: FrozenSecret = await this.#agent.getSecret(namespace, name);
      this.#step(() => `${key} is read as version ${secret.metadata?.resourceVersion}`);
      this.#checker.gave(reading, secret);
      return Number(secret.metadata?.resourceVersion);
    } catch (error) {
      this.#step(() => `${key} cannot be read: ${error}`);
      this.#checker.failed(reading, error);
      if (isStatusManagerError(error, 'ERR_NOT_FOUND')) return undefined;
      return Number.NaN;
    }
  }

  async #checkNewest(): Promise<void> {
    if (this.#checker.violation !== undefined) return;
    const reads = this.#checker.referenced.map(async (key) => {
      const version = await this.#read(key);
      const newest = this.#checker.newest(key);
      if (version !== newest) this.#checker.break('newest', `${key} is read as ${version}, the newest is ${newest}`);
    });
    let isDone = false;
    void Promise.all(reads).then(() => {
      isDone = true;
    });
    await this.#until(this.#clock.elapsedMs + 20_000);
    this.#checker.look(this.#referencedGauge);
    if (!isDone) this.#checker.break('in time', 'a read in fair weather does not end');
  }

  async #end(): Promise<void> {
    if (this.#checker.violation !== undefined) return;
    this.#pods.removeAll();
    this.#checker.look(this.#referencedGauge);
    let hasStopped = false;
    void this.#manager.stop().then(() => {
      hasStopped = true;
    });
    await this.#until(this.#clock.elapsedMs + 20_000);
    if (!hasStopped) this.#checker.break('nothing left', 'stop() does not end');
    const left = [this.#wire.server.watches.size, this.#wire.requestsUnderWay, this.#process.pendingTimers];
    if (left.some((count) => count > 0)) this.#checker.break('nothing left', `watches, requests, timers: ${left.join(', ')}`);
  }

  #step(line: () => string): void {
    this.#options.onStep?.(`${(this.#clock.elapsedMs / 1000).toFixed(3).padStart(9)} ${line()}`);
  }

  #metrics(): MetricsSink {
    const nothing = (): void => {};
    const set = (name: string, value: number): void => {
      if (name === 'pod_status_manager_referenced_objects') this.#referencedGauge = value;
    };
    return { increment: nothing, observe: nothing, set };
  }

  #logger() {
    const log = (fields: object, message: string): void => {
      const { err } = fields as { readonly err?: unknown };
      const line = `${message} ${JSON.stringify(fields)} ${err instanceof Error ? err.message : ''}`;
      this.#step(() => line);
      const encoded = Buffer.from(valueMark).toString('base64').slice(0, 12);
      if (line.includes(valueMark) || line.includes(encoded)) this.#checker.break('silent', line);
    };
    return { debug: log, info: log, warn: log, error: log };
  }
}
