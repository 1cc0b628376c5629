import type { Meter } from '@opentelemetry/api';
import type { MetricDefinition } from '../../base/metrics/metric-definition.ts';
import type { MetricName } from '../../base/metrics/metric-definitions.ts';
import type { Labels } from '../../base/metrics/metrics.ts';
import { constantLabels, definitionsOf } from '../../base/metrics/sink-options.ts';
import { requireKnownOptions, requireMethods } from '../../base/options.ts';

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

export interface ResolvedOpenTelemetryOptions {
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
export function resolveOpenTelemetryOptions(options: OpenTelemetryMetricsOptions): ResolvedOpenTelemetryOptions {
  requireKnownOptions('options', options, ['meter', 'attributes', 'omit', 'eventLoopDelay']);
  const { meter, attributes = {}, omit = [], eventLoopDelay = true } = options;
  requireMethods('meter', meter, meterMethods);
  const definitions = definitionsOf(omit, eventLoopDelay);
  return { meter, attributes: constantLabels('attributes', attributes, definitions), definitions, eventLoopDelay };
}
