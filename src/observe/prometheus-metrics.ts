import { Counter, Gauge, Histogram, type OpenMetricsContentType, type PrometheusContentType, type Registry } from 'prom-client';
import { invalidOption } from '../base/errors.ts';
import type { MetricDefinition } from '../base/metrics/metric-definition.ts';
import type { MetricName } from '../base/metrics/metric-definitions.ts';
import { type Labels, type MetricsSink, Readers } from '../base/metrics/metrics.ts';
import { constantLabels, definitionsOf, EventLoopDelay } from '../base/metrics/sink-options.ts';
import { requireKnownOptions, requireMethods } from '../base/options.ts';

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

interface ResolvedPrometheusOptions {
  readonly registry: PrometheusRegistry;
  readonly labels: Labels;
  readonly definitions: readonly MetricDefinition[];
  readonly eventLoopDelay: boolean;
}

/** Names with two underscores at the beginning belong to Prometheus, `le` to histograms. */
const labelName = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
function resolvePrometheusOptions(options: PrometheusMetricsOptions): ResolvedPrometheusOptions {
  requireKnownOptions('options', options, ['registry', 'labels', 'omit', 'eventLoopDelay']);
  const { registry, labels = {}, omit = [], eventLoopDelay = true } = options;
  requireMethods('registry', registry, ['getSingleMetric', 'registerMetric', 'removeSingleMetric']);
  for (const [name, value] of Object.entries(labels ?? {})) {
    if (!labelName.test(name) || name === 'le') throw invalidOption(`labels.${name}`, 'named as Prometheus allows it', value);
  }
  const definitions = definitionsOf(omit, eventLoopDelay);
  return { registry, labels: constantLabels('labels', labels, definitions), definitions, eventLoopDelay };
}

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
interface SharedMetric {
  readonly definition: MetricDefinition;
  readonly metric: PrometheusMetric;
  readonly sinks: SinksOfMetric;
}

/**
 * The metric of this definition on the registry: made, or found where a sink with the same label names has made it. Throws
 * ERR_INVALID_OPTION where the registry has another metric of that name.
 */
function sharedMetric(
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
