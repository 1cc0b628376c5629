import type { Diagnosis } from '../framework/fit-error.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { SchedulerProblemKind } from '../problem-kinds.ts';

/** A failure as people are told of it; see `Problem`. */
export interface FailureWords {
  readonly kind: SchedulerProblemKind | typeof givenUp;
  readonly message: string;
  readonly help: string | undefined;
}

/** The kind of an attempt that the scheduler gave up itself: that is no failure of the pod. */
export const givenUp = 'given-up';

/** What an attempt came to that failed. */
export interface FailedAttempt {
  /** By the time of the queue. */
  readonly at: number;
  readonly words: FailureWords;
  /** The log has told of it at the level of warnings or above. */
  readonly isTold: boolean;
  /** Why no node fits, node by node; undefined for an error of another kind. */
  readonly diagnosis: Diagnosis | undefined;
  /** Whose pods are to go from which node, where that was decided. `kept`: the node of an earlier attempt is still promised. */
  readonly preemption: Pick<StartedPreemption, 'nodeName' | 'victims'> | 'kept' | undefined;
}

/** A pod was promised a node, and these pods are to go from there. */
export interface StartedPreemption {
  readonly nodeName: string;
  readonly victims: readonly PodInfo[];
  /** When that was decided, by the time of the queue. */
  readonly since: number;
  /** Why a victim could not be deleted; undefined while none has failed. */
  readonly failure: FailureWords | undefined;
}

/** How a pod's last attempt failed. */
export interface LastAttempt {
  /** By the time of the queue. */
  readonly at: number;
  /** When the first of the attempts failed that have failed in a row. */
  readonly since: number;
  /** So many have failed in a row. */
  readonly attempt: number;
  /** The log has told of one of them at the level of warnings or above. */
  readonly isTold: boolean;
  readonly words: FailureWords;
  /** True where no node fits; false for an error of another kind. */
  readonly fitsNowhere: boolean;
  /** Why no node fits, node by node; undefined for another error, and where it had to make room for those of later attempts. */
  readonly diagnosis: Diagnosis | undefined;
  readonly preemption: StartedPreemption | undefined;
}

/** How many nodes' reasons are kept, over all pods. */
const mostReasons = 200_000;

/**
 * How the last attempt of each pod failed. The reasons node by node are kept of the latest attempts alone, so that many pods that wait for
 * a place on many nodes cost no more than so much.
 */
export class LastAttempts {
  readonly #mostReasons: number;
  /** The oldest first. */
  readonly #attempts = new Map<string, LastAttempt>();
  /** Those with a diagnosis; the oldest first. */
  readonly #diagnosed = new Set<string>();
  #reasons = 0;

  constructor(most = mostReasons) {
    this.#mostReasons = most;
  }

  get size(): number {
    return this.#attempts.size;
  }

  get(uid: string): LastAttempt | undefined {
    return this.#attempts.get(uid);
  }

  /** The uids of the pods whose last attempt failed; the one that failed last comes last. */
  uids(): Iterable<string> {
    return this.#attempts.keys();
  }

  set(uid: string, { at, words, isTold, diagnosis, preemption }: FailedAttempt): void {
    const before = this.#attempts.get(uid);
    this.delete(uid);
    this.#attempts.set(uid, {
      at,
      since: before?.since ?? at,
      attempt: (before?.attempt ?? 0) + 1,
      isTold: isTold || before?.isTold === true,
      words,
      fitsNowhere: diagnosis !== undefined,
      diagnosis,
      preemption: preemptionAfter(before?.preemption, preemption, at),
    });
    if (diagnosis === undefined) return;
    this.#diagnosed.add(uid);
    this.#reasons += diagnosis.failures.size;
    this.#makeRoom(uid);
  }

  /** The victims of a pod were asked to go, or (with `failure`) one of them could not be. */
  preemptionEnded(uid: string, failure: FailureWords | undefined): void {
    const attempt = this.#attempts.get(uid);
    if (attempt?.preemption === undefined) return;
    this.#attempts.set(uid, { ...attempt, preemption: { ...attempt.preemption, failure } });
  }

  delete(uid: string): void {
    this.#forgetDiagnosis(uid);
    this.#attempts.delete(uid);
  }

  #makeRoom(latest: string): void {
    for (const uid of this.#diagnosed) {
      if (this.#reasons <= this.#mostReasons || uid === latest) return;
      this.#forgetDiagnosis(uid);
    }
  }

  #forgetDiagnosis(uid: string): void {
    const attempt = this.#attempts.get(uid);
    if (attempt?.diagnosis === undefined) return;
    this.#reasons -= attempt.diagnosis.failures.size;
    this.#diagnosed.delete(uid);
    this.#attempts.set(uid, { ...attempt, diagnosis: undefined });
  }
}

/** What failed at a victim stays known until it has succeeded. */
function preemptionAfter(
  before: StartedPreemption | undefined,
  now: FailedAttempt['preemption'],
  at: number,
): StartedPreemption | undefined {
  if (now === undefined || now === 'kept') return now && before;
  return { ...now, since: before?.nodeName === now.nodeName ? before.since : at, failure: before?.failure };
}
