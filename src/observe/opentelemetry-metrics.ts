import type { BatchObservableCallback, BatchObservableResult, Counter, Histogram, Meter, Observable } from '@opentelemetry/api';
import type { MetricDefinition } from '../base/metrics/metric-definition.ts';
import type { MetricName } from '../base/metrics/metric-definitions.ts';
import { type Labels, type MetricsSink, Readers } from '../base/metrics/metrics.ts';
import { constantLabels, definitionsOf, EventLoopDelay } from '../base/metrics/sink-options.ts';
import { requireKnownOptions, requireMethods } from '../base/options.ts';

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
 * OpenTelemetry has no way to end a series, so those of a pod, or of a resource of device plugins, outlive it: the provider's limit
 * of attribute sets bounds them, and `omit` leaves such metrics out.
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

/** What `createOpenTelemetryMetrics` takes. An option that does not exist is refused with ERR_INVALID_OPTION. */
export interface OpenTelemetryMetricsOptions {
  /** A meter of the embedder's provider: `metrics.getMeter('my-agent')` of `@opentelemetry/api`. */
  readonly meter: Meter;
  /** Attributes that each data point gets. They tell the sinks of one meter apart: `{ node: 'node-1' }`. Default: none. */
  readonly attributes?: Labels;
  /** Metrics without an instrument, whose values are dropped. Default: none. */
  readonly omit?: readonly MetricName[];
  /**
   * Measures how late the timers of the process come, with a timer of its own every 20 ms. Among several sinks of a process one
   * is enough. Default true.
   */
  readonly eventLoopDelay?: boolean;
}

interface ResolvedOpenTelemetryOptions {
  readonly meter: Meter;
  readonly attributes: Labels;
  readonly definitions: readonly MetricDefinition[];
  readonly eventLoopDelay: boolean;
}

const meterMethods = [
  'createCounter',
  'createHistogram',
  'createObservableCounter',
  'createObservableGauge',
  'addBatchObservableCallback',
  'removeBatchObservableCallback',
] as const satisfies readonly (keyof Meter)[];

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
function resolveOpenTelemetryOptions(options: OpenTelemetryMetricsOptions): ResolvedOpenTelemetryOptions {
  requireKnownOptions('options', options, ['meter', 'attributes', 'omit', 'eventLoopDelay']);
  const { meter, attributes = {}, omit = [], eventLoopDelay = true } = options;
  requireMethods('meter', meter, meterMethods);
  const definitions = definitionsOf(omit, eventLoopDelay);
  return { meter, attributes: constantLabels('attributes', attributes, definitions), definitions, eventLoopDelay };
}

interface Series {
  readonly attributes: Labels;
  readonly value: number;
}

/** An observable gauge, with the last value of each series, which is reported at each collection. */
class ObservedGauge {
  readonly instrument: Observable;
  readonly #series = new Map<string, Series>();

  constructor(instrument: Observable) {
    this.instrument = instrument;
  }

  set(attributes: Labels, value: number): void {
    this.#series.set(keyOf(attributes), { attributes, value });
  }

  report(result: BatchObservableResult): void {
    for (const { attributes, value } of this.#series.values()) result.observe(this.instrument, value, attributes);
  }
}

function keyOf(attributes: Labels): string {
  const names = Object.keys(attributes).sort();
  return JSON.stringify(names.map((name) => [name, attributes[name]]));
}
