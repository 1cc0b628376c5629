import { Counter, Gauge, Histogram, type OpenMetricsContentType, type PrometheusContentType, type Registry } from 'prom-client';
import { invalidOption } from '../../base/errors.ts';
import type { MetricDefinition } from '../../base/metrics/metric-definition.ts';

/** A registry of prom-client, of either format. */
export type PrometheusRegistry = Registry<PrometheusContentType> | Registry<OpenMetricsContentType>;

type PrometheusMetric = Counter | Gauge | Histogram;

/** The open sinks that write to a metric, by their labels; each value reads the gauges of its sink. */
type SinksOfMetric = Map<string, () => void>;

/** prom-client calls it before the metric is collected. It carries the sinks, so that a second sink finds them. */
interface Collect {
  (): void;
  readonly podStatusManagerSinks?: SinksOfMetric;
}

/** A metric of a registry, which several sinks write to. */
export interface SharedMetric {
  readonly definition: MetricDefinition;
  readonly metric: PrometheusMetric;
  readonly sinks: SinksOfMetric;
}

/**
 * The metric of this definition on the registry: made, or found where a sink with the same label names has made it. Throws
 * ERR_INVALID_OPTION where the registry has another metric of that name.
 */
export function sharedMetric(
  registry: PrometheusRegistry,
  definition: MetricDefinition,
  constantNames: readonly string[],
): SharedMetric {
  const labelNames = [...Object.keys(definition.labels), ...constantNames];
  const found = registry.getSingleMetric(definition.name) as (PrometheusMetric & Partial<Known>) | undefined;
  if (found === undefined) return { definition, ...made(registry, definition, labelNames) };
  const sinks = found.collect?.podStatusManagerSinks;
  if (sinks === undefined) {
    const rule = `without a metric ${definition.name} of somebody else, or that name in \`omit\``;
    throw invalidOption('registry', rule, registry);
  }
  if (!isSameSet(found.labelNames ?? [], labelNames)) {
    const others = (found.labelNames ?? []).filter((name) => !Object.hasOwn(definition.labels, name));
    throw invalidOption(
      'labels',
      `an object with the names that the other sinks of the registry have (${listed(others)})`,
      constantNames,
    );
  }
  return { definition, metric: found, sinks };
}

/** What prom-client keeps of the settings, and its types do not show. */
interface Known {
  readonly labelNames: readonly string[];
  readonly collect: Collect;
}

function made(registry: PrometheusRegistry, { name, help, type, labels, buckets = [] }: MetricDefinition, labelNames: string[]) {
  const sinks: SinksOfMetric = new Map();
  const read = (): void => {
    for (const readSink of sinks.values()) readSink();
  };
  const collect: Collect = Object.assign(read, { podStatusManagerSinks: sinks });
  const settings = { name, help, labelNames, registers: [registry], collect };
  if (type === 'counter') return { metric: new Counter(settings), sinks };
  if (type === 'histogram') return { metric: new Histogram({ ...settings, buckets: [...buckets] }), sinks };
  const gauge = new Gauge(settings);
  // a gauge without labels begins with 0, though nobody has measured anything
  if (Object.keys(labels).length === 0 && labelNames.length === 0) gauge.remove({});
  return { metric: gauge, sinks };
}

function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one));
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
