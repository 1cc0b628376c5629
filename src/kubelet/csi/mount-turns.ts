import { Semaphore } from '../../base/concurrency/semaphore.ts';

/** Below the number of threads that a Node.js process has for files, which is four. */
const mostOverall = 2;
const mostOfDriver = 1;

/**
 * Turns for what touches files in the mounts of drivers. A mount may hang, and each call in it holds a thread of the process then: few of these
 * calls go on at once, and those of one driver leave room for others.
 */
export class MountTurns {
  readonly #overall = new Semaphore(mostOverall);
  readonly #ofDrivers = new Map<string, Semaphore>();

  /** Makes the call when it is its turn. Rejects with the signal's reason when that aborts before. */
  run<T>(driver: string, call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const ofDriver = this.#ofDrivers.get(driver) ?? new Semaphore(mostOfDriver);
    this.#ofDrivers.set(driver, ofDriver);
    return ofDriver.run(() => this.#overall.run(call, signal), signal);
  }
}
