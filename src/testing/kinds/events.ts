import { deepFreeze, isEqualJson } from '../../api/json/json.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import { type ApiObject, type ApiResource, newerEvents } from '../../client/resources/api-resource.ts';
import { invalidPatch, invalidValue, requiredValue, type StatusCause } from '../objects/api-status.ts';
import type { DeleteRequest } from '../objects/deletion.ts';
import type { ObjectEvent, ObjectEventListener } from '../objects/object-history.ts';
import { applyPatch } from '../objects/object-patches.ts';
import { refuseRequest, type ServedStore } from '../objects/resource-store.ts';
import {
  fieldsBeside,
  jsonCopyOf,
  numberAt,
  objectAt,
  objectFilter,
  type SelectableFields,
  type Selection,
  ShapeError,
  textAt,
} from '../objects/selectors.ts';
import type { DeletedObject, ObjectKey, ObjectPatch, ObjectRules } from '../objects/store-types.ts';
import { plainRules } from './plain-rules.ts';

/** The events of a store of the core group, as `events.k8s.io/v1` shows them. It keeps nothing itself. */
export class NewerEvents implements ServedStore {
  readonly resource: ApiResource = newerEvents;
  readonly rules = newerEventRules;
  readonly #core: ServedStore;

  constructor(core: ServedStore) {
    this.#core = core;
  }

  get resourceVersion(): string {
    return this.#core.resourceVersion;
  }

  create(object: object): ApiObject {
    const event = { ...jsonCopyOf(object) };
    const name = textAt(objectAt(event, 'metadata'), 'name');
    refuseRequest(name, newerEventCauses.createCauses(event), newerEvents);
    return newer(this.#core.create(asCoreEvent(event)));
  }

  get(key: ObjectKey): ApiObject {
    return newer(this.#core.get(key));
  }

  has(key: ObjectKey): boolean {
    return this.#core.has(key);
  }

  list(selection: Selection = {}, resourceVersion?: string): readonly ApiObject[] {
    const matches = objectFilter(selection, newerEventRules.fields);
    const all = this.#core.list({}, resourceVersion).map(newer);
    return all.filter((event) => matches(event as unknown as JsonObject));
  }

  update(object: object): ApiObject {
    const event = jsonCopyOf(object);
    const metadata = objectAt(event, 'metadata');
    const [namespace, name] = [textAt(metadata, 'namespace'), textAt(metadata, 'name')];
    const old = asNewerEvent(this.#core.get({ namespace, name }) as unknown as JsonObject);
    refuseRequest(name, newerEventCauses.updateCauses(event, old), newerEvents);
    return newer(this.#core.update(asCoreEvent(event)));
  }

  updateStatus(object: object): ApiObject {
    return this.update(object);
  }

  patch(key: ObjectKey, { type, body }: ObjectPatch): ApiObject {
    const old = asNewerEvent(this.#core.get(key) as unknown as JsonObject);
    try {
      return this.update(applyPatch(old, type, body as Json, newerEventRules.patchSchema));
    } catch (error) {
      throw error instanceof ShapeError ? invalidPatch(body, error.message) : error;
    }
  }

  delete(key: ObjectKey, request?: DeleteRequest): DeletedObject<ApiObject> {
    const { object, gone } = this.#core.delete(key, request);
    return { object: newer(object), gone };
  }

  remove(key: ObjectKey): boolean {
    return this.#core.remove(key);
  }

  watch(listener: ObjectEventListener<ApiObject>, onCut?: () => void): () => void {
    return this.#core.watch((event) => listener(newerChange(event)), onCut);
  }

  eventsSince(resourceVersion: string): readonly ObjectEvent<ApiObject>[] {
    return this.#core.eventsSince(resourceVersion).map(newerChange);
  }

  compact(): void {
    this.#core.compact();
  }

  trial(): ServedStore {
    return new NewerEvents(this.#core.trial());
  }
}

function newer(object: ApiObject): ApiObject {
  return deepFreeze(asNewerEvent(object as unknown as JsonObject)) as unknown as ApiObject;
}

function newerChange({ object, previous, ...change }: ObjectEvent<ApiObject>): ObjectEvent<ApiObject> {
  return { ...change, object: newer(object), previous: previous === undefined ? undefined : newer(previous) };
}

// The names of events' fields in events.k8s.io/v1; behaviour of pkg/apis/events/v1/conversion.go, v1.36.3.

/** The name in the core group, and in `events.k8s.io`. */
const renamed: readonly (readonly [core: string, newer: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];
const newerNames = new Map(renamed);
const coreNames = new Map(renamed.map(([core, newer]) => [newer, core]));

/** An event of the core group as one of `events.k8s.io`. */
function asNewerEvent(event: JsonObject): JsonObject {
  return { ...withNames(event, newerNames), apiVersion: 'events.k8s.io/v1' };
}

/** An event of `events.k8s.io` as one of the core group. */
function asCoreEvent(event: JsonObject): JsonObject {
  return { ...withNames(event, coreNames), apiVersion: 'v1' };
}

function withNames(event: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(event).map(([name, value]) => [names.get(name) ?? name, value]));
}

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

/** The fields of the object that an event is about. */
function fieldsOfReference(member: string): SelectableFields['read'] {
  const keys = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
  return Object.fromEntries(keys.map((key) => [`${member}.${key}`, (event) => textAt(objectAt(event, member), key)]));
}

/** Events of the core group. `NewerEvents` shows them as `events.k8s.io`. */
export const eventRules: ObjectRules = plainRules({
  kind: 'Event',
  apiVersion: 'v1',
  fields: fieldsBeside({
    ...fieldsOfReference('involvedObject'),
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

// Behaviour of pkg/apis/core/validation/events.go for requests of events.k8s.io/v1, v1.36.3.

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
  regarding: 'involvedObject',
  note: 'message',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
  deprecatedSource: 'source',
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
  const changed = fixed.filter((field) => !isEqualJson(event[field] ?? null, old[field] ?? null));
  const causes = changed.map((field) => invalidValue(nameOf(field), '', 'field is immutable'));
  return isEqualJson(event.series ?? null, old.series ?? null) ? causes : [...causes, ...seriesCauses(event)];
}

/** Events as `events.k8s.io/v1`: the same objects as those of the core group, with stricter rules. */
const newerEventRules: ObjectRules = plainRules({
  kind: 'Event',
  apiVersion: 'events.k8s.io/v1',
  fields: fieldsBeside({
    ...fieldsOfReference('regarding'),
    reason: (event) => textAt(event, 'reason'),
    reportingController: (event) => textAt(event, 'reportingController'),
    type: (event) => textAt(event, 'type'),
  }),
  blank: { eventTime: null, regarding: {} },
  createsOnUpdate: true,
  validate: () => [],
});

/** The rules that a new event breaks, and those that a changed one breaks. */
const newerEventCauses = { createCauses, updateCauses } as const;
