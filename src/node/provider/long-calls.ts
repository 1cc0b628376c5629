import type { Pod } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { LateSet } from '../../base/concurrency/late-collections.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';

/** A call of a provider's method for one pod. */
export type PodMethod = 'createPod' | 'updatePod' | 'deletePod' | 'getPodStatus';

/** A call that takes longer is told of once, in milliseconds. */
export const longCallMs = 30_000;

/** A call that has begun, and of which pod it is. */
export interface OpenCall {
  readonly pod: Pod;
  readonly method: PodMethod;
  /** In milliseconds since the epoch. */
  readonly since: number;
}

/** So many calls are named. */
const mostNamed = 1000;

/** The calls that have not settled. Tells once of each that goes on and on: it may be in order, and nobody would see it otherwise. */
export class LongCalls {
  readonly #clock: SteadyClock;
  readonly #logger: Logger;
  /** End what is waited for. */
  readonly #cancels = new LateSet<() => void>();
  /** Also those that were given up: the oldest first. */
  readonly #open = new LateSet<OpenCall>();
  /** Whoever waits until there are none. */
  readonly #idle = new LateSet<() => void>();
  #isStopped = false;

  constructor(clock: SteadyClock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** A call begins. Returns what is to be called once it has settled. `isTold` false: its own limit tells of it before it is long. */
  begin(pod: Pod, method: PodMethod, isTold = true): () => void {
    const open: OpenCall = { pod, method, since: this.#clock.now() };
    this.#open.add(open);
    const endWatch = isTold && !this.#isStopped ? this.#watch(pod, method) : () => {};
    return () => {
      endWatch();
      this.#open.delete(open);
      if (this.#open.size === 0) for (const idle of this.#idle) idle();
    };
  }

  /** Resolves once no call is under way, at the latest after `timeoutMs`, to those that are, at most 1000, the oldest first. */
  async settled(timeoutMs: number): Promise<readonly OpenCall[]> {
    if (this.#open.size > 0 && timeoutMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#idle.add(resolve);
      await settlesWithin(promise, { clock: this.#clock, timeoutMs });
      this.#idle.delete(resolve);
    }
    return [...this.#open].slice(0, mostNamed);
  }

  #watch({ metadata }: Pod, method: PodMethod): () => void {
    const begun = this.#clock.elapsed();
    const tell = (): void => {
      this.#cancels.delete(end);
      const underWayMs = Math.round(this.#clock.elapsed() - begun);
      this.#logger.info({ ...podFields(metadata), method, underWayMs }, 'a call of the provider is still under way');
    };
    // a clock that sets none has been told of where it matters
    const cancel = callGuarded(() => this.#clock.setTimer(tell, longCallMs), ignoreFailure);
    const end = (): void => {
      this.#cancels.delete(end);
      cancel?.();
    };
    this.#cancels.add(end);
    return end;
  }

  /** No timer is left, and nothing is told any more. */
  stop(): void {
    this.#isStopped = true;
    for (const end of this.#cancels) end();
  }
}
