import { errorText, invalidOption } from '../../base/errors.ts';
import { callGuarded } from '../../base/guard.ts';
import { type IndexFunction, ObjectStore } from '../../client/reflector/object-store.ts';
import { type ApiObject, type ApiResource, apiResource, resources } from '../../client/resources/api-resource.ts';

/** The objects of one resource, as the scheduler was told of them. They are shared: nobody may change them. */
export interface ObjectLister<T extends ApiObject = ApiObject> {
  /** The object of this name; undefined where there is none. The namespace is undefined for an object of the cluster. */
  get(namespace: string | undefined, name: string): T | undefined;
  /** All objects, or those of one namespace, in a new array. */
  list(namespace?: string): readonly T[];
  /** A way to find objects by what the function says of each. It is kept up to date, so ask for it once. */
  index(valuesOf: IndexFunction<T>): (value: string) => readonly T[];
  /** Calls the handler after each change, once the lister shows it. `before` is undefined for what was added, `after` for what is gone. */
  onChange(handler: ObjectHandler<T>): void;
}

/** Hears of a change of an object. What it throws is logged, and changes nothing. */
export type ObjectHandler<T extends ApiObject = ApiObject> = (before: T | undefined, after: T | undefined) => void;

/** The name of a kind of objects beside pods and nodes. Any other resource is named by itself. */
export type NamedResource =
  | 'Namespace'
  | 'Service'
  | 'PersistentVolume'
  | 'PersistentVolumeClaim'
  | 'StorageClass'
  | 'CSINode'
  | 'CSIDriver'
  | 'CSIStorageCapacity'
  | 'VolumeAttachment'
  | 'ResourceClaim'
  | 'ResourceSlice'
  | 'DeviceClass';

/** The kinds of objects beside pods and nodes that have a name of their own among events: that of kube-scheduler, where it has one. */
const namedResources: Readonly<Record<NamedResource, ApiResource>> = {
  Namespace: resources.namespaces,
  Service: resources.services,
  PersistentVolume: resources.persistentVolumes,
  PersistentVolumeClaim: resources.persistentVolumeClaims,
  StorageClass: resources.storageClasses,
  CSINode: resources.csiNodes,
  CSIDriver: resources.csiDrivers,
  CSIStorageCapacity: resources.csiStorageCapacities,
  VolumeAttachment: resources.volumeAttachments,
  ResourceClaim: resources.resourceClaims,
  ResourceSlice: resources.resourceSlices,
  DeviceClass: resources.deviceClasses,
};

const inSnapshots = { Pod: resources.pods, Node: resources.nodes } as const;

/** The names of all kinds that have one. */
export const resourceNames: readonly string[] = Object.keys(namedResources);

export function isResourceName(name: string): name is NamedResource {
  return Object.hasOwn(namedResources, name);
}

/** Where the objects of this name are. */
export function resourceNamed(name: NamedResource): ApiResource {
  return namedResources[name];
}

/** What events call the objects of a resource: `PersistentVolume`, and for one without a name of its own `widgets.v1.example.com`. */
export function eventNameOf({ group, version, resource }: ApiResource): string {
  const found = [...Object.entries(namedResources), ...Object.entries(inSnapshots)].find(
    ([, named]) => named.group === group && named.version === version && named.resource === resource,
  );
  return found?.[0] ?? `${resource}.${version}.${group}`;
}

/** True for pods and nodes, of which plugins are told by snapshots. */
export function isInSnapshots(resource: ApiResource): boolean {
  return Object.hasOwn(inSnapshots, eventNameOf(resource));
}

/** Throws ERR_INVALID_OPTION for what `apiResource` does not make. */
export function requireResource(path: string, value: unknown): ApiResource {
  if (typeof value !== 'object' || value === null) throw invalidOption(path, aResource, value);
  try {
    return apiResource(value as ApiResource);
  } catch (error) {
    throw invalidOption(path, `${aResource}: ${errorText(error)}`, value);
  }
}

const aResource = 'a resource, as apiResource makes it';

/** The objects beside pods and nodes that somebody has asked for. Nothing is kept of any other resource. */
export class ClusterObjects {
  readonly #kinds = new Map<string, KeptKind>();
  readonly #onFailure: (error: unknown) => void;
  #isSealed = false;

  /** `onFailure` gets what handlers throw. */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** What has been asked for. */
  get resources(): readonly ApiResource[] {
    return Array.from(this.#kinds.values(), ({ resource }) => resource);
  }

  /**
   * Throws TypeError for a resource that nobody has asked for before `seal()`: it is not watched. Throws ERR_INVALID_OPTION for what is no
   * resource, and for pods and nodes.
   */
  lister<T extends ApiObject>(given: ApiResource<T>): ObjectLister<T> {
    const resource = requireResource('objects', given);
    if (isInSnapshots(resource))
      throw invalidOption('objects', 'a resource beside pods and nodes, which are in snapshot()', resource.kind);
    const name = eventNameOf(resource);
    let kind = this.#kinds.get(name);
    if (kind === undefined) {
      if (this.#isSealed)
        throw new TypeError(`objects of ${name} must be asked for while the plugin is made: they are not watched`);
      kind = new KeptKind(resource);
      this.#kinds.set(name, kind);
    }
    return kind as unknown as ObjectLister<T>;
  }

  /** From now on no other resource can be asked for. */
  seal(): void {
    this.#isSealed = true;
  }

  /** Keeps the object in place of the one of its name, and tells who wants to know. Undefined for a resource that nobody has asked for. */
  set(resource: ApiResource, object: ApiObject): ClusterObjectChange | undefined {
    const kind = this.#kinds.get(eventNameOf(resource));
    if (kind === undefined) return undefined;
    const before = kind.store.set(object);
    if (before === object) return undefined;
    return this.#tell(kind, { before, after: object });
  }

  /** Undefined where there was no such object. */
  delete(resource: ApiResource, namespace: string | undefined, name: string): ClusterObjectChange | undefined {
    const kind = this.#kinds.get(eventNameOf(resource));
    const before = kind?.store.delete(namespace, name);
    return kind && before && this.#tell(kind, { before, after: undefined });
  }

  #tell(kind: KeptKind, change: ClusterObjectChange): ClusterObjectChange {
    for (const handler of kind.handlers) callGuarded(() => handler(change.before, change.after), this.#onFailure);
    return change;
  }
}

/** One object, before and after. */
export interface ClusterObjectChange {
  readonly before: ApiObject | undefined;
  readonly after: ApiObject | undefined;
}

class KeptKind implements ObjectLister {
  readonly resource: ApiResource;
  readonly store = new ObjectStore();
  readonly handlers: ObjectHandler[] = [];
  #indexes = 0;

  constructor(resource: ApiResource) {
    this.resource = resource;
  }

  get(namespace: string | undefined, name: string): ApiObject | undefined {
    return this.store.get(namespace, name);
  }

  list(namespace?: string): readonly ApiObject[] {
    return this.store.list(namespace);
  }

  index(valuesOf: IndexFunction<ApiObject>): (value: string) => readonly ApiObject[] {
    this.#indexes += 1;
    const name = `index ${this.#indexes}`;
    this.store.addIndex(name, valuesOf);
    return (value) => this.store.byIndex(name, value);
  }

  onChange(handler: ObjectHandler): void {
    this.handlers.push(handler);
  }
}
