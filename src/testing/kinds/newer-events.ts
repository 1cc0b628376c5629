import type { Json, JsonObject } from '../../api/json/types.ts';
import { type ApiObject, type ApiResource, apiResource } from '../../client/resources/api-resource.ts';
import { invalidPatch } from '../objects/api-status.ts';
import type { DeleteRequest } from '../objects/deletion.ts';
import { copyJson, deepFreeze, objectAt, ShapeError, textAt } from '../objects/json-fields.ts';
import type { ObjectEvent, ObjectEventListener } from '../objects/object-history.ts';
import { applyPatch } from '../objects/object-patches.ts';
import { refuse } from '../objects/refusals.ts';
import type { ServedStore } from '../objects/resource-store.ts';
import { objectFilter, type Selection } from '../objects/selectors.ts';
import type { DeletedObject, ObjectKey, ObjectPatch } from '../objects/store-types.ts';
import { asCoreEvent, asNewerEvent } from './event-conversion.ts';
import { newerEventCauses, newerEventRules } from './newer-event-rules.ts';

const resource: ApiResource = apiResource({
  ...{ group: 'events.k8s.io', version: 'v1', resource: 'events', kind: 'Event', namespaced: true },
});

/** The events of a store of the core group, as `events.k8s.io/v1` shows them. It keeps nothing itself. */
export class NewerEvents implements ServedStore {
  readonly resource = resource;
  readonly rules = newerEventRules;
  readonly #core: ServedStore;

  constructor(core: ServedStore) {
    this.#core = core;
  }

  get resourceVersion(): string {
    return this.#core.resourceVersion;
  }

  create(object: object): ApiObject {
    const event = { ...copyJson(object) };
    const name = textAt(objectAt(event, 'metadata'), 'name');
    refuse(name, newerEventCauses.createCauses(event), resource);
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
    const event = copyJson(object);
    const metadata = objectAt(event, 'metadata');
    const [namespace, name] = [textAt(metadata, 'namespace'), textAt(metadata, 'name')];
    const old = asNewerEvent(this.#core.get({ namespace, name }) as unknown as JsonObject);
    refuse(name, newerEventCauses.updateCauses(event, old), resource);
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
