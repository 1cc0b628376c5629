import type { Pod } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';

/** A call of a provider's method for one pod. */
export type PodMethod = 'createPod' | 'updatePod' | 'deletePod' | 'getPodStatus';

/** A call that takes longer is told of once, in milliseconds. */
export const longCallMs = 30_000;

/** Tells once of each call that goes on and on: it may be in order, and nobody would see it otherwise. */
export class LongCalls {
  readonly #clock: SteadyClock;
  readonly #logger: Logger;
  /** End what is waited for. */
  readonly #cancels = new Set<() => void>();
  #isStopped = false;

  constructor(clock: SteadyClock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** A call begins. Returns what is to be called once it has settled. */
  begin({ metadata }: Pod, method: PodMethod): () => void {
    if (this.#isStopped) return () => {};
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
