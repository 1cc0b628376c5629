import type { BatchObservableCallback, Counter, Histogram } from '@opentelemetry/api';
import type { MetricDefinition } from '../../base/metrics/metric-definition.ts';
import { type Labels, type MetricsSink, Readers } from '../../base/metrics/metrics.ts';
import { EventLoopDelay } from '../../base/metrics/sink-options.ts';
import { ObservedGauge } from './observed-gauge.ts';
import {
  type OpenTelemetryMetricsOptions,
  type ResolvedOpenTelemetryOptions,
  resolveOpenTelemetryOptions,
} from './opentelemetry-options.ts';

/** A sink over a meter of OpenTelemetry. */
export interface OpenTelemetryMetrics extends MetricsSink {
  onCollect(read: () => void): () => void;
  /**
   * Reports no more; what is measured afterwards is dropped. What the meter's provider has of it stays there. A second call does
   * nothing.
   */
  close(): void;
  /** Calls `close()`, for `using`. */
  [Symbol.dispose](): void;
}

/**
 * A sink over a meter of OpenTelemetry. Every metric of `metricDefinitions` becomes an instrument of the same name, with the unit
 * and the bucket boundaries of its definition; its labels become attributes. Gauges are observable: they are read when the
 * meter's provider collects. A name that is not defined is dropped.
 *
 * OpenTelemetry has no way to end a series, so those of a pod outlive it: the provider's limit of attribute sets bounds them, and
 * `omit` leaves such metrics out.
 *
 * Throws ERR_INVALID_OPTION for an unknown or wrong option.
 *
 * @example
 * ```ts
 * import { metrics } from '@opentelemetry/api';
 * import { createOpenTelemetryMetrics } from 'pod-status-manager/opentelemetry';
 *
 * const meter = metrics.getMeter('my-agent'); // measures nothing until the process has a MeterProvider
 * const sink = createOpenTelemetryMetrics({ meter, attributes: { node: 'node-1' } }); // the option `metrics` of an agent's parts
 * sink.close();
 * ```
 */
export function createOpenTelemetryMetrics(options: OpenTelemetryMetricsOptions): OpenTelemetryMetrics {
  return new MeterSink(resolveOpenTelemetryOptions(options));
}

class MeterSink implements OpenTelemetryMetrics {
  readonly #options: ResolvedOpenTelemetryOptions;
  readonly #counters = new Map<string, Counter>();
  readonly #histograms = new Map<string, Histogram>();
  readonly #gauges = new Map<string, ObservedGauge>();
  readonly #readers = new Readers();
  readonly #delay: EventLoopDelay | undefined;

  constructor(options: ResolvedOpenTelemetryOptions) {
    this.#options = options;
    for (const definition of options.definitions) this.#create(definition);
    options.meter.addBatchObservableCallback(this.#report, this.#instruments());
    if (!options.eventLoopDelay) return;
    const delay = new EventLoopDelay();
    this.#delay = delay;
    this.#readers.add(() => delay.read(this));
  }

  increment(name: string, labels?: Labels, by = 1): void {
    this.#counters.get(name)?.add(by, this.#all(labels));
  }

  observe(name: string, value: number, labels?: Labels): void {
    this.#histograms.get(name)?.record(value, this.#all(labels));
  }

  set(name: string, value: number, labels?: Labels): void {
    this.#gauges.get(name)?.set(this.#all(labels), value);
  }

  onCollect(read: () => void): () => void {
    return this.#readers.add(read);
  }

  close(): void {
    this.#delay?.close();
    this.#readers.close();
    this.#options.meter.removeBatchObservableCallback(this.#report, this.#instruments());
    this.#counters.clear();
    this.#histograms.clear();
    this.#gauges.clear();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  readonly #report: BatchObservableCallback = (result) => {
    this.#readers.read();
    for (const gauge of this.#gauges.values()) gauge.report(result);
  };

  #instruments(): ObservedGauge['instrument'][] {
    return Array.from(this.#gauges.values(), ({ instrument }) => instrument);
  }

  #create({ name, type, help: description, unit, buckets = [] }: MetricDefinition): void {
    const { meter } = this.#options;
    const settings = { description, unit };
    if (type === 'histogram') {
      const advice = { explicitBucketBoundaries: [...buckets] };
      this.#histograms.set(name, meter.createHistogram(name, { ...settings, advice }));
    } else if (type === 'gauge') this.#gauges.set(name, new ObservedGauge(meter.createObservableGauge(name, settings)));
    else this.#counters.set(name, meter.createCounter(name, settings));
  }

  #all(labels: Labels | undefined): Labels {
    return { ...labels, ...this.#options.attributes };
  }
}
