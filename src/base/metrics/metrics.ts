import type { CancelTimer, Clock } from '../clock.ts';
import { invalidOption } from '../errors.ts';
import { callGuarded, ignoreFailure } from '../guard.ts';
import { requireMethods } from '../options.ts';
import { type MetricLabels, type MetricName, type MetricNameOf, metricDefinitions } from './metric-definitions.ts';

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
   * Ends a series: its pod, or its resource, is gone. Called only for metrics whose definition says `endsWithPod` or
   * `endsWithResource`. A sink without it keeps the series.
   */
  remove?(name: string, labels: Labels): void;
  /**
   * For a sink that is read from outside, as Prometheus reads one. `read` sets the gauges that are only measured when somebody
   * looks, such as ages and queue lengths; the sink calls it before each collection. Returns a function that ends that. A sink
   * without it gets those gauges every ten seconds.
   */
  onCollect?(read: () => void): () => void;
}

/** How often gauges are read for a sink that cannot say when it is read, in milliseconds. */
const sampleIntervalMs = 10_000;

/**
 * Calls `read` whenever the gauges that it sets are wanted: before each collection of a sink that says when it is read, else,
 * also where it fails to take a reader, every ten seconds; and once more at the end. What `read` throws is ignored. Returns a function that ends it, and does nothing
 * when it is called again. Without a sink nothing happens.
 */
export function sampleGauges(metrics: Metrics, clock: Clock, read: () => void): () => void {
  if (!metrics.isUsed) return () => {};
  const readSafely = (): void => void callGuarded(read, ignoreFailure);
  const end = metrics.onCollect?.(readSafely) ?? repeat(clock, readSafely);
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    end();
    readSafely();
  };
}

function repeat(clock: Clock, read: () => void): () => void {
  let cancel: CancelTimer | undefined;
  const arm = (): void => {
    cancel = callGuarded(
      () =>
        clock.setTimer(() => {
          arm();
          read();
        }, sampleIntervalMs),
      ignoreFailure,
    );
  };
  arm();
  return () => cancel?.();
}

/** A counter whose labels all have known values. */
type Counter = MetricNameOf<'counter'>;

/**
 * Makes every series of these counters exist, with the value 0: of a series that begins with 1, Prometheus sees no increase. The
 * labels of each must have known values.
 */
export function beginAtZero(metrics: Metrics, names: readonly Counter[]): void {
  if (!metrics.isUsed) return;
  for (const name of names) {
    for (const labels of combinations(name))
      (metrics.increment as (name: string, labels: object, by: number) => void)(name, labels, 0);
  }
}

function combinations(name: Counter): Readonly<Record<string, string>>[] {
  let found: Record<string, string>[] = [{}];
  for (const [label, { values = [] }] of Object.entries(metricDefinitions[name].labels)) {
    found = found.flatMap((labels) => values.map((value) => ({ ...labels, [label]: value })));
  }
  return found;
}

/** What is to be read before a sink is collected. */
export class Readers {
  readonly #reads = new Set<() => void>();
  #isRead = false;

  /** Returns a function that ends it. */
  add(read: () => void): () => void {
    const entry = (): void => void callGuarded(read, ignoreFailure);
    this.#reads.add(entry);
    return () => void this.#reads.delete(entry);
  }

  /** Calls each, but for a second collection in the same turn of the event loop. */
  read(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    queueMicrotask(() => {
      this.#isRead = false;
    });
    for (const read of this.#reads) read();
  }

  close(): void {
    this.#reads.clear();
  }
}
