import type { Pod } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { LateMap, LateSet } from '../../base/concurrency/late-collections.ts';
import { KeyedTimers } from '../../base/concurrency/timers.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { longestTimerMs } from '../../base/options.ts';
import type { PodEnding } from './pod-ending.ts';
import type { ProvidedPods } from './provided-pods.ts';
import type { ProviderRetries } from './provider-retries.ts';

export interface PodReleasesOptions {
  readonly pods: ProvidedPods;
  readonly ending: PodEnding;
  /** Called once the provider has nothing more to free of a pod that had ended before it was deleted. */
  readonly released: (pod: Pod) => void;
  readonly retries: ProviderRetries;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** Nothing of such a pod runs. */
const gracePeriodSeconds = 1;

/**
 * Pods that had ended before they were deleted: the provider is told to free them while the apiserver still has them, so that
 * no other pod of their name can begin meanwhile.
 */
export class PodReleases {
  readonly #options: PodReleasesOptions;
  /** The deleted pods of which the provider has nothing more to free. */
  readonly #released = new LateSet<string>();
  readonly #underWay = new LateMap<string, AbortController>();
  /** The next tries of releases that have failed. */
  readonly #retries: KeyedTimers<string>;
  /** Releases that have failed: how many in a row, and when the next may begin, by `clock.elapsed()`. */
  readonly #failures = new LateMap<string, { readonly attempt: number; readonly dueAt: number }>();
  #isStopped = false;

  constructor(options: PodReleasesOptions) {
    this.#options = options;
    this.#retries = new KeyedTimers(options.clock);
  }

  isReleased(podUID: string): boolean {
    return this.#released.has(podUID) || this.#options.pods.find(podUID)?.isDeleted === true;
  }

  note(podUID: string): void {
    this.#released.add(podUID);
  }

  /** Begins what is due. `pods`: all that the agent has. `isFinished`: true for those with which the workers are done. */
  look(pods: readonly Pod[], isFinished: (podUID: string) => boolean): void {
    if (this.#isStopped) return;
    const deleted = new Map<string, Pod>();
    for (const pod of pods) if (pod.metadata?.deletionTimestamp != null) deleted.set(pod.metadata.uid ?? '', pod);
    for (const uid of this.#released) if (!deleted.has(uid)) this.#released.delete(uid);
    for (const uid of this.#failures.keys()) if (!deleted.has(uid)) this.#forgetFailure(uid);
    // what was forced off the apiserver is an orphan, and ends as such
    for (const [uid, controller] of this.#underWay) if (!deleted.has(uid)) controller.abort();
    const now = this.#options.clock.elapsed();
    for (const [uid, pod] of deleted) {
      if (this.isReleased(uid) || this.#underWay.has(uid) || now < (this.#failures.get(uid)?.dueAt ?? now)) continue;
      if (isFinished(uid)) void this.#release(uid, pod);
    }
  }

  stop(): void {
    this.#isStopped = true;
    for (const controller of this.#underWay.values()) controller.abort();
    this.#retries.cancelAll();
  }

  #forgetFailure(uid: string): void {
    this.#failures.delete(uid);
    this.#retries.cancel(uid);
  }

  /** The next look may come too early or late. */
  #retryIn(uid: string, pod: Pod, delayMs: number): void {
    const { logger } = this.#options;
    const retry = (): void => {
      if (this.#isStopped || this.isReleased(uid) || this.#underWay.has(uid)) return;
      void this.#release(uid, pod);
    };
    callGuarded(
      () => this.#retries.set(uid, Math.min(Math.max(0, Math.ceil(delayMs)), longestTimerMs), retry),
      (err) => logger.error({ err, ...podFields(pod.metadata) }, 'the clock set no timer; a deleted pod waits for the next look'),
    );
  }

  /** Never rejects. */
  async #release(uid: string, pod: Pod): Promise<void> {
    const { pods, ending, released, retries, clock, logger } = this.#options;
    const controller = new AbortController();
    this.#underWay.set(uid, controller);
    const record = pods.find(uid) ?? pods.take(pod);
    try {
      await ending.end(record, { gracePeriodSeconds, releases: true, told: () => {} }, controller.signal);
      if (controller.signal.aborted) return;
      this.#released.add(uid);
      pods.noteTerminated(record);
      callGuarded(
        () => released(pod),
        (err) => logger.error({ err, ...podFields(pod.metadata) }, 'the end of a pod was not told'),
      );
    } catch (err) {
      if (controller.signal.aborted) return;
      const attempt = (this.#failures.get(uid)?.attempt ?? 0) + 1;
      const { dueAt: askedAt = 0 } = record.deleteFailure ?? {};
      const dueAt = askedAt > clock.elapsed() ? askedAt : retries.after(attempt).dueAt;
      this.#failures.set(uid, { attempt, dueAt });
      this.#retryIn(uid, pod, dueAt - clock.elapsed());
      logger.debug({ err, ...podFields(pod.metadata) }, 'a deleted pod stays until the provider has freed it');
    } finally {
      this.#underWay.delete(uid);
    }
  }
}
