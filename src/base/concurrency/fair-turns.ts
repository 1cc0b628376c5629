import type { SteadyClock } from '../clock.ts';
import { StatusManagerError } from '../errors.ts';
import { integerOption } from '../options.ts';
import { onAbort } from './aborts.ts';
import { FifoSet } from './fifo-set.ts';
import { RateLimiter, type RateLimiterOptions } from './rate-limiter.ts';

export interface FairTurnsOptions {
  /** So many calls are under way at once. */
  readonly concurrency: number;
  /** So many calls of one key that are not urgent are under way at once. Default: as many as there is room for. */
  readonly concurrencyPerKey?: number | undefined;
  /** How many calls begin in a second. Default: as many as there is room for. */
  readonly rateLimiter?: RateLimiterOptions | undefined;
  readonly clock: SteadyClock;
}

/** Whose turn is wanted. */
export interface FairTurn {
  /** Keys have their turns one after the other. */
  readonly key: string;
  /** True: goes before what is not urgent. Default false. */
  readonly isUrgent?: boolean | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

/** The calls of one key in one lane. */
interface Flow {
  readonly key: string;
  readonly waiting: FifoSet<() => void>;
  underWay: number;
}

/** Of so many turns in a row that could go to either, the last one goes to what is not urgent. */
const turnsInRow = 5;

/**
 * Lets so many calls be under way at once, and so many begin in a second. Those that wait have their turns by key, one call of each
 * after the other: a key with a thousand calls delays the next call of another key by one turn. Urgent calls go first, but for one turn
 * in five, and one place is kept for them where there are two or more. Each step takes constant time; nothing is kept of a key that has
 * no call here.
 */
export class FairTurns {
  readonly #most: number;
  readonly #urgent: Lane;
  readonly #usual: Lane;
  readonly #limiter: RateLimiter | undefined;
  /** Urgent turns since the last one that was not, while others waited. */
  #urgentInRow = 0;
  #isStopped = false;

  constructor({ concurrency, concurrencyPerKey, rateLimiter, clock }: FairTurnsOptions) {
    this.#most = integerOption('concurrency', concurrency, 1);
    if (concurrencyPerKey !== undefined) integerOption('concurrencyPerKey', concurrencyPerKey, 1);
    this.#urgent = new Lane(concurrency, Number.POSITIVE_INFINITY);
    this.#usual = new Lane(Math.max(1, concurrency - 1), concurrencyPerKey ?? Number.POSITIVE_INFINITY);
    this.#limiter = rateLimiter && new RateLimiter(rateLimiter, clock, () => this.#serve());
  }

  /** Calls that have a place. */
  get underWay(): number {
    return this.#urgent.underWay + this.#usual.underWay;
  }

  /** Calls that wait for their turn. */
  get waiting(): number {
    return this.#urgent.waiting + this.#usual.waiting;
  }

  /** Keys of which something is kept. */
  get keys(): number {
    return this.#urgent.keys + this.#usual.keys;
  }

  /**
   * Makes the call when it is its turn; it has its place until it settles. Rejects as the call does, with the signal's reason when that
   * aborts before, and with ERR_STOPPED after `stop()`; then the call is not made.
   */
  async run<T>({ key, isUrgent = false, signal }: FairTurn, call: () => PromiseLike<T> | T): Promise<T> {
    signal?.throwIfAborted();
    if (this.#isStopped) throw stopped();
    const lane = isUrgent ? this.#urgent : this.#usual;
    const flow = await this.#turn(lane, key, signal);
    try {
      // either may have come about since the turn came
      signal?.throwIfAborted();
      if (this.#isStopped) throw stopped();
      return await call();
    } finally {
      lane.left(flow);
      this.#serve();
    }
  }

  /** Ends every wait and the timer. Calls that are under way go on. */
  stop(): void {
    this.#isStopped = true;
    this.#limiter?.release();
    // each goes on at once to find that it is over
    for (const lane of [this.#urgent, this.#usual]) for (const go of lane.takeAll()) go();
  }

  async #turn(lane: Lane, key: string, signal: AbortSignal | undefined): Promise<Flow> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const flow = lane.add(key, resolve);
    const leave = onAbort(signal, () => {
      if (lane.remove(flow, resolve)) reject(signal?.reason);
    });
    this.#serve();
    await promise.finally(leave);
    return flow;
  }

  #serve(): void {
    if (this.#isStopped) return;
    for (;;) {
      const lane = this.underWay < this.#most ? this.#nextLane() : undefined;
      if (lane === undefined || this.#limiter?.tryTake() === false) return;
      this.#urgentInRow = lane === this.#urgent && this.#usual.hasNext ? this.#urgentInRow + 1 : 0;
      lane.next()?.();
    }
  }

  #nextLane(): Lane | undefined {
    const isOthersTurn = this.#urgentInRow >= turnsInRow - 1;
    if (this.#urgent.hasNext && !(this.#usual.hasNext && isOthersTurn)) return this.#urgent;
    return this.#usual.hasNext ? this.#usual : undefined;
  }
}

/** Calls of one kind. */
class Lane {
  readonly #most: number;
  readonly #mostPerKey: number;
  readonly #flows = new Map<string, Flow>();
  /** The flows that wait and may have a place; the one whose turn is next is the oldest. */
  readonly #order = new FifoSet<Flow>();
  #underWay = 0;
  #waiting = 0;

  constructor(most: number, mostPerKey: number) {
    this.#most = most;
    this.#mostPerKey = mostPerKey;
  }

  get underWay(): number {
    return this.#underWay;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get keys(): number {
    return this.#flows.size;
  }

  get hasNext(): boolean {
    return this.#order.size > 0 && this.#underWay < this.#most;
  }

  add(key: string, go: () => void): Flow {
    const flow = this.#flows.get(key) ?? { key, waiting: new FifoSet(), underWay: 0 };
    this.#flows.set(key, flow);
    flow.waiting.add(go);
    this.#waiting += 1;
    this.#settle(flow);
    return flow;
  }

  /** False for one that has its turn. */
  remove(flow: Flow, go: () => void): boolean {
    if (!flow.waiting.delete(go)) return false;
    this.#waiting -= 1;
    this.#settle(flow);
    return true;
  }

  /** Gives the next one its place. */
  next(): (() => void) | undefined {
    const flow = this.#order.take();
    return flow && this.#take(flow);
  }

  /** Gives all that wait a place, whatever the limits say. */
  takeAll(): (() => void)[] {
    const taken: (() => void)[] = [];
    for (const flow of [...this.#flows.values()]) {
      for (let go = this.#take(flow); go !== undefined; go = this.#take(flow)) taken.push(go);
    }
    return taken;
  }

  /** A call of the flow has settled. */
  left(flow: Flow): void {
    this.#underWay -= 1;
    flow.underWay -= 1;
    this.#settle(flow);
  }

  #take(flow: Flow): (() => void) | undefined {
    const go = flow.waiting.take();
    if (go === undefined) return undefined;
    this.#waiting -= 1;
    this.#underWay += 1;
    flow.underWay += 1;
    this.#settle(flow);
    return go;
  }

  /** Each flow is in the order while it may have its turn, and known while it has a call. */
  #settle(flow: Flow): void {
    if (flow.waiting.size > 0 && flow.underWay < this.#mostPerKey) this.#order.add(flow);
    else this.#order.delete(flow);
    if (flow.waiting.size === 0 && flow.underWay === 0) this.#flows.delete(flow.key);
  }
}

function stopped(): StatusManagerError {
  return new StatusManagerError('ERR_STOPPED', 'No more calls have their turn: what gives the turns was stopped');
}
