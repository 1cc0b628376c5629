import type { SteadyClock } from '../../../base/clock.ts';
import { BoundedMap } from '../../../base/concurrency/bounded-map.ts';

/** So long may the search of one pod take for nothing, and so much longer for each look at a node, in milliseconds. */
const freeMs = 50;
const freePerLookMs = 0.5;
/** What searches of one namespace may take beyond that at once, in milliseconds, and what share of the time comes back. */
const mostLevelMs = 1000;
const refillShare = 0.1;
/** At this level no pod of the namespace is searched for any more. One pod alone does not bring it there. */
const exhaustedMs = -10_000;
/** No account is lower: a machine that stood still has not searched. */
const leastLevelMs = -20_000;
/** Of so many namespaces and pods it is known that they have taken too long. */
const mostNamespaces = 1000;
const mostPods = 1000;

/** Whose search it is. */
interface SearchingPod {
  readonly namespace: string;
  readonly uid: string;
}

interface Account {
  readonly levelMs: number;
  /** By the clock's `elapsed`. */
  readonly at: number;
}

/**
 * How long searches for devices may take, since no other pod is tried meanwhile. Each has some time for nothing, more than a search takes
 * that does not go back again and again. What it takes beyond that is taken from the account of its namespace, which fills up slowly. A
 * search that has used it up is broken off, and all its time counts: until the account has recovered, that pod is not searched for again.
 */
export class SearchAccounts {
  readonly #clock: Pick<SteadyClock, 'elapsed'>;
  /** By namespace; a full account is not kept. */
  readonly #accounts = new BoundedMap<string, Account>(mostNamespaces);
  /** The uids of pods whose search was broken off. */
  readonly #brokenOff = new BoundedMap<string, true>(mostPods);

  constructor(clock: Pick<SteadyClock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** In how many milliseconds the pod may be searched for; 0: now. */
  waitMs({ namespace, uid }: SearchingPod): number {
    const levelMs = this.levelMs(namespace);
    const endMs = this.#brokenOff.get(uid) === undefined ? exhaustedMs : 0;
    return levelMs > endMs ? 0 : (endMs - levelMs) / refillShare + 1;
  }

  /** For one attempt at the pod. */
  search(pod: SearchingPod): TimedSearch {
    return new TimedSearch(this, pod, this.#clock);
  }

  levelMs(namespace: string): number {
    const account = this.#accounts.get(namespace);
    if (account === undefined) return mostLevelMs;
    const passedMs = this.#clock.elapsed() - account.at;
    const levelMs = Math.min(mostLevelMs, account.levelMs + passedMs * refillShare);
    if (levelMs === mostLevelMs) this.#accounts.delete(namespace);
    return levelMs;
  }

  charge(namespace: string, ms: number): void {
    if (ms <= 0) return;
    const levelMs = Math.max(leastLevelMs, this.levelMs(namespace) - ms);
    this.#accounts.set(namespace, { levelMs, at: this.#clock.elapsed() });
  }

  breakOff({ uid }: SearchingPod): void {
    this.#brokenOff.set(uid, true);
  }
}

/** The time that one attempt takes for its looks at nodes. */
export class TimedSearch {
  readonly #accounts: SearchAccounts;
  readonly #pod: SearchingPod;
  readonly #clock: Pick<SteadyClock, 'elapsed'>;
  #freeMs = freeMs;
  /** What was taken for nothing. */
  #takenFreeMs = 0;
  #tookMs = 0;
  #looks = 0;

  constructor(accounts: SearchAccounts, pod: SearchingPod, clock: Pick<SteadyClock, 'elapsed'>) {
    this.#accounts = accounts;
    this.#pod = pod;
    this.#clock = clock;
  }

  /** `200 ms at 3 looks at nodes`. */
  get words(): string {
    return `${Math.round(this.#tookMs)} ms at ${this.#looks} ${this.#looks === 1 ? 'look' : 'looks'} at nodes`;
  }

  /** A look at a node begins, which may take so long, in milliseconds. */
  begin(): number {
    this.#looks += 1;
    this.#freeMs += freePerLookMs;
    return this.#freeMs + Math.max(0, this.#accounts.levelMs(this.#pod.namespace));
  }

  /** The look has ended that began then, by the clock's `elapsed`. */
  end(startedAt: number): void {
    const tookMs = this.#clock.elapsed() - startedAt;
    const takenMs = Math.min(this.#freeMs, tookMs);
    this.#tookMs += tookMs;
    this.#freeMs -= takenMs;
    this.#takenFreeMs += takenMs;
    this.#accounts.charge(this.#pod.namespace, tookMs - takenMs);
  }

  /** It has taken too long: all its time counts. */
  breakOff(): void {
    this.#accounts.charge(this.#pod.namespace, this.#takenFreeMs);
    this.#takenFreeMs = 0;
    this.#accounts.breakOff(this.#pod);
  }
}
