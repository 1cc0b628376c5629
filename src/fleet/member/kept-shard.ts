import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import type { FleetTiming } from './shard-keeper-options.ts';

/** How long a shard that the placed member did not take is kept before it is offered to that member again: so many durations of a Lease, and longer each time. */
const keptFor = { durations: 2, longestMs: 300_000 };

/** A shard that was taken in the place of another member. */
export interface Kept {
  readonly placedOn: string | undefined;
  /** By `clock.elapsed()`. */
  readonly untilMs: number;
  /** How often that member did not take it. */
  readonly times: number;
}

/** The member that is to have the shard did not take it: once more, where it is the same one as `before`. */
export function keptAgain(
  before: Kept | undefined,
  placedOn: string | undefined,
  now: number,
  { leaseDurationMs }: FleetTiming,
): Kept {
  const times = before?.placedOn === placedOn ? (before?.times ?? 0) + 1 : 1;
  const keptMs = nthDelayMs(times, { firstMs: keptFor.durations * leaseDurationMs, longestMs: keptFor.longestMs });
  return { placedOn, untilMs: now + keptMs, times };
}

/** True while the shard is not to be offered to this member. */
export function isKeptFrom(kept: Kept | undefined, placedOn: string, now: number): boolean {
  return kept !== undefined && kept.placedOn === placedOn && now < kept.untilMs;
}
