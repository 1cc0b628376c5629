import { invalidOption } from '../errors.ts';
import { callGuarded, ignoreFailure } from '../guard.ts';
import { requireMethods } from '../options/options.ts';
import type { MetricLabels, MetricName, MetricNameOf } from './metric-definitions.ts';
import type { MetricsSink } from './metrics-sink.ts';

/** The metrics of one type that have no labels. */
type Plain<Names extends MetricName> = { [Name in Names]: keyof MetricLabels[Name] extends never ? Name : never }[Names];

/**
 * What the parts of this library measure with: only metrics that are defined, each with the labels of its definition. No
 * method throws.
 */
export interface Metrics {
  /** False where nobody has asked for metrics: what is costly to measure is not measured then. */
  readonly isUsed: boolean;
  increment(name: Plain<MetricNameOf<'counter'>>): void;
  increment<Name extends MetricNameOf<'counter'>>(name: Name, labels: MetricLabels[Name], by?: number): void;
  observe(name: Plain<MetricNameOf<'histogram'>>, value: number): void;
  observe<Name extends MetricNameOf<'histogram'>>(name: Name, value: number, labels: MetricLabels[Name]): void;
  set(name: Plain<MetricNameOf<'gauge'>>, value: number): void;
  set<Name extends MetricNameOf<'gauge'>>(name: Name, value: number, labels: MetricLabels[Name]): void;
  remove<Name extends MetricName>(name: Name, labels: MetricLabels[Name]): void;
  /** Undefined where the sink cannot say when it is read. Then `read` is to be called from time to time. */
  readonly onCollect: ((read: () => void) => (() => void) | undefined) | undefined;
}

const nothing = (): void => {};

/** Measures nothing. */
export const noMetrics: Metrics = Object.freeze({
  isUsed: false,
  increment: nothing,
  observe: nothing,
  set: nothing,
  remove: nothing,
  onCollect: undefined,
});

/** Checks the option `metrics`. Throws ERR_INVALID_OPTION for what is no sink. Without a sink nothing is measured. */
export function metricsOption(sink: MetricsSink | undefined): Metrics {
  if (sink === undefined) return noMetrics;
  requireMethods('metrics', sink, ['increment', 'observe', 'set']);
  for (const name of ['remove', 'onCollect'] as const) {
    const method: unknown = sink[name];
    if (method !== undefined && typeof method !== 'function')
      throw invalidOption(`metrics.${name}`, 'a function, or absent', method);
  }
  return safeMetrics(sink);
}

/** The sink with its failures ignored: they must not stop what is measured. */
function safeMetrics(sink: MetricsSink): Metrics {
  return {
    isUsed: true,
    increment: (name: string, labels?: object, by?: number) =>
      guard(() => sink.increment(name, labels as MetricLabels[never], by)),
    observe: (name: string, value: number, labels?: object) =>
      guard(() => sink.observe(name, value, labels as MetricLabels[never])),
    set: (name: string, value: number, labels?: object) => guard(() => sink.set(name, value, labels as MetricLabels[never])),
    remove: (name, labels) => guard(() => sink.remove?.(name, labels)),
    onCollect: sink.onCollect === undefined ? undefined : (read) => subscribe(sink, read),
  };
}

function guard(call: () => unknown): void {
  callGuarded(call, ignoreFailure);
}

/**
 * Whatever the sink does, it calls nothing any more once the function that is returned was called; undefined where the sink has
 * failed, and then it calls nothing at all.
 */
function subscribe(sink: MetricsSink, read: () => void): (() => void) | undefined {
  let isOver = false;
  const end: unknown = callGuarded(
    () =>
      sink.onCollect?.(() => {
        if (!isOver) read();
      }),
    () => {
      isOver = true;
    },
  );
  if (isOver) return undefined;
  return () => {
    isOver = true;
    if (typeof end === 'function') guard(() => end());
  };
}
