import { credentialMetricDefinitions } from './credential-metric-definitions.ts';
import { deviceMetricDefinitions } from './device-metric-definitions.ts';
import { fleetMetricDefinitions } from './fleet-metric-definitions.ts';
import type { MetricDefinition, MetricType, WrittenDefinition } from './metric-definition.ts';
import {
  lifecycleMetricDefinitions,
  nodeMetricDefinitions,
  probeMetricDefinitions,
  providerMetricDefinitions,
  syncLoopMetricDefinitions,
  workerMetricDefinitions,
} from './node-metric-definitions.ts';
import { reflectorMetricDefinitions } from './reflector-metric-definitions.ts';
import { schedulerMetricDefinitions } from './scheduler-metric-definitions.ts';
import { statusMetricDefinitions } from './status-metric-definitions.ts';

/** What a sink measures of the process. */
const processMetrics = {
  pod_status_manager_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'By how much timers of the process came too late, since the last collection.',
    unit: 's',
    labels: {
      percentile: {
        help: 'so many percent of the timers were no later; 100 is the worst one',
        values: ['50', '90', '99', '100'],
      },
    },
    part: 'the sink',
    origin: 'own',
  },
} as const satisfies Record<string, WrittenDefinition>;

const written = {
  ...statusMetricDefinitions,
  ...reflectorMetricDefinitions,
  ...syncLoopMetricDefinitions,
  ...lifecycleMetricDefinitions,
  ...workerMetricDefinitions,
  ...providerMetricDefinitions,
  ...probeMetricDefinitions,
  ...nodeMetricDefinitions,
  ...deviceMetricDefinitions,
  ...credentialMetricDefinitions,
  ...fleetMetricDefinitions,
  ...schedulerMetricDefinitions,
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
