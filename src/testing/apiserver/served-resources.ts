import type { Clock } from '../../base/clock.ts';
import { invalidArgument } from '../../base/errors.ts';
import { type ApiObject, type ApiResource, resources } from '../../client/resources/api-resource.ts';
import { customRules } from '../kinds/custom-rules.ts';
import { definedKind, definitionKind } from '../kinds/definition-rules.ts';
import { type KnownKind, knownKinds } from '../kinds/known-kinds.ts';
import { NewerEvents } from '../kinds/newer-events.ts';
import { qualifiedName } from '../objects/api-status.ts';
import type { Database } from '../objects/database.ts';
import type { ObjectRules } from '../objects/object-rules.ts';
import { ResourceStore, type ServedStore, storeBehind } from '../objects/resource-store.ts';
import type { PodStore } from '../pods-api/pod-store.ts';

/** The place of a resource in the API. */
export type ResourcePlace = Pick<ApiResource, 'group' | 'version' | 'resource'>;

/** The resources that a server has, each with its store. All of them share the database of the pods. */
export class ServedResources {
  readonly #clock: Clock;
  readonly #database: Database;
  readonly #stores = new Map<string, ServedStore>();
  /** The stores of all resources that a definition has ever brought. */
  readonly #defined = new Map<string, ResourceStore>();

  constructor(pods: PodStore, clock: Clock) {
    const objects = storeBehind(pods.objects);
    this.#database = objects.database;
    this.#clock = clock;
    this.#stores.set(placeOf(objects.resource), objects);
    for (const { resource, rules } of knownKinds()) this.#add(resource, rules);
    const events = this.#stores.get(placeOf(resources.events));
    if (events !== undefined) {
      const newer = new NewerEvents(events);
      this.#stores.set(placeOf(newer.resource), newer);
    }
    const definitions = this.#add(definitionKind.resource, definitionKind.rules);
    this.#follow(definitions);
  }

  get all(): readonly ServedStore[] {
    return [...this.#stores.values()];
  }

  /** Undefined: there is no such resource. */
  find(place: ResourcePlace): ServedStore | undefined {
    return this.#stores.get(placeOf(place));
  }

  hasGroup(group: string): boolean {
    return this.all.some(({ resource }) => resource.group === group);
  }

  /** The store of a resource. A resource that the server does not have yet is added, as a custom one. */
  open<T extends ApiObject>(resource: ApiResource<T>): ResourceStore<T> {
    const store = this.find(resource) ?? this.#add(resource, customRules(resource));
    const { kind, namespaced } = store.resource;
    if (kind !== resource.kind || namespaced !== resource.namespaced) {
      const had = `${qualifiedName(resource)} as this server has them: kind ${kind}, ${namespaced ? '' : 'not '}namespaced`;
      throw invalidArgument('resource', had, resource);
    }
    // The type says only what the caller expects of the objects, as that of a client does.
    return store as unknown as ResourceStore<T>;
  }

  /** Serves what definitions bring, from now on and after every restore. */
  #follow(definitions: ResourceStore): void {
    for (const place of this.#defined.keys()) this.#stores.delete(place);
    for (const definition of definitions.list()) this.#define(definition);
    definitions.watch(
      ({ type, object }) => (type === 'DELETED' ? this.#withdraw(object) : this.#define(object)),
      () => this.#follow(definitions),
    );
  }

  #define(definition: ApiObject): void {
    const kind = definedKind(definition);
    if (kind === undefined || this.find(kind.resource) !== undefined) return;
    const place = placeOf(kind.resource);
    const before = this.#defined.get(place);
    // A restore may bring back a definition together with its objects.
    if (before !== undefined && isLike(before, kind)) this.#stores.set(place, before);
    else this.#defined.set(place, this.#add(kind.resource, kind.rules));
  }

  /** The objects go with the definition. */
  #withdraw(definition: ApiObject): void {
    const kind = definedKind(definition);
    const store = kind === undefined ? undefined : this.#defined.get(placeOf(kind.resource));
    if (store === undefined) return;
    for (const { metadata } of store.list()) store.remove({ namespace: metadata?.namespace, name: metadata?.name ?? '' });
    this.#stores.delete(placeOf(store.resource));
  }

  #add(resource: ApiResource, rules: ObjectRules): ResourceStore {
    const store = new ResourceStore(resource, rules, { clock: this.#clock, database: this.#database });
    this.#stores.set(placeOf(resource), store);
    return store;
  }
}

/** True when the store can go on as that of the kind. */
function isLike({ resource, rules }: ResourceStore, kind: KnownKind): boolean {
  const { resource: other, rules: others } = kind;
  const hasSameStatus = (rules.updateStatus === undefined) === (others.updateStatus === undefined);
  return hasSameStatus && resource.kind === other.kind && resource.namespaced === other.namespaced;
}

function placeOf({ group, version, resource }: ResourcePlace): string {
  return `${group}/${version}/${resource}`;
}

/** True when `wanted` names the resource: `secrets`, `leases`, `leases.coordination.k8s.io`, or `*` for every resource. */
export function isNamed(wanted: string, resource: Pick<ApiResource, 'group' | 'resource'>): boolean {
  return wanted === '*' || wanted === resource.resource || wanted === qualifiedName(resource);
}
