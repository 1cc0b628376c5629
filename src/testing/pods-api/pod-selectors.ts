import type { Json, JsonObject } from '../../wire/types.ts';
import { badRequest } from './api-status.ts';
import { objectAt, textAt } from './json-fields.ts';

export interface PodSelection {
  readonly namespace?: string | undefined;
  /** Comma-separated `field=value`, `field==value`, `field!=value`. */
  readonly fieldSelector?: string | undefined;
  /** Comma-separated `label=value`, `label!=value`, `label`, `!label`, `label in (a,b)`, `label notin (a,b)`. */
  readonly labelSelector?: string | undefined;
}

export type PodFilter = (pod: JsonObject) => boolean;

const selectableFields: Readonly<Record<string, (pod: JsonObject) => string>> = {
  'metadata.name': (pod) => textAt(objectAt(pod, 'metadata'), 'name'),
  'metadata.namespace': (pod) => textAt(objectAt(pod, 'metadata'), 'namespace'),
  'spec.nodeName': (pod) => textAt(objectAt(pod, 'spec'), 'nodeName'),
  'spec.restartPolicy': (pod) => textAt(objectAt(pod, 'spec'), 'restartPolicy'),
  'spec.schedulerName': (pod) => textAt(objectAt(pod, 'spec'), 'schedulerName'),
  'spec.serviceAccountName': (pod) => textAt(objectAt(pod, 'spec'), 'serviceAccountName'),
  'spec.hostNetwork': (pod) => String(objectAt(pod, 'spec').hostNetwork === true),
  'status.phase': (pod) => textAt(objectAt(pod, 'status'), 'phase'),
  'status.podIP': (pod) => textAt(objectAt(pod, 'status'), 'podIP'),
  'status.nominatedNodeName': (pod) => textAt(objectAt(pod, 'status'), 'nominatedNodeName'),
};

function fieldFilter(term: string): PodFilter {
  const match = /^([^=!]+)(!=|==|=)(.*)$/.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [, field = '', operator, value] = match;
  const read = Object.hasOwn(selectableFields, field) ? selectableFields[field] : undefined;
  if (read === undefined) throw badRequest(`field label not supported: ${field}`);
  return (pod) => (read(pod) === value) === (operator !== '!=');
}

function labelOf(pod: JsonObject, key: string): Json | undefined {
  const labels = objectAt(objectAt(pod, 'metadata'), 'labels');
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** The values between the parentheses of a set. */
function setValues(list: string): readonly string[] {
  return list.split(',').map((part) => {
    const [value = '', next] = part.trim().split(/\s+/);
    if (next !== undefined) throw badRequest(`unable to parse requirement: found '${next}', expected: ',' or ')'`);
    return value;
  });
}

/** A pod without the label matches `notin` and `!=`, and never `in` or `=`. */
function labelFilter(term: string): PodFilter {
  const set = /^([^=!\s]+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(term);
  if (set !== null) {
    const [, key = '', operator, list = ''] = set;
    const values = setValues(list);
    return (pod) => {
      const value = labelOf(pod, key);
      return (typeof value === 'string' && values.includes(value)) === (operator === 'in');
    };
  }
  const equality = /^([^=!\s]+)\s*(!=|==|=)\s*(\S*)$/.exec(term);
  if (equality !== null) {
    const [, key = '', operator, value] = equality;
    return (pod) => (labelOf(pod, key) === value) === (operator !== '!=');
  }
  const existence = /^(!?)([^=!\s<>]+)$/.exec(term);
  if (existence === null) throw badRequest(`unable to parse requirement: ${term}`);
  const [, not, key = ''] = existence;
  return (pod) => (labelOf(pod, key) !== undefined) === (not === '');
}

/** Splits at commas outside parentheses. */
const terms = (selector: string): string[] =>
  selector
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '');

/** One filter for the whole selection. Throws 400 for a selector that the API does not know. */
export function podFilter({ namespace, fieldSelector = '', labelSelector = '' }: PodSelection): PodFilter {
  const filters = [...terms(fieldSelector).map(fieldFilter), ...terms(labelSelector).map(labelFilter)];
  if (namespace !== undefined && namespace !== '')
    filters.push((pod) => textAt(objectAt(pod, 'metadata'), 'namespace') === namespace);
  return (pod) => filters.every((matches) => matches(pod));
}
