import { monitorEventLoopDelay } from 'node:perf_hooks';
import { invalidOption } from '../errors.ts';
import { optionOfType } from '../options.ts';
import type { MetricDefinition } from './metric-definition.ts';
import { type MetricLabels, type MetricName, metricDefinitions } from './metric-definitions.ts';
import type { Labels, MetricsSink } from './metrics.ts';

/**
 * The definitions without those that are left out. Throws ERR_INVALID_OPTION for a name that is none, and for an
 * `eventLoopDelay` that is no boolean.
 */
export function definitionsOf(omit: readonly MetricName[], eventLoopDelay: boolean): readonly MetricDefinition[] {
  optionOfType('eventLoopDelay', eventLoopDelay, 'boolean');
  if (!Array.isArray(omit)) throw invalidOption('omit', 'a list of names in `metricDefinitions`', omit);
  for (const name of omit) {
    if (!Object.hasOwn(metricDefinitions, name)) throw invalidOption('omit', 'a list of names in `metricDefinitions`', name);
  }
  const left = eventLoopDelay ? omit : [...omit, eventLoopDelayName];
  return Object.values(metricDefinitions).filter(({ name }) => !left.includes(name as MetricName));
}

/**
 * Checks labels that each series of a sink gets. Throws ERR_INVALID_OPTION for a value that is no string, and for a name that a
 * metric has already.
 */
export function constantLabels(option: string, labels: Labels, definitions: readonly MetricDefinition[]): Labels {
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels)) {
    throw invalidOption(option, 'an object of names and values', labels);
  }
  for (const [name, value] of Object.entries(labels)) {
    if (typeof value !== 'string') throw invalidOption(`${option}.${name}`, 'a string', value);
    const taken = definitions.find((definition) => Object.hasOwn(definition.labels, name));
    if (taken !== undefined) {
      throw invalidOption(
        `${option}.${name}`,
        `named otherwise, or ${taken.name} left out by \`omit\`: that metric has a label of this name`,
        value,
      );
    }
  }
  return Object.freeze({ ...labels });
}

/** The name of the one metric that a sink measures by itself. */
const eventLoopDelayName = 'pod_status_manager_event_loop_delay_seconds';
type Percentile = MetricLabels[typeof eventLoopDelayName]['percentile'];

/** How often the delay is sampled, in milliseconds: it is a timer of the event loop itself. */
const resolutionMs = 20;
const percentiles: readonly Percentile[] = ['50', '90', '99', '100'];

/** Measures how late timers come, from its construction to `close`. It keeps no process alive. */
export class EventLoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: resolutionMs });

  constructor() {
    this.#histogram.enable();
  }

  /** Sets the delays since the last call, in seconds, and begins anew. Without a sample each is 0. */
  read(sink: Pick<MetricsSink, 'set'>): void {
    const hasSamples = this.#histogram.count > 0;
    for (const percentile of percentiles) {
      const intervalNs = hasSamples ? this.#histogram.percentile(Number(percentile)) : 0;
      // what is sampled is the time from one timer to the next
      sink.set(eventLoopDelayName, Math.max(0, intervalNs / 1e9 - resolutionMs / 1000), { percentile });
    }
    this.#histogram.reset();
  }

  close(): void {
    this.#histogram.disable();
  }
}
