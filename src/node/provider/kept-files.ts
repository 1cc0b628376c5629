import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { KeyedTimers } from '../../base/concurrency/timers.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { PodFolders } from './pod-folders.ts';
import type { ProvidedPod } from './provided-pod.ts';

export interface KeptFilesOptions {
  readonly folders: PodFolders;
  /** Makes the files of a pod anew, and writes what has changed. True: they are as they should be. */
  readonly refresh: (record: ProvidedPod, signal: AbortSignal) => Promise<boolean>;
  readonly random: () => number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** As a kubelet looks at a pod: after a minute, and up to half of that later by chance. */
const refreshMs = 60_000;
const refreshJitter = 0.5;
/** Sooner where the last look has failed, in milliseconds, and up to half of that later by chance. */
export const staleAgainMs = 10_000;
/** The files of pods that an earlier run of the agent has begun are looked at within this time. */
const takenOverMs = 10_000;
/** So many pods are looked at at once. */
const atOnce = 4;
/** How often folders of pods that are gone are looked for. */
const sweepMs = 60_000;

/** Keeps the files of pods up to date while they run, and removes those of pods that are gone. */
export class KeptFiles {
  readonly #options: KeptFilesOptions;
  readonly #timers: KeyedTimers<string>;
  readonly #turns = new Semaphore(atOnce);
  /** Ends the looks at each pod. */
  readonly #kept = new Map<string, AbortController>();
  #sweptAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(options: KeptFilesOptions) {
    this.#options = options;
    this.#timers = new KeyedTimers(options.clock);
  }

  /** The files of the pod were written: the next look is due in a minute. Without `isNew`, soon, unless they are kept already. */
  keep(record: ProvidedPod, isNew: boolean): void {
    const { random } = this.#options;
    const { uid } = record;
    if (this.#isStopped || (!isNew && this.#kept.has(uid))) return;
    if (!this.#kept.has(uid)) this.#kept.set(uid, new AbortController());
    this.#lookIn(record, isNew ? this.#nextMs() : random() * takenOverMs);
  }

  /** Ends the looks at the pod. */
  leave(podUID: string): void {
    this.#timers.cancel(podUID);
    this.#kept.get(podUID)?.abort();
    this.#kept.delete(podUID);
  }

  /** Removes, once in a minute, the folders of pods that are not among those that may run. */
  sweep(mayRun: (podUID: string) => boolean, remove: (podUID: string) => Promise<void>): void {
    const { folders, clock, logger } = this.#options;
    if (this.#isStopped || clock.elapsed() - this.#sweptAt < sweepMs) return;
    this.#sweptAt = clock.elapsed();
    const work = async (): Promise<void> => {
      for (const podUID of await folders.onDisk()) if (!this.#isStopped && !mayRun(podUID)) await remove(podUID);
    };
    work().catch((err: unknown) => logger.warn({ err }, 'the folders of pods that are gone could not be looked for'));
  }

  /** No timer is left. The files stay, as the pods do. */
  stop(): void {
    this.#isStopped = true;
    this.#timers.cancelAll();
    for (const podUID of [...this.#kept.keys()]) this.leave(podUID);
  }

  #nextMs(): number {
    return refreshMs * (1 + this.#options.random() * refreshJitter);
  }

  #lookIn(record: ProvidedPod, delayMs: number): void {
    const { logger } = this.#options;
    const { uid, pod } = record;
    const look = (): void => void this.#look(record).catch(ignoreFailure);
    callGuarded(
      () => this.#timers.set(uid, delayMs, look),
      (err) => logger.error({ err, ...podFields(pod.metadata) }, 'the clock set no timer; the files of a pod stay as they are'),
    );
  }

  async #look(record: ProvidedPod): Promise<void> {
    const ending = this.#kept.get(record.uid);
    if (ending === undefined) return;
    const { signal } = ending;
    const isDone = await this.#turns.run(() => this.#options.refresh(record, signal), signal);
    if (signal.aborted || this.#kept.get(record.uid) !== ending) return;
    this.#lookIn(record, isDone ? this.#nextMs() : staleAgainMs * (1 + this.#options.random() * refreshJitter));
  }
}
