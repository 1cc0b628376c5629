import { Semaphore } from '../../base/concurrency/semaphore.ts';

interface Lane {
  readonly semaphore: Semaphore;
  /** So many have their turn or wait for it. */
  users: number;
}

/** One turn a volume: what makes it ready for the node or a pod, and what takes it from the node, never go on side by side. */
export class VolumeTurns {
  readonly #lanes = new Map<string, Lane>();

  /** Makes the call when it is the volume's turn. Rejects with the signal's reason when that aborts before. */
  async run<T>(name: string, call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const lane = this.#lanes.get(name) ?? { semaphore: new Semaphore(1), users: 0 };
    this.#lanes.set(name, lane);
    lane.users += 1;
    try {
      return await lane.semaphore.run(call, signal);
    } finally {
      lane.users -= 1;
      if (lane.users === 0) this.#lanes.delete(name);
    }
  }
}
