import type { JsonObject } from '../../api/json/types.ts';
import { invalidValue, type StatusCause } from '../objects/api-status.ts';
import { objectAt, textAt } from '../objects/json-fields.ts';
import type { ObjectRules } from '../objects/object-rules.ts';
import { fieldsBeside } from '../objects/selectors.ts';
import { plainRules } from './plain-rules.ts';

/** The members that the server always writes. */
const always: JsonObject = {
  eventTime: null,
  firstTimestamp: null,
  lastTimestamp: null,
  involvedObject: {},
  reportingComponent: '',
  reportingInstance: '',
  source: {},
};

/** An event of an object of the cluster is in the namespace `default`. */
function validateEvent(event: JsonObject): StatusCause[] {
  const involved = textAt(objectAt(event, 'involvedObject'), 'namespace');
  const namespace = textAt(objectAt(event, 'metadata'), 'namespace');
  if (involved === namespace || (involved === '' && namespace === 'default')) return [];
  return [invalidValue('involvedObject.namespace', involved, 'does not match event.namespace')];
}

const involvedFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
  (key) => [`involvedObject.${key}`, (event: JsonObject) => textAt(objectAt(event, 'involvedObject'), key)] as const,
);

/** Events of the core group. `NewerEvents` shows them as `events.k8s.io`. */
export const eventRules: ObjectRules = plainRules({
  kind: 'Event',
  apiVersion: 'v1',
  fields: fieldsBeside({
    ...Object.fromEntries(involvedFields),
    reason: (event) => textAt(event, 'reason'),
    reportingComponent: (event) => textAt(event, 'reportingComponent'),
    source: (event) => textAt(objectAt(event, 'source'), 'component') || textAt(event, 'reportingComponent'),
    type: (event) => textAt(event, 'type'),
  }),
  blank: always,
  createsOnUpdate: true,
  shape: (event) => ({ ...always, ...event }),
  validate: validateEvent,
});
