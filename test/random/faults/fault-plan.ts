import { Prng } from '../chaos/prng.ts';

/** What the proxy does to one request. `late` and `hang` outlast the client's timeout; `late` takes effect then, `hang` never. */
export type Fault =
  | { readonly kind: 'reset' | 'reset after effect' | 'cut' | 'hang' }
  | { readonly kind: 'late' | 'delay' | 'slow answer'; readonly ms: number }
  | { readonly kind: '403' | '429' | '500' | '503' | '504'; readonly retryAfterSeconds?: number }
  | { readonly kind: '504 after effect' };

/** What becomes of a watch, after `ms`. */
export interface WatchFault {
  readonly kind: 'watch reset' | 'watch cut' | 'watch ended' | 'watch hung' | 'watch expired';
  readonly ms: number;
}

/** What becomes of watches, and when at the latest. */
export interface WatchFaults {
  readonly kinds: readonly WatchFault['kind'][];
  readonly longestMs: number;
}

/** Of a thousand requests, how many meet this fault. Throttling stops the whole client, so it comes seldom. */
const perMille: Readonly<Record<Fault['kind'], number>> = {
  reset: 6,
  'reset after effect': 6,
  cut: 5,
  hang: 2,
  late: 5,
  delay: 8,
  'slow answer': 8,
  '403': 2,
  '429': 0.5,
  '500': 5,
  '503': 4,
  '504': 3,
  '504 after effect': 3,
};

/** DELETEs are few, and a late one is the worst: by then another pod may have the name. So they are late more often. */
const lateDeletes = 8;

/** The share of writes that are refused while `forbids` is true. */
const forbidden = 0.5;

const watchFaults: readonly WatchFault['kind'][] = ['watch reset', 'watch cut', 'watch ended', 'watch hung'];
/** All of them: `watch expired` is a silence that ends with a 410. */
export const everyWatchFault: readonly WatchFault['kind'][] = [...watchFaults, 'watch expired'];

/**
 * Which request meets which fault. A pod's nth request of a kind meets the same fault in every run of a seed; the order of the
 * pods does not matter.
 */
export class FaultPlan {
  /** While false, no request meets a fault. */
  active = true;
  /** While true, many writes are refused, as when the agent has lost its rights. */
  forbids = false;
  readonly counts = new Map<string, number>();
  readonly #seed: number;
  readonly #rate: number;
  readonly #clientTimeoutMs: number;
  readonly #watches: WatchFaults;
  readonly #requests = new Map<string, number>();

  /** With `rate` 2 twice as many requests meet a fault. */
  constructor(seed: number, clientTimeoutMs: number, rate = 1, watches: WatchFaults = { kinds: watchFaults, longestMs: 6000 }) {
    this.#watches = watches;
    this.#rate = rate;
    this.#seed = seed;
    this.#clientTimeoutMs = clientTimeoutMs;
  }

  take(method: string, path: string): Fault | undefined {
    const prng = this.#dice(`${method} ${path}`);
    if (this.forbids && method !== 'GET' && prng.chance(forbidden)) return { kind: '403' };
    if (!this.active) return undefined;
    let dice = prng.between(0, 1000 / this.#rate);
    for (const kind of Object.keys(perMille) as Fault['kind'][]) {
      dice -= perMille[kind] * (method === 'DELETE' && kind === 'late' ? lateDeletes : 1);
      if (dice < 0) return this.#make(kind, prng);
    }
    return undefined;
  }

  takeForWatch(path: string): WatchFault | undefined {
    const prng = this.#dice(`WATCH ${path}`);
    const { kinds, longestMs } = this.#watches;
    const kind = prng.pick(kinds);
    return this.active && kind !== undefined ? { kind, ms: prng.between(longestMs / 6, longestMs) } : undefined;
  }

  count(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  #make(kind: Fault['kind'], prng: Prng): Fault {
    switch (kind) {
      case 'late':
        return { kind, ms: this.#clientTimeoutMs + prng.between(100, 1500) };
      case 'delay':
      case 'slow answer':
        return { kind, ms: prng.between(10, this.#clientTimeoutMs / 2) };
      case '429':
      case '503':
        return prng.chance(0.7) ? { kind, retryAfterSeconds: prng.chance(0.3) ? 1 : 0 } : { kind };
      default:
        return { kind };
    }
  }

  #dice(request: string): Prng {
    const nth = this.#requests.get(request) ?? 0;
    this.#requests.set(request, nth + 1);
    // the namespace has another name in each run
    const place = request.replace(/namespaces\/[^/]+/, '');
    return new Prng(this.#seed, nth).fork(place);
  }
}
