import { invalidOption } from '../../base/errors.ts';
import type { MetricDefinition } from '../../base/metrics/metric-definition.ts';
import type { MetricName } from '../../base/metrics/metric-definitions.ts';
import type { Labels } from '../../base/metrics/metrics.ts';
import { constantLabels, definitionsOf } from '../../base/metrics/sink-options.ts';
import { requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { PrometheusRegistry } from './shared-metric.ts';

/** What `createPrometheusMetrics` takes. An option that does not exist is refused with ERR_INVALID_OPTION. */
export interface PrometheusMetricsOptions {
  /** A registry of prom-client, which the embedder serves. Its other metrics stay as they are. */
  readonly registry: PrometheusRegistry;
  /**
   * Labels that each series gets. They tell the sinks of one registry apart: `{ node: 'node-1' }`. All sinks of a registry need the
   * same names, and other values. Default: none.
   */
  readonly labels?: Labels;
  /** Metrics that are not registered, and whose values are dropped. Default: none. */
  readonly omit?: readonly MetricName[];
  /**
   * Measures how late the timers of the process come, with a timer of its own every 20 ms. Among several sinks of a process one
   * is enough. Default true.
   */
  readonly eventLoopDelay?: boolean;
}

export interface ResolvedPrometheusOptions {
  readonly registry: PrometheusRegistry;
  readonly labels: Labels;
  readonly definitions: readonly MetricDefinition[];
  readonly eventLoopDelay: boolean;
}

/** Names with two underscores at the beginning belong to Prometheus, `le` to histograms. */
const labelName = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function resolvePrometheusOptions(options: PrometheusMetricsOptions): ResolvedPrometheusOptions {
  requireKnownOptions('options', options, ['registry', 'labels', 'omit', 'eventLoopDelay']);
  const { registry, labels = {}, omit = [], eventLoopDelay = true } = options;
  requireMethods('registry', registry, ['getSingleMetric', 'registerMetric', 'removeSingleMetric']);
  for (const [name, value] of Object.entries(labels ?? {})) {
    if (!labelName.test(name) || name === 'le') throw invalidOption(`labels.${name}`, 'named as Prometheus allows it', value);
  }
  const definitions = definitionsOf(omit, eventLoopDelay);
  return { registry, labels: constantLabels('labels', labels, definitions), definitions, eventLoopDelay };
}
