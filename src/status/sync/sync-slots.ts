import type { Clock } from '../../base/clock.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { FifoSet } from '../../base/concurrency/fifo-set.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import type { GateToken, RequestGate } from './request-gate.ts';

export interface SyncSlotsOptions {
  readonly gate: RequestGate;
  readonly clock: Clock;
  readonly concurrency: number;
}

/** A pod whose turn it is, with the gate's token of its first request. */
export interface Turn {
  readonly podUID: string;
  readonly token: GateToken;
}

/**
 * The pods that wait for a slot, the slots that syncs take, and the requests that have outlived their syncs. At most
 * `concurrency` syncs take a slot at once; a request that outlives its sync takes none.
 */
export class SyncSlots {
  readonly #options: SyncSlotsOptions;
  readonly #ready = new ReadySet();
  readonly #overdue = new LateMap<string, Promise<void>>();
  #taken = 0;
  #waitsForGate = false;
  #whenNoneTaken: (() => void) | undefined;

  constructor(options: SyncSlotsOptions) {
    this.#options = options;
  }

  isReady(podUID: string): boolean {
    return this.#ready.has(podUID);
  }

  add(podUID: string, urgent: boolean): void {
    this.#ready.add(podUID, urgent);
  }

  delete(podUID: string): void {
    this.#ready.delete(podUID);
  }

  /** True when a pod waits and a slot is free, so that only the gate can keep the pod waiting. */
  get hasTurn(): boolean {
    return this.#taken < this.#options.concurrency && this.#ready.size > 0;
  }

  /** Whose turn it is; undefined when no pod waits, no slot is free, or the gate admits no request now. Takes the slot. */
  next(): Turn | undefined {
    const token = this.hasTurn ? this.#options.gate.tryAdmit() : undefined;
    const podUID = token && this.#ready.take();
    if (token === undefined || podUID === undefined) return undefined;
    this.#taken++;
    return { podUID, token };
  }

  /** Calls `pump` once the gate may admit a request again; one such call waits at a time. */
  whenOpen(pump: () => void): void {
    if (this.#waitsForGate) return;
    this.#waitsForGate = true;
    void this.#options.gate.whenOpen().then(() => {
      this.#waitsForGate = false;
      pump();
    });
  }

  /** Gives the slot back, and the token where no request used it. */
  end({ token }: Turn): void {
    this.#options.gate.putBack(token);
    this.#taken--;
    if (this.#taken === 0) this.#whenNoneTaken?.();
  }

  /** The sync of the pod has ended, and a request of it has not. `settled` never rejects. */
  keepOverdue(podUID: string, settled: Promise<void>): void {
    this.#overdue.set(podUID, settled);
    void settled.then(() => this.#overdue.delete(podUID));
  }

  /**
   * Resolves to the pods of which a request has not settled: once every slot is free, and then when the requests that have
   * outlived their syncs have settled, or have not within `limitMs`.
   */
  async whenSettled(limitMs: number): Promise<string[]> {
    if (this.#taken > 0) await new Promise<void>((resolve) => (this.#whenNoneTaken = resolve));
    if (this.#overdue.size === 0) return [];
    await settlesWithin(Promise.all(this.#overdue.values()), { clock: this.#options.clock, timeoutMs: limitMs });
    return [...this.#overdue.keys()];
  }
}

/** Every so many turns the longest waiting pod goes first, urgent or not, so that nothing starves. */
const ageingTurn = 4;

/**
 * The pods that wait for a free slot, each once: urgent pods first, both kinds in order of arrival. At least every fourth
 * turn belongs to the pods that are not urgent: a stream of urgent pods slows them and never stops them.
 */
export class ReadySet {
  readonly #urgent = new FifoSet<string>();
  readonly #normal = new FifoSet<string>();
  #turns = 0;

  get size(): number {
    return this.#urgent.size + this.#normal.size;
  }

  has(podUID: string): boolean {
    return this.#urgent.has(podUID) || this.#normal.has(podUID);
  }

  /** A pod already waiting keeps its place, unless it has become urgent. */
  add(podUID: string, urgent: boolean): void {
    if (this.#urgent.has(podUID)) return;
    if (!urgent) {
      this.#normal.add(podUID);
      return;
    }
    this.#normal.delete(podUID);
    this.#urgent.add(podUID);
  }

  delete(podUID: string): void {
    this.#urgent.delete(podUID);
    this.#normal.delete(podUID);
  }

  take(): string | undefined {
    this.#turns = this.#urgent.size > 0 && this.#normal.size > 0 ? this.#turns + 1 : 0;
    const normalFirst = this.#turns >= ageingTurn;
    if (normalFirst) this.#turns = 0;
    return (normalFirst ? this.#normal.take() : this.#urgent.take()) ?? this.#normal.take();
  }
}
