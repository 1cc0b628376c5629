import { lifecycleMetrics } from './lifecycle-metrics.ts';
import type { MetricDefinition, MetricType, WrittenDefinition } from './metric-definition.ts';
import { nodeMetrics } from './node-metrics.ts';
import { probeMetrics } from './probe-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { providerMetrics } from './provider-metrics.ts';
import { reflectorMetrics } from './reflector-metrics.ts';
import { schedulerMetrics } from './scheduler-metrics.ts';
import { statusMetrics } from './status-metrics.ts';
import { syncLoopMetrics } from './sync-loop-metrics.ts';
import { workerMetrics } from './worker-metrics.ts';

const written = {
  ...statusMetrics,
  ...reflectorMetrics,
  ...syncLoopMetrics,
  ...lifecycleMetrics,
  ...workerMetrics,
  ...providerMetrics,
  ...probeMetrics,
  ...nodeMetrics,
  ...schedulerMetrics,
  ...processMetrics,
};
type Written = typeof written;

/** The name of a metric that this library measures. */
export type MetricName = keyof Written;

/** The names of the metrics of one type. */
export type MetricNameOf<Type extends MetricType> = {
  [Name in MetricName]: Written[Name]['type'] extends Type ? Name : never;
}[MetricName];

type ValuesOf<Label> = Label extends { readonly values: readonly (infer Value)[] } ? Value : string;

/** The labels of each metric: names to the values that are possible. */
export type MetricLabels = {
  readonly [Name in MetricName]: {
    readonly [Label in keyof Written[Name]['labels']]: ValuesOf<Written[Name]['labels'][Label]>;
  };
};

/** Every metric that this library measures, by name. Frozen. */
export const metricDefinitions: Readonly<Record<MetricName, MetricDefinition>> = defined(written);

function defined(definitions: Written): Readonly<Record<MetricName, MetricDefinition>> {
  const entries = Object.entries<WrittenDefinition>(definitions).map(([name, definition]) => [
    name,
    frozen({ name, ...definition }),
  ]);
  return Object.freeze(Object.fromEntries(entries));
}

function frozen<T extends object>(value: T): T {
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) frozen(member);
  return Object.freeze(value);
}
