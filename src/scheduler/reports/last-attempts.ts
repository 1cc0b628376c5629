import { errorText } from '../../base/errors.ts';
import { type Diagnosis, FitError } from '../framework/fit-error.ts';

/** How a pod's last attempt failed. */
export interface LastAttempt {
  /** By the time of the queue. */
  readonly at: number;
  readonly message: string;
  /** True where no node fits; false for an error of another kind. */
  readonly fitsNowhere: boolean;
  /** Why no node fits, node by node; undefined for another error, and where it had to make room for those of later attempts. */
  readonly diagnosis: Diagnosis | undefined;
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

  set(uid: string, at: number, error: unknown): void {
    this.delete(uid);
    const diagnosis = error instanceof FitError ? error.diagnosis : undefined;
    this.#attempts.set(uid, { at, message: errorText(error), fitsNowhere: error instanceof FitError, diagnosis });
    if (diagnosis === undefined) return;
    this.#diagnosed.add(uid);
    this.#reasons += diagnosis.failures.size;
    this.#makeRoom(uid);
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
