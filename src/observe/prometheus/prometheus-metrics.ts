import { Counter, Gauge, Histogram } from 'prom-client';
import { invalidOption } from '../../base/errors.ts';
import { type Labels, type MetricsSink, Readers } from '../../base/metrics/metrics.ts';
import { EventLoopDelay } from '../../base/metrics/sink-options.ts';
import { type PrometheusMetricsOptions, type ResolvedPrometheusOptions, resolvePrometheusOptions } from './prometheus-options.ts';
import { type SharedMetric, sharedMetric } from './shared-metric.ts';

/** A sink whose series are on a registry of prom-client. */
export interface PrometheusMetrics extends MetricsSink {
  remove(name: string, labels: Labels): void;
  onCollect(read: () => void): () => void;
  /**
   * Takes the series of this sink from the registry, and the metrics that no other sink writes to; what is measured afterwards is
   * dropped. Close it after the parts that measure. A second call does nothing.
   */
  close(): Promise<void>;
  /** Calls `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A sink over the embedder's registry of prom-client. Every metric of `metricDefinitions` is registered at once, with the
 * buckets and labels of its definition. Gauges are read when the registry is collected. A name that is not defined is dropped.
 *
 * Throws ERR_INVALID_OPTION: for an unknown or wrong option; where the registry has a metric of a defined name that no sink has
 * made; where another sink of the registry has other label names, or the same labels, until its `close()` has ended. Then
 * nothing is registered.
 *
 * @example
 * ```ts
 * import { createPrometheusMetrics } from 'pod-status-manager/prometheus';
 * import { Registry } from 'prom-client';
 *
 * const registry = new Registry();
 * const metrics = createPrometheusMetrics({ registry, labels: { node: 'node-1' } }); // the option `metrics` of an agent's parts
 * const text = await registry.metrics();
 * console.log(text.includes('pod_status_manager_')); // true
 * await metrics.close();
 * ```
 */
export function createPrometheusMetrics(options: PrometheusMetricsOptions): PrometheusMetrics {
  return new RegistrySink(resolvePrometheusOptions(options));
}

class RegistrySink implements PrometheusMetrics {
  readonly #options: ResolvedPrometheusOptions;
  readonly #metrics = new Map<string, SharedMetric>();
  /** What the sink is called in the metrics that it shares. */
  readonly #key: string;
  readonly #readers = new Readers();
  readonly #delay: EventLoopDelay | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: ResolvedPrometheusOptions) {
    const { labels, eventLoopDelay } = options;
    this.#options = options;
    this.#key = JSON.stringify(Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1)));
    try {
      this.#register();
    } catch (error) {
      this.#leave([...this.#metrics.values()]);
      throw error;
    }
    if (!eventLoopDelay) return;
    const delay = new EventLoopDelay();
    this.#delay = delay;
    this.#readers.add(() => delay.read(this));
  }

  increment(name: string, labels?: Labels, by?: number): void {
    const metric = this.#metrics.get(name)?.metric;
    if (metric instanceof Counter) metric.inc(this.#all(labels), by);
  }

  observe(name: string, value: number, labels?: Labels): void {
    const metric = this.#metrics.get(name)?.metric;
    if (metric instanceof Histogram) metric.observe(this.#all(labels), value);
  }

  set(name: string, value: number, labels?: Labels): void {
    const metric = this.#metrics.get(name)?.metric;
    if (metric instanceof Gauge) metric.set(this.#all(labels), value);
  }

  remove(name: string, labels: Labels): void {
    this.#metrics.get(name)?.metric.remove(this.#all(labels));
  }

  onCollect(read: () => void): () => void {
    return this.#readers.add(read);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#delay?.close();
    this.#readers.close();
    const shared = [...this.#metrics.values()];
    this.#metrics.clear();
    try {
      await Promise.all(shared.filter(({ sinks }) => sinks.size > 1).map((metric) => this.#removeSeries(metric)));
    } finally {
      // until here the labels are taken: the series of a later sink with the same ones would go, too
      this.#leave(shared);
    }
  }

  #register(): void {
    const { registry, labels, definitions } = this.#options;
    for (const definition of definitions) {
      const shared = sharedMetric(registry, definition, Object.keys(labels));
      if (shared.sinks.has(this.#key)) {
        const rule =
          'an object with other values than those of the other sinks of the registry, each until its close() has ended';
        throw invalidOption('labels', rule, labels);
      }
      this.#metrics.set(definition.name, shared);
      shared.sinks.set(this.#key, () => this.#readers.read());
    }
  }

  /** Leaves these metrics; the registry loses those that no other sink writes to. */
  #leave(shared: readonly SharedMetric[]): void {
    const { registry } = this.#options;
    for (const { definition, metric, sinks } of shared) {
      sinks.delete(this.#key);
      const isOurs = sinks.size === 0 && registry.getSingleMetric(definition.name) === metric;
      if (isOurs) registry.removeSingleMetric(definition.name);
    }
  }

  async #removeSeries({ definition, metric }: SharedMetric): Promise<void> {
    const { labels } = this.#options;
    const names = [...Object.keys(definition.labels), ...Object.keys(labels)];
    const { values } = await metric.get();
    for (const value of values) {
      const found: Partial<Record<string, string | number>> = value.labels;
      const isOurs = Object.entries(labels).every(([name, one]) => found[name] === one);
      // a histogram also has a label for the bucket
      if (isOurs) metric.remove(Object.fromEntries(names.map((name) => [name, found[name] ?? ''])));
    }
  }

  #all(labels: Labels | undefined): Labels {
    return { ...labels, ...this.#options.labels };
  }
}
