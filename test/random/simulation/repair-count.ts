import type { Found } from '../chaos/rules.ts';

/** Repairs that may come together: that of a batch, one that was on its way before, and one that was late. */
const atOnce = 3;

interface Allowance {
  left: number;
  atMs: number;
}

/**
 * Counts the repairs of each pod by one process. However often other writers write, the manager repairs once a sync period:
 * each period allows one more repair, and at most three may be left over from before.
 */
export class RepairCount {
  readonly #now: () => number;
  readonly #periodMs: number;
  readonly #found: Found;
  readonly #allowances = new Map<string, Allowance>();
  readonly #acknowledged = new Map<string, number>();

  constructor(now: () => number, periodMs: number, found: Found) {
    this.#now = now;
    this.#periodMs = periodMs;
    this.#found = found;
  }

  /** The agent asks for one more write, by `reconcile` or by a status that is always sent. */
  allowOne(owner: string): void {
    this.#allowance(owner).left++;
  }

  /** The process knows that statements up to this number are written. */
  acknowledged(owner: string, number: number): void {
    this.#acknowledged.set(owner, number);
  }

  /** A statement was written again. Where the process did not know that it was written, that is another try and no repair. */
  count(owner: string, number: number): void {
    if (number > (this.#acknowledged.get(owner) ?? 0)) return;
    const allowance = this.#allowance(owner);
    allowance.left--;
    if (allowance.left > -1) return;
    const detail = `${owner} was repaired more often than ${atOnce} times at once, or once in ${this.#periodMs} ms`;
    this.#found('a fight over a pod costs a repair a sync period', detail);
  }

  #allowance(owner: string): Allowance {
    const now = this.#now();
    const { left, atMs } = this.#allowances.get(owner) ?? { left: atOnce, atMs: now };
    // what the agent asked for stays allowed
    const next = { left: Math.max(left, Math.min(atOnce, left + (now - atMs) / this.#periodMs)), atMs: now };
    this.#allowances.set(owner, next);
    return next;
  }
}
