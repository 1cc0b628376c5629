import type { Found } from '../chaos/rules.ts';

/** Two repairs may come together: that of a batch, and one that was on its way before. */
const atOnce = 2;
/** Requests that take long land closer together than they were sent. */
const leeway = 1.5;

/** Counts the repairs of each pod by one process. However often other writers write, the manager repairs once a sync period. */
export class RepairCount {
  readonly #now: () => number;
  readonly #periodMs: number;
  readonly #found: Found;
  readonly #sinceMs: number;
  readonly #repairs = new Map<string, number>();
  readonly #acknowledged = new Map<string, number>();

  constructor(now: () => number, periodMs: number, found: Found) {
    this.#now = now;
    this.#periodMs = periodMs;
    this.#found = found;
    this.#sinceMs = now();
  }

  /** The agent asks for one more write, by `reconcile` or by a status that is always sent. */
  allowOne(owner: string): void {
    this.#repairs.set(owner, (this.#repairs.get(owner) ?? 0) - 1);
  }

  /** The process knows that statements up to this number are written. */
  acknowledged(owner: string, number: number): void {
    this.#acknowledged.set(owner, number);
  }

  /** A statement was written again. Where the process did not know that it was written, that is another try and no repair. */
  count(owner: string, number: number): void {
    if (number > (this.#acknowledged.get(owner) ?? 0)) return;
    const repairs = (this.#repairs.get(owner) ?? 0) + 1;
    this.#repairs.set(owner, repairs);
    const periods = (this.#now() - this.#sinceMs) / this.#periodMs;
    if (repairs <= atOnce + leeway * periods) return;
    const detail = `${repairs} repairs of ${owner} in ${periods.toFixed(1)} sync periods`;
    this.#found('a fight over a pod costs a repair a sync period', detail);
  }
}
