import type { CancelTimer, Clock } from '../clock.ts';
import { callGuarded, ignoreFailure } from '../guard.ts';
import type { Metrics } from './metrics.ts';

/** How often gauges are read for a sink that cannot say when it is read, in milliseconds. */
const sampleIntervalMs = 10_000;

/**
 * Calls `read` whenever the gauges that it sets are wanted: before each collection of a sink that says when it is read, else,
 * also where it fails to take a reader, every ten seconds; and once more at the end. What `read` throws is ignored. Returns a function that ends it, and does nothing
 * when it is called again. Without a sink nothing happens.
 */
export function sampleGauges(metrics: Metrics, clock: Clock, read: () => void): () => void {
  if (!metrics.isUsed) return () => {};
  const readSafely = (): void => void callGuarded(read, ignoreFailure);
  const end = metrics.onCollect?.(readSafely) ?? repeat(clock, readSafely);
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    end();
    readSafely();
  };
}

function repeat(clock: Clock, read: () => void): () => void {
  let cancel: CancelTimer | undefined;
  const arm = (): void => {
    cancel = callGuarded(
      () =>
        clock.setTimer(() => {
          arm();
          read();
        }, sampleIntervalMs),
      ignoreFailure,
    );
  };
  arm();
  return () => cancel?.();
}
