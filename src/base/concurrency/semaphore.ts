import { onAbort } from './aborts.ts';
import { FifoSet } from './fifo-set.ts';
import { LateMap } from './late-collections.ts';

/** Lets at most so many calls run at once; the others wait in the order in which they came. */
export class Semaphore {
  readonly #most: number;
  readonly #waiting = new FifoSet<() => void>();
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** True where a call that came now would have to wait. */
  get isFull(): boolean {
    return this.#running >= this.#most;
  }

  /** Makes the call when there is room. Rejects with the signal's reason when that aborts before. */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      // it may have aborted since the place came free
      signal.throwIfAborted();
      return await call();
    } finally {
      this.#running -= 1;
      this.#waiting.take()?.();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.isFull) {
      this.#running += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const enter = (): void => {
      this.#running += 1;
      resolve();
    };
    this.#waiting.add(enter);
    const leave = onAbort(signal, () => {
      this.#waiting.delete(enter);
      reject(signal.reason);
    });
    await promise.finally(leave);
  }
}

/** Whose call it is: groups have their turns one after the other, and in a group its members. */
export interface Flow {
  readonly group: string;
  readonly member: string;
}

type Turns = Set<() => void>;

/** Lets at most so many calls run at once. Whoever has many waiting keeps nobody else from the next turn. */
export class FairSemaphore {
  readonly #most: number;
  /** Those whose turn is next are the first. */
  readonly #groups = new LateMap<string, Map<string, Turns>>();
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Makes the call when there is room and it is its turn. Rejects with the signal's reason when that aborts before. */
  async run<T>(flow: Flow, call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#running < this.#most) this.#running += 1;
    else await this.#turn(flow, signal);
    try {
      // it may have aborted since the turn came
      signal.throwIfAborted();
      return await call();
    } finally {
      this.#running -= 1;
      this.#next();
    }
  }

  async #turn(flow: Flow, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const turns = this.#turnsOf(flow);
    turns.add(resolve);
    const leave = onAbort(signal, () => {
      if (!turns.delete(resolve)) return;
      this.#tidy(flow, turns);
      reject(signal.reason);
    });
    await promise.finally(leave);
  }

  #turnsOf({ group, member }: Flow): Turns {
    const members = this.#groups.get(group) ?? new Map<string, Turns>();
    const turns = members.get(member) ?? new Set();
    members.set(member, turns);
    this.#groups.set(group, members);
    return turns;
  }

  /** The member that was served comes last in its group, and the group last of all. */
  #next(): void {
    for (const [group, members] of this.#groups) {
      for (const [member, turns] of members) {
        for (const go of turns) {
          turns.delete(go);
          members.delete(member);
          if (turns.size > 0) members.set(member, turns);
          this.#groups.delete(group);
          if (members.size > 0) this.#groups.set(group, members);
          this.#running += 1;
          go();
          return;
        }
      }
    }
  }

  #tidy({ group, member }: Flow, turns: Turns): void {
    const members = this.#groups.get(group);
    if (turns.size > 0 || members === undefined) return;
    members.delete(member);
    if (members.size === 0) this.#groups.delete(group);
  }
}

/** Lets work of one key run one after another, and work of different keys at once. Nothing is kept of a key without work. */
export class OneAtATime {
  readonly #last = new LateMap<string, Promise<unknown>>();

  /** Calls `work` once all earlier work of the key has settled. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    const ended: Promise<unknown> = result.then(
      () => this.#forget(key, ended),
      () => this.#forget(key, ended),
    );
    this.#last.set(key, ended);
    return result;
  }

  #forget(key: string, ended: Promise<unknown>): void {
    if (this.#last.get(key) === ended) this.#last.delete(key);
  }
}
