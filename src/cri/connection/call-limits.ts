import { onAbort } from '../../concurrency/aborts.ts';
import type { Clock } from '../../seams/clock.ts';

/** What cuts a call short, beside its own end. */
export interface CallLimits {
  /** The longest time of the call in milliseconds; undefined: no limit. */
  readonly timeoutMs: number | undefined;
  /** Aborts the call. */
  readonly signal: AbortSignal | undefined;
}

/** Who is told that a call is over before its answer came. At most one of the two is called, once. */
export interface CutShort {
  /** The time is over. */
  onTimeout(): void;
  /** The signal has aborted. */
  onAbort(reason: unknown): void;
}

/** Watches over one call. What it returns ends the watch: no timer and no listener is left. */
export function watchLimits(clock: Clock, { timeoutMs, signal }: CallLimits, told: CutShort): () => void {
  const end = (): void => {
    cancelTimer?.();
    leave();
  };
  const onTimeout = (): void => {
    end();
    told.onTimeout();
  };
  const cancelTimer = timeoutMs === undefined ? undefined : clock.setTimer(onTimeout, timeoutMs, { keepAlive: true });
  const leave = onAbort(signal, () => {
    end();
    told.onAbort(signal?.reason);
  });
  return end;
}
