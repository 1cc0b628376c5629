import type { Clock } from '../../../../src/base/clock.ts';
import type { Prng } from '../prng.ts';
import type { PartsFound } from './rules.ts';

export interface RunOptions {
  readonly clock: Clock;
  readonly found: PartsFound;
}

/** What the loops of one run share: whether they go on, and what they did. */
export class RunInProgress {
  readonly counts = new Map<string, number>();
  readonly found: PartsFound;
  readonly clock: Clock;
  readonly #loops: Promise<void>[] = [];
  #goesOn = true;

  constructor({ clock, found }: RunOptions) {
    this.clock = clock;
    this.found = found;
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.clock.setTimer(resolve, ms, { keepAlive: true });
    return promise;
  }

  /** The answer, or `otherwise` where none has come after `ms`. */
  async limited<T>(answer: Promise<T>, ms: number, otherwise: T): Promise<T> {
    const { promise: over, resolve } = Promise.withResolvers<T>();
    const cancel = this.clock.setTimer(() => resolve(otherwise), ms);
    try {
      return await Promise.race([answer, over]);
    } finally {
      cancel();
    }
  }

  /** Calls `act` again and again, one call after the other, at random intervals, until `end`. */
  repeat(prng: Prng, meanMs: number, act: () => unknown): void {
    const loop = async (): Promise<void> => {
      while (this.#goesOn) {
        await this.pause(prng.between(0, 2 * meanMs));
        if (this.#goesOn) await act();
      }
    };
    const failed = (error: unknown): void =>
      this.found('nothing unforeseen happens', `an act of the test failed: ${String(error)}`);
    this.#loops.push(loop().catch(failed));
  }

  /** Resolves once the last act of each loop has ended. */
  async end(): Promise<void> {
    this.#goesOn = false;
    await Promise.all(this.#loops);
  }

  /** Resolves to the last answer of `wrong`: empty as soon as nothing is wrong, or what is still wrong after `withinMs`. */
  async settlesWithin(withinMs: number, everyMs: number, wrong: () => Promise<readonly string[]>): Promise<readonly string[]> {
    const until = this.clock.now() + withinMs;
    for (;;) {
      const answer = await wrong();
      if (answer.length === 0 || this.clock.now() > until) return answer;
      await this.pause(everyMs);
    }
  }
}
