import type { SteadyClock } from '../../base/clock.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';

/** A point in time by our clock, and when the pod source's last full list began: a later list is recognised by it. */
export interface Moment {
  /** By `Clock.elapsed`. */
  readonly at: number;
  /** When the pod source's last full list began, as it said then. */
  readonly listedAt: number | undefined;
}

/** Pods read again in one batch while the pod source is silent; more where there are so many that it takes more. */
const staleReadsAtLeast = 50;

export interface StaleReadsOptions {
  readonly source: PodSourceView;
  readonly clock: SteadyClock;
  readonly staleAfterMs: number;
  readonly syncPeriodMs: number;
}

/**
 * A pod source that is silent for too long may be dead: then each batch has a few pods read from the apiserver itself, in
 * turn, each pod at least once in `staleAfterMs`.
 */
export class StaleReads {
  readonly #options: StaleReadsOptions;
  #startedAt = 0;
  #cursor = 0;

  constructor(options: StaleReadsOptions) {
    this.#options = options;
  }

  /** The silence counts from now. */
  start(): void {
    this.#startedAt = this.#options.clock.elapsed();
  }

  /** True while the pod source hears from the apiserver: what happens there reaches the pod manager. */
  get isWatched(): boolean {
    const { source, clock, staleAfterMs } = this.#options;
    return source.isThere && clock.elapsed() - (source.lastObserved() ?? this.#startedAt) <= staleAfterMs;
  }

  /** The pods that are to be read in this batch, of all that have a status. */
  next(podUIDs: readonly string[]): string[] {
    const { source, syncPeriodMs, staleAfterMs } = this.#options;
    if (!source.isThere || this.isWatched) return [];
    const share = Math.ceil((podUIDs.length * syncPeriodMs) / staleAfterMs);
    const count = Math.min(podUIDs.length, Math.max(staleReadsAtLeast, share));
    const next = Array.from({ length: count }, (_, n) => podUIDs[(this.#cursor + n) % podUIDs.length] ?? '');
    this.#cursor += count;
    return next;
  }
}

/** What the manager asks of the source that feeds its pod manager. Both times are in milliseconds since the epoch. */
export interface PodSourceTimes {
  /** When the source last heard from the apiserver. */
  lastObservedAt(): number | undefined;
  /** When the last full list that it delivered began: what was acknowledged before that moment is in it. */
  lastListedAt?(): number | undefined;
}

/**
 * A pod source that may be missing, throw, or answer with something else: then nothing is known. Its times are given as moments
 * of `Clock.elapsed`, which a wall clock that is set later does not move.
 */
export class PodSourceView {
  readonly #source: PodSourceTimes | undefined;
  readonly #observed: ToldTime;
  readonly #listed: ToldTime;

  constructor(source: PodSourceTimes | undefined, clock: SteadyClock) {
    this.#source = source;
    this.#observed = new ToldTime(clock);
    this.#listed = new ToldTime(clock);
  }

  get isThere(): boolean {
    return this.#source !== undefined;
  }

  /** A time in the future is from before the wall clock was set back: it counts from when it was first seen. */
  lastObserved(): number | undefined {
    const told = finite(callGuarded(() => this.#source?.lastObservedAt(), ignoreFailure));
    return told === undefined ? undefined : this.#observed.momentOf(told).at;
  }

  /** Undefined for a time in the future, too: nobody knows how long ago that was. */
  lastListed(): number | undefined {
    const told = finite(callGuarded(() => this.#source?.lastListedAt?.(), ignoreFailure));
    if (told === undefined) return undefined;
    const { at, isFuture } = this.#listed.momentOf(told);
    return isFuture ? undefined : at;
  }
}

interface SeenMoment {
  /** By `Clock.elapsed`; rounded down, since the wall clock has no more than whole milliseconds. */
  readonly at: number;
  readonly isFuture: boolean;
}

/** A time of the wall clock that grows now and then. Each is turned into a moment once, when it is first seen. */
class ToldTime {
  readonly #clock: SteadyClock;
  #told: number | undefined;
  #seen: SeenMoment = { at: 0, isFuture: false };

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  momentOf(told: number): SeenMoment {
    if (told !== this.#told) {
      const ageMs = this.#clock.now() - told;
      this.#told = told;
      this.#seen = { at: Math.floor(this.#clock.elapsed() - Math.max(0, ageMs)), isFuture: ageMs < 0 };
    }
    return this.#seen;
  }
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
