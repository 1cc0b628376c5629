import type { CancelTimer } from '../../../../src/base/clock.ts';
import type { Prng } from '../../chaos/prng.ts';
import { EndingTimers, type SimulatedClock } from '../simulated-clock.ts';
import type { MemberWeather } from './member-network.ts';
import type { MemberProcess } from './member-process.ts';

export interface ShardRequestsParts {
  readonly clock: SimulatedClock;
  readonly process: MemberProcess;
  readonly weather: Readonly<MemberWeather>;
  readonly prng: Prng;
}

/** One request of the nodes of a shard. */
export interface ShardRequest {
  /** The way to the cloud works while that to the server is cut, or the server is down. */
  readonly to: 'server' | 'cloud';
  readonly limitMs: number;
  /** What it does there, and what its client does with the answer. `isLate`: its client has given it up. */
  readonly arrive: (isLate: boolean) => () => void;
  /** No answer came. */
  readonly failed: () => void;
}

/** The requests of the nodes of one shard: one may be lost or late, and so may its answer; a client that waits too long gives it up. */
export class ShardRequests {
  readonly #parts: ShardRequestsParts;
  readonly #timers: EndingTimers;

  constructor(parts: ShardRequestsParts) {
    this.#parts = parts;
    this.#timers = new EndingTimers((callback, delayMs) => parts.process.clock.setTimer(callback, delayMs));
  }

  /** What is under way is given up; what has left the process cannot be called back. */
  end(): void {
    this.#timers.end();
  }

  /** A timer of the process that ends with the requests. */
  later(callback: () => void, delayMs: number): CancelTimer {
    return this.#timers.set(callback, delayMs);
  }

  send({ to, limitMs, arrive, failed }: ShardRequest): void {
    const { clock, process, prng, weather } = this.#parts;
    const givenUpMs = clock.elapsedMs + limitMs;
    let isSettled = false;
    const settle = (what: () => void): void => {
      if (isSettled || this.#timers.isOver) return;
      isSettled = true;
      cancel();
      what();
    };
    const cancel = this.later(() => settle(failed), limitMs);
    const isLost = (): boolean => (to === 'server' && weather.isCut) || prng.chance(weather.loss / 2);
    if (isLost()) return;
    const wayMs = prng.chance(weather.straggling) ? prng.between(2000, 40_000) : prng.between(1, weather.latencyMs);
    clock.schedule(() => {
      if (to === 'server' && weather.server === 'down') {
        process.run(() => settle(failed));
        return;
      }
      const answer = arrive(this.#timers.isOver || clock.elapsedMs > givenUpMs);
      if (isLost()) return;
      clock.schedule(() => process.run(() => settle(answer)), prng.between(1, weather.latencyMs));
    }, wayMs);
  }
}
