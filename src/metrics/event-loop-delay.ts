import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricLabels } from './metric-definitions.ts';

type Quantile = MetricLabels['pod_status_manager_event_loop_delay_seconds']['quantile'];

/** How often the delay is sampled, in milliseconds: it is a timer of the event loop itself. */
const resolutionMs = 20;
const quantiles: readonly Quantile[] = ['0.5', '0.9', '0.99', '1'];

/** Measures how late timers come, from its construction to `close`. It keeps no process alive. */
export class EventLoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMs });

  constructor() {
    this.#histogram.enable();
  }

  /** Tells the delays since the last call, in seconds, and begins anew. Without a sample each is 0. */
  read(tell: (quantile: Quantile, seconds: number) => void): void {
    const hasSamples = this.#histogram.count > 0;
    for (const quantile of quantiles) {
      const intervalNs = hasSamples ? this.#histogram.percentile(Number(quantile) * 100) : 0;
      // what is sampled is the time from one timer to the next
      tell(quantile, Math.max(0, intervalNs / 1e9 - resolutionMs / 1000));
    }
    this.#histogram.reset();
  }

  close(): void {
    this.#histogram.disable();
  }
}
