import { invalidOption } from '../errors.ts';
import { optionOfType } from '../options/options.ts';
import { eventLoopDelayName } from './event-loop-delay.ts';
import type { MetricDefinition } from './metric-definition.ts';
import { type MetricName, metricDefinitions } from './metric-definitions.ts';
import type { Labels } from './metrics-sink.ts';

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
