import type { CancelTimer } from '../../../../src/base/clock.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import type { FleetPods } from './fleet-pods.ts';
import type { MemberWeather } from './member-network.ts';
import type { MemberProcess } from './member-process.ts';

/** What a writer asks before a write leaves the process. */
export interface WriteGuard {
  readonly isOwned: boolean;
  requireOwned(): void;
  writeLimitMs(): number;
}

/** Told of what the writers do, as it happens. */
export interface WriteWitness {
  /** The guard has let a write go, and it leaves the process. */
  sent(shard: number): void;
  /** The server has taken a write. `isLate`: after its client has given it up. */
  taken(shard: number, pod: number, version: { readonly before: number; readonly now: number }, isLate: boolean): void;
}

export interface ShardWritersParts {
  readonly shard: number;
  /** The nodes of the shard, by their numbers. */
  readonly nodes: readonly number[];
  readonly term: WriteGuard;
  readonly clock: SimulatedClock;
  readonly process: MemberProcess;
  readonly weather: Readonly<MemberWeather>;
  readonly prng: Prng;
  readonly table: FleetPods;
  readonly witness: WriteWitness;
  readonly count: (what: string) => void;
  /** How long a node waits between two writes, on average. */
  readonly everyMs: () => number;
  /** True: the guard is asked when a write gets into the queue. */
  readonly asksEarly: boolean;
}

const writeTimeoutMs = 10_000;
const finalWrites = 3;

/**
 * The nodes of one shard in one process: each writes a new version of one of its pods now and then, over the network, with the
 * revision that it has read. The guard is asked when a write leaves the process, after the queue.
 */
export class ShardWriters {
  readonly #parts: ShardWritersParts;
  /** What is known of each pod, by its number: read before the first write, and again after a write of which nobody knows. */
  readonly #known = new Map<number, { version: number; revision: number }>();
  readonly #underWay = new Set<number>();
  readonly #timers = new Set<CancelTimer>();
  readonly #drained = Promise.withResolvers<void>();
  #state: 'running' | 'draining' | 'ended' = 'running';

  constructor(parts: ShardWritersParts) {
    this.#parts = parts;
    this.#next();
  }

  get term(): WriteGuard {
    return this.#parts.term;
  }

  /** True while something of the shard runs here. */
  get isRunning(): boolean {
    return this.#state !== 'ended';
  }

  get isDraining(): boolean {
    return this.#state === 'draining';
  }

  /** Writes what is left. Resolves when nothing is under way any more. */
  drain(): Promise<void> {
    if (this.#state !== 'running') return this.#drained.promise;
    this.#state = 'draining';
    this.#later(() => this.#lookDrained(), this.#parts.prng.between(20, 1500));
    for (let left = finalWrites; left > 0; left--) this.#writeSome();
    return this.#drained.promise;
  }

  /** Ends at once. What is under way is given up; what has left the process cannot be called back. */
  end(): void {
    this.#state = 'ended';
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.#drained.resolve();
  }

  #lookDrained(): void {
    if (this.#state !== 'draining' || this.#underWay.size > 0) return;
    this.end();
  }

  #next(): void {
    const { prng, nodes, everyMs } = this.#parts;
    if (nodes.length === 0) return;
    const write = (): void => {
      if (this.#state !== 'running') return;
      this.#writeSome();
      this.#next();
    };
    this.#later(write, prng.between(0, (2 * everyMs()) / nodes.length));
  }

  /** A timer that ends with the writers. */
  #later(callback: () => void, delayMs: number): CancelTimer {
    const cancel = this.#parts.process.clock.setTimer(() => {
      this.#timers.delete(end);
      callback();
    }, delayMs);
    const end = (): void => {
      cancel();
      this.#timers.delete(end);
    };
    this.#timers.add(end);
    return end;
  }

  #writeSome(): void {
    if (this.#state === 'ended') return;
    const { nodes, prng, table } = this.#parts;
    const node = prng.pick(nodes) ?? 0;
    // a few pods have most to say
    const isBusy = prng.chance(0.5);
    const pod = isBusy ? (nodes[0] ?? 0) * table.podsPerNode : node * table.podsPerNode + prng.int(0, table.podsPerNode - 1);
    if (this.#underWay.has(pod)) return;
    this.#underWay.add(pod);
    if (this.#known.has(pod)) this.#write(pod);
    else this.#read(pod);
  }

  /** The version of a pod is read before the first write of it: a new owner goes on where the old one has ended. */
  #read(pod: number): void {
    this.#ask(
      () => {
        const read = this.#parts.table.read(pod);
        return () => {
          this.#known.set(pod, { ...read });
          this.#write(pod);
        };
      },
      () => this.#settled(pod),
    );
  }

  #write(pod: number): void {
    const { term, prng, weather, count, asksEarly } = this.#parts;
    if (this.#state === 'ended') {
      this.#settled(pod);
      return;
    }
    const isLet = asksEarly ? this.#isLet() : undefined;
    const send = (): void => {
      if (isLet ?? this.#isLet()) {
        this.#send(pod, Math.min(writeTimeoutMs, term.writeLimitMs()));
        return;
      }
      count('write kept back by its guard');
      this.#settled(pod);
    };
    if (weather.queueMs === 0) send();
    else this.#later(send, prng.between(0, weather.queueMs));
  }

  #isLet(): boolean {
    try {
      this.#parts.term.requireOwned();
      return true;
    } catch {
      return false;
    }
  }

  #send(pod: number, limitMs: number): void {
    const { clock, shard, table, witness, count } = this.#parts;
    const { version = 0, revision = 0 } = this.#known.get(pod) ?? {};
    witness.sent(shard);
    const givenUpMs = clock.elapsedMs + limitMs;
    const arrive = (): (() => void) => {
      const before = table.write(pod, revision, version + 1);
      if (before === undefined) {
        count('write refused for its revision');
        return () => this.#forget(pod);
      }
      count('write taken');
      const isLate = clock.elapsedMs > givenUpMs || this.#state === 'ended';
      witness.taken(shard, pod, { before, now: version + 1 }, isLate);
      return () => {
        this.#known.set(pod, { version: version + 1, revision: revision + 1 });
        this.#settled(pod);
      };
    };
    this.#ask(arrive, () => this.#forget(pod), limitMs);
  }

  /** One request: it may be lost or late, and so may its answer; a client that waits too long gives it up. */
  #ask(arrive: () => () => void, failed: () => void, limitMs = writeTimeoutMs): void {
    const { clock, process, prng, weather } = this.#parts;
    let isSettled = false;
    const settle = (what: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      cancel();
      what();
    };
    const cancel = this.#later(() => settle(failed), limitMs);
    if (weather.isCut || prng.chance(weather.loss / 2)) return;
    const wayMs = prng.chance(weather.straggling) ? prng.between(2000, 40_000) : prng.between(1, weather.latencyMs);
    clock.schedule(() => {
      if (weather.server === 'down') {
        process.run(() => settle(failed));
        return;
      }
      const answer = arrive();
      if (weather.isCut || prng.chance(weather.loss / 2)) return;
      clock.schedule(() => process.run(() => settle(answer)), prng.between(1, weather.latencyMs));
    }, wayMs);
  }

  #forget(pod: number): void {
    this.#known.delete(pod);
    this.#settled(pod);
  }

  #settled(pod: number): void {
    this.#underWay.delete(pod);
    this.#lookDrained();
  }
}
