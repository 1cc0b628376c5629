import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricLabels } from './metric-definitions.ts';
import type { MetricsSink } from './metrics-sink.ts';

/** The name of the one metric that a sink measures by itself. */
export const eventLoopDelayName = 'pod_status_manager_event_loop_delay_seconds';
type Percentile = MetricLabels[typeof eventLoopDelayName]['percentile'];

/** How often the delay is sampled, in milliseconds: it is a timer of the event loop itself. */
const resolutionMs = 20;
const percentiles: readonly Percentile[] = ['50', '90', '99', '100'];

/** Measures how late timers come, from its construction to `close`. It keeps no process alive. */
export class EventLoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMs });

  constructor() {
    this.#histogram.enable();
  }

  /** Sets the delays since the last call, in seconds, and begins anew. Without a sample each is 0. */
  read(sink: Pick<MetricsSink, 'set'>): void {
    const hasSamples = this.#histogram.count > 0;
    for (const percentile of percentiles) {
      const intervalNs = hasSamples ? this.#histogram.percentile(Number(percentile)) : 0;
      // what is sampled is the time from one timer to the next
      sink.set(eventLoopDelayName, Math.max(0, intervalNs / 1e9 - resolutionMs / 1000), { percentile });
    }
    this.#histogram.reset();
  }

  close(): void {
    this.#histogram.disable();
  }
}
