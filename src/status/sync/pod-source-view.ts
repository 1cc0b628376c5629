import { callGuarded, ignoreFailure } from '../../seams/guard.ts';

/** What the manager asks of the source that feeds its pod manager. Both times are in milliseconds since the epoch. */
export interface PodSourceTimes {
  /** When the source last heard from the apiserver. */
  lastObservedAt(): number | undefined;
  /** When the last full list that it delivered began: what was acknowledged before that moment is in it. */
  lastListedAt?(): number | undefined;
}

/** A pod source that may be missing, throw, or answer with something else: then nothing is known. */
export class PodSourceView {
  readonly #source: PodSourceTimes | undefined;

  constructor(source: PodSourceTimes | undefined) {
    this.#source = source;
  }

  get isThere(): boolean {
    return this.#source !== undefined;
  }

  lastObservedAt(): number | undefined {
    return finite(callGuarded(() => this.#source?.lastObservedAt(), ignoreFailure));
  }

  lastListedAt(): number | undefined {
    return finite(callGuarded(() => this.#source?.lastListedAt?.(), ignoreFailure));
  }
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
