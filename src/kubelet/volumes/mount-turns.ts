import { Semaphore } from '../../base/concurrency/semaphore.ts';

/** Below the number of threads that a Node.js process has for files, which is four. */
const mostOverall = 2;
const mostOfOne = 1;

interface Turns {
  readonly semaphore: Semaphore;
  calls: number;
}

/**
 * Turns for what touches files in mounts that are not the agent's. A mount may hang, and each call in it holds a thread of the process then: few
 * of these calls go on at once, and those of one driver, or of one volume, leave room for others.
 */
export class MountTurns {
  readonly #overall = new Semaphore(mostOverall);
  readonly #ofEach = new Map<string, Turns>();

  /** Makes the call when it is its turn among those with the same name. Rejects with the signal's reason when that aborts before. */
  async run<T>(name: string, call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const turns = this.#ofEach.get(name) ?? { semaphore: new Semaphore(mostOfOne), calls: 0 };
    this.#ofEach.set(name, turns);
    turns.calls += 1;
    try {
      return await turns.semaphore.run(() => this.#overall.run(call, signal), signal);
    } finally {
      turns.calls -= 1;
      if (turns.calls === 0) this.#ofEach.delete(name);
    }
  }
}
