import type { SteadyClock } from '../../base/clock.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { FifoSet } from '../../base/concurrency/fifo-set.ts';
import { RateLimiter, type RateLimiterOptions } from '../../base/concurrency/rate-limiter.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { PodMethod } from './long-calls.ts';
import type { ProvidedPod, WaitingCall } from './provided-pod.ts';

export interface CallTurnsOptions {
  /** So many calls are under way at once; undefined: any number. */
  readonly concurrency: number | undefined;
  /** Undefined: as many a second as there are. */
  readonly rateLimiter: RateLimiterOptions | undefined;
  /** No call keeps its place longer. */
  readonly mostHeldMs: number;
  readonly clock: SteadyClock;
}

/** Calls that have their turns one after another. */
interface Lane {
  /** So many of them are under way at once. */
  readonly most: number;
  readonly waiting: FifoSet<Waiter>;
  underWay: number;
}

/** Whose call is to have its turn. */
export interface WantedTurn {
  readonly record: ProvidedPod;
  readonly method: PodMethod;
  readonly lane: TurnLane;
  /** Ends the wait, and gives up the place. */
  readonly signal: AbortSignal;
}

interface Waiter extends WaitingCall {
  readonly go: () => void;
}

/** `ends`: deletePod, and questions about pods that end. `changes`: createPod and updatePod. `questions`: all others. */
export type TurnLane = 'ends' | 'changes' | 'questions';

/**
 * Lets so many calls of a provider be under way at once, and so many begin in a second. What ends pods, what changes them, and
 * questions have a lane each, and of the lanes that wait each has its turn: no call waits for all calls of another lane. In its lane the
 * call that came first is the first. Changes leave one place to the others, where there are several: creations that hang keep no pod
 * from its end.
 *
 * A call has its place until it settles or its signal aborts, and not longer than `mostHeldMs`: what a provider never settles takes no
 * place for ever. The first call and each retry of it take a token of the rate; a call that is aborted while it waits takes none.
 */
export class CallTurns {
  readonly #options: CallTurnsOptions;
  readonly #most: number;
  readonly #limiter: RateLimiter | undefined;
  readonly #lanes: Readonly<Record<TurnLane, Lane>>;
  /** The lane whose turn is next is the first. */
  readonly #order: Set<Lane>;

  constructor(options: CallTurnsOptions) {
    this.#options = options;
    const { concurrency, rateLimiter, clock } = options;
    this.#most = concurrency ?? Number.POSITIVE_INFINITY;
    const lane = (most: number): Lane => ({ most, waiting: new FifoSet(), underWay: 0 });
    this.#lanes = { ends: lane(this.#most), questions: lane(this.#most), changes: lane(Math.max(1, this.#most - 1)) };
    this.#order = new Set(Object.values(this.#lanes));
    if (rateLimiter !== undefined) this.#limiter = new RateLimiter(rateLimiter, clock, () => this.#serve());
  }

  /** Calls that have a place. */
  get underWay(): number {
    let count = 0;
    for (const { underWay } of this.#order) count += underWay;
    return count;
  }

  /** Calls that wait for their turn. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.#order) count += waiting.size;
    return count;
  }

  /** Makes the call at once, or when it is its turn. Rejects with the signal's reason when that aborts before. */
  run<T>(wanted: WantedTurn, call: () => Promise<T>): Promise<T> {
    const { concurrency, rateLimiter } = this.#options;
    return concurrency === undefined && rateLimiter === undefined ? call() : this.#inTurn(wanted, call);
  }

  /** No timer is left. What waits ends with its signal. */
  stop(): void {
    this.#limiter?.release();
  }

  async #inTurn<T>(wanted: WantedTurn, call: () => Promise<T>): Promise<T> {
    const { signal } = wanted;
    signal.throwIfAborted();
    const lane = this.#lanes[wanted.lane];
    if (this.#mayGo(lane)) lane.underWay += 1;
    else await this.#turn(wanted, lane);
    const leave = this.#hold(lane, signal);
    try {
      // it may have aborted since its turn came
      signal.throwIfAborted();
      return await call();
    } finally {
      leave();
    }
  }

  /** True where no other call is to go first. A token is taken then. */
  #mayGo(lane: Lane): boolean {
    if (!this.#hasRoom(lane)) return false;
    // of those that wait, each that has room waits for a token
    for (const other of this.#order) if (other.waiting.size > 0 && this.#hasRoom(other)) return false;
    return this.#limiter?.tryTake() ?? true;
  }

  #hasRoom({ underWay, most }: Lane): boolean {
    return underWay < most && this.underWay < this.#most;
  }

  async #turn({ record, method, signal }: WantedTurn, { waiting }: Lane): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { method, since: this.#options.clock.now(), turns: this, go: resolve };
    waiting.add(waiter);
    record.waits.add(waiter);
    const leave = onAbort(signal, () => {
      if (waiting.delete(waiter)) reject(signal.reason);
    });
    try {
      await promise;
    } finally {
      leave();
      record.waits.delete(waiter);
    }
  }

  /** What it returns gives up the place, if that has not been done before. */
  #hold(lane: Lane, signal: AbortSignal): () => void {
    const { clock, mostHeldMs, concurrency } = this.#options;
    let isHeld = true;
    let ends: readonly (() => void)[] = [];
    const giveUp = (): void => {
      for (const end of ends) end();
      if (!isHeld) return;
      isHeld = false;
      lane.underWay -= 1;
      this.#serve();
    };
    // without a timer the signal still ends the place
    const cancel = concurrency === undefined ? undefined : callGuarded(() => clock.setTimer(giveUp, mostHeldMs), ignoreFailure);
    ends = [onAbort(signal, giveUp), cancel ?? (() => {})];
    return giveUp;
  }

  #serve(): void {
    for (;;) {
      const lane = [...this.#order].find((one) => one.waiting.size > 0 && this.#hasRoom(one));
      if (lane === undefined || this.#limiter?.tryTake() === false) return;
      this.#order.delete(lane);
      this.#order.add(lane);
      lane.underWay += 1;
      lane.waiting.take()?.go();
    }
  }
}
