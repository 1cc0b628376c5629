// Behaviour of k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache, v0.36.3.
import type { WirePod } from '../../api/json/types.ts';
import { isDraResource } from '../../base/names.ts';
import { type ApiObject, resources } from '../../client/resources/api-resource.ts';
import type { ObjectLister } from '../framework/cluster-objects.ts';
import { type StateData, stateKey } from '../framework/cycle-state.ts';
import { type PluginHandle, type SharedKey, sharedKey } from '../framework/plugin.ts';

interface NamedClass extends ApiObject {
  readonly spec?: { readonly extendedResourceName?: string | null };
}

/** What each class stands for by its own name begins like this. */
export const classResourcePrefix = 'deviceclass.resource.kubernetes.io/';

/** Which class of devices stands for an extended resource. */
export class ResourceClasses {
  readonly #byResource: (resource: string) => readonly ApiObject[];

  constructor(classes: ObjectLister) {
    this.#byResource = classes.index((object) => {
      const explicit = extendedResourceOf(object);
      const own = `${classResourcePrefix}${object.metadata?.name ?? ''}`;
      return explicit === '' ? [own] : [own, explicit];
    });
  }

  /** The name of the class; undefined where none stands for the resource. Of several the newest counts, and then the first by name. */
  classNameOf(resource: string): string | undefined {
    if (!isDraResource(resource)) return undefined;
    let found: ApiObject | undefined;
    for (const one of this.#byResource(resource)) if (found === undefined || isPreferred(one, found)) found = one;
    return found?.metadata?.name;
  }

  /** True where a container of the pod asks for a resource that a class stands for. */
  areAskedBy({ spec }: WirePod): boolean {
    const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
    return containers.some(({ resources: asked }) =>
      Object.keys(asked?.requests ?? {}).some((name) => this.classNameOf(name) !== undefined),
    );
  }
}

const classesKey: SharedKey<ResourceClasses> = sharedKey('ResourceClasses');

/** The classes of the cluster, for a plugin that is being made. All plugins share them. */
export function resourceClassesOf(handle: Pick<PluginHandle, 'objects' | 'shared'>): ResourceClasses {
  const lister = handle.objects(resources.deviceClasses);
  return handle.shared(classesKey, () => new ResourceClasses(lister));
}

/** The extended resource that the class names; empty where it names none. */
export function extendedResourceOf(deviceClass: object | undefined): string {
  return (deviceClass as NamedClass | undefined)?.spec?.extendedResourceName ?? '';
}

/** The resources that a pod may be given as devices, on nodes that do not have them themselves. */
export class DelegatedResources implements StateData<DelegatedResources> {
  readonly names: ReadonlySet<string>;

  constructor(names: Iterable<string>) {
    this.names = new Set(names);
  }

  clone(): DelegatedResources {
    return this;
  }
}

/** Written by what gives devices. Who counts resources leaves these to it; without it each node has to have them itself. */
export const delegatedKey = stateKey<DelegatedResources>('DelegatedResources');

function isPreferred(one: ApiObject, other: ApiObject): boolean {
  const [made, otherMade] = [madeAt(one), madeAt(other)];
  if (made !== otherMade) return made > otherMade;
  return (one.metadata?.name ?? '') < (other.metadata?.name ?? '');
}

function madeAt({ metadata }: ApiObject): number {
  return Date.parse(String(metadata?.creationTimestamp)) || 0;
}
