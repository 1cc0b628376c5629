/** The labels of a series: names to values. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Receives measurements. The names, types, labels and buckets that this library uses are in `metricDefinitions`; a sink takes
 * any other name as well. Times are in seconds. What a sink throws, or rejects with, is ignored.
 */
export interface MetricsSink {
  /** Adds `by` to a counter. Default 1; 0 makes the series exist. */
  increment(name: string, labels?: Labels, by?: number): void;
  /** Adds one value to a histogram. */
  observe(name: string, value: number, labels?: Labels): void;
  /** Sets a gauge. */
  set(name: string, value: number, labels?: Labels): void;
  /**
   * Ends a series: its pod is gone. Called only for metrics whose definition says `endsWithPod`. A sink without it keeps the
   * series.
   */
  remove?(name: string, labels: Labels): void;
  /**
   * For a sink that is read from outside, as Prometheus reads one. `read` sets the gauges that are only measured when somebody
   * looks, such as ages and queue lengths; the sink calls it before each collection. Returns a function that ends that. A sink
   * without it gets those gauges every ten seconds.
   */
  onCollect?(read: () => void): () => void;
}
