// Behaviour of pkg/apis/core/validation/events.go for requests of events.k8s.io/v1, v1.36.3.
import type { JsonObject } from '../../api/json/types.ts';
import { invalidValue, requiredValue, type StatusCause } from '../objects/api-status.ts';
import { equalJson, numberAt, objectAt, textAt } from '../objects/json-fields.ts';
import type { ObjectRules } from '../objects/object-rules.ts';
import { fieldsBeside } from '../objects/selectors.ts';
import { plainRules } from './plain-rules.ts';

const limits = { reportingInstance: 128, action: 128, reason: 128 } as const;
const longestNote = 1024;
const never = ['deprecatedFirstTimestamp', 'deprecatedLastTimestamp', 'deprecatedCount', 'deprecatedSource'] as const;
const fixed = [
  'regarding',
  'reason',
  'note',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingController',
  'reportingInstance',
];
/** The server calls the fields by their names within. */
const names: Readonly<Record<string, string>> = {
  ...{ regarding: 'involvedObject', note: 'message', deprecatedFirstTimestamp: 'firstTimestamp' },
  ...{ deprecatedLastTimestamp: 'lastTimestamp', deprecatedCount: 'count', deprecatedSource: 'source' },
};
const nameOf = (field: string): string => names[field] ?? field;
const isUnset = (value: unknown): boolean =>
  value === undefined || value === null || value === 0 || (typeof value === 'object' && Object.keys(value).length === 0);

function createCauses(event: JsonObject): StatusCause[] {
  const causes: StatusCause[] = [];
  if (isUnset(event.eventTime)) causes.push(requiredValue('eventTime'));
  for (const field of ['reportingController', 'reportingInstance', 'action', 'reason'] as const) {
    if (textAt(event, field) === '') causes.push(requiredValue(field));
  }
  for (const [field, most] of Object.entries({ ...limits, note: longestNote })) {
    if (Buffer.byteLength(textAt(event, field)) > most)
      causes.push(invalidValue(nameOf(field), '', `can have at most ${most} characters`));
  }
  const type = textAt(event, 'type');
  if (type !== 'Normal' && type !== 'Warning') causes.push(invalidValue('type', '', `has invalid value: ${type}`));
  for (const field of never) {
    if (!isUnset(event[field])) causes.push(invalidValue(nameOf(field), '', 'needs to be unset'));
  }
  return [...causes, ...seriesCauses(event), ...namespaceCauses(event)];
}

function seriesCauses(event: JsonObject): StatusCause[] {
  if (isUnset(event.series)) return [];
  const series = objectAt(event, 'series');
  const causes = (numberAt(series, 'count') ?? 0) < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : [];
  return isUnset(series.lastObservedTime) ? [...causes, requiredValue('series.lastObservedTime')] : causes;
}

function namespaceCauses(event: JsonObject): StatusCause[] {
  const [namespace, regarding] = [
    textAt(objectAt(event, 'metadata'), 'namespace'),
    textAt(objectAt(event, 'regarding'), 'namespace'),
  ];
  if (regarding !== '' || namespace === 'default' || namespace === 'kube-system') return [];
  return [invalidValue('involvedObject.namespace', regarding, 'does not match event.namespace')];
}

function updateCauses(event: JsonObject, old: JsonObject): StatusCause[] {
  const changed = fixed.filter((field) => !equalJson(event[field] ?? null, old[field] ?? null));
  const causes = changed.map((field) => invalidValue(nameOf(field), '', 'field is immutable'));
  return equalJson(event.series ?? null, old.series ?? null) ? causes : [...causes, ...seriesCauses(event)];
}

const regardingFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
  (key) => [`regarding.${key}`, (event: JsonObject) => textAt(objectAt(event, 'regarding'), key)] as const,
);

/** Events as `events.k8s.io/v1`: the same objects as those of the core group, with stricter rules. */
export const newerEventRules: ObjectRules = plainRules({
  kind: 'Event',
  apiVersion: 'events.k8s.io/v1',
  fields: fieldsBeside({
    ...Object.fromEntries(regardingFields),
    reason: (event) => textAt(event, 'reason'),
    reportingController: (event) => textAt(event, 'reportingController'),
    type: (event) => textAt(event, 'type'),
  }),
  blank: { eventTime: null, regarding: {} },
  createsOnUpdate: true,
  validate: () => [],
});

/** The rules that a new event breaks, and those that a changed one breaks. */
export const newerEventCauses = { createCauses, updateCauses } as const;
