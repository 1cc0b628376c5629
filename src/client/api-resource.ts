import type {
  CoreV1Event,
  V1ConfigMap,
  V1CSIDriver,
  V1Lease,
  V1Namespace,
  V1Node,
  V1ObjectMeta,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1RuntimeClass,
  V1Secret,
  V1Service,
  V1ServiceAccount,
} from '@kubernetes/client-node';
import { requirePathSegment } from '../checks/arguments.ts';
import { requireKnownOptions } from '../checks/options.ts';
import { invalidArgument, invalidOption } from '../errors.ts';
import type { Wire } from '../wire/types.ts';

/** What every object of the API has, as JSON on the wire. */
export interface ApiObject {
  apiVersion?: string;
  kind?: string;
  metadata?: Wire<V1ObjectMeta>;
}

declare const objectType: unique symbol;

/** One resource of the API: where its objects are, and their type `T` as JSON on the wire. */
export interface ApiResource<T extends ApiObject = ApiObject> {
  /** The API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural name, as paths have it: `configmaps`. */
  readonly resource: string;
  /** The kind of one object: `ConfigMap`. */
  readonly kind: string;
  /** False for a resource of the cluster, such as nodes. */
  readonly namespaced: boolean;
  /** Never set: it carries the type. */
  readonly [objectType]?: T;
}

/** One object, or with a name left out a collection; without a namespace that of all namespaces. */
export interface ResourceTarget {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

export type ApiResourceDefinition = Omit<ApiResource, typeof objectType>;

const definitionMembers = ['group', 'version', 'resource', 'kind', 'namespaced'];

/** A resource that is not among {@link resources}. Throws ERR_INVALID_OPTION, naming the member, the rule and the value. */
export function apiResource<T extends ApiObject = ApiObject>(definition: ApiResourceDefinition): ApiResource<T> {
  requireKnownOptions('resource', definition, definitionMembers);
  const { group, version, resource, kind, namespaced } = definition;
  if (typeof group !== 'string') throw invalidOption('resource.group', 'text; empty for the core group', group);
  if (group !== '') requirePathSegment('resource.group', group);
  requirePathSegment('resource.version', version);
  requirePathSegment('resource.resource', resource);
  requirePathSegment('resource.kind', kind);
  if (typeof namespaced !== 'boolean') throw invalidOption('resource.namespaced', 'a boolean', namespaced);
  return Object.freeze({ group, version, resource, kind, namespaced });
}

function core<T extends ApiObject>(resource: string, kind: string, namespaced = true): ApiResource<T> {
  return apiResource<T>({ group: '', version: 'v1', resource, kind, namespaced });
}

/** The resources that a node agent has to do with. */
export const resources = Object.freeze({
  pods: core<Wire<V1Pod>>('pods', 'Pod'),
  nodes: core<Wire<V1Node>>('nodes', 'Node', false),
  secrets: core<Wire<V1Secret>>('secrets', 'Secret'),
  configMaps: core<Wire<V1ConfigMap>>('configmaps', 'ConfigMap'),
  services: core<Wire<V1Service>>('services', 'Service'),
  serviceAccounts: core<Wire<V1ServiceAccount>>('serviceaccounts', 'ServiceAccount'),
  namespaces: core<Wire<V1Namespace>>('namespaces', 'Namespace', false),
  events: core<Wire<CoreV1Event>>('events', 'Event'),
  persistentVolumes: core<Wire<V1PersistentVolume>>('persistentvolumes', 'PersistentVolume', false),
  persistentVolumeClaims: core<Wire<V1PersistentVolumeClaim>>('persistentvolumeclaims', 'PersistentVolumeClaim'),
  leases: apiResource<Wire<V1Lease>>({
    group: 'coordination.k8s.io',
    version: 'v1',
    resource: 'leases',
    kind: 'Lease',
    namespaced: true,
  }),
  runtimeClasses: apiResource<Wire<V1RuntimeClass>>({
    group: 'node.k8s.io',
    version: 'v1',
    resource: 'runtimeclasses',
    kind: 'RuntimeClass',
    namespaced: false,
  }),
  csiDrivers: apiResource<Wire<V1CSIDriver>>({
    group: 'storage.k8s.io',
    version: 'v1',
    resource: 'csidrivers',
    kind: 'CSIDriver',
    namespaced: false,
  }),
});

/**
 * The path of an object, a collection or a subresource. Throws ERR_INVALID_ARGUMENT for a name that would be anything but
 * one segment of the path, and for a namespace that the resource needs and does not have, or has and must not.
 */
export function resourcePath(resource: ApiResource, { namespace, name, subresource }: ResourceTarget = {}): string {
  const { group, version, namespaced, resource: plural } = resource;
  let path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  if (namespace !== undefined) {
    if (!namespaced) throw invalidArgument('namespace', `absent: ${plural} belong to the cluster`, namespace);
    path += `/namespaces/${pathSegment('namespace', namespace)}`;
  } else if (namespaced && name !== undefined) {
    throw invalidArgument('namespace', 'a non-empty string', namespace);
  }
  path += `/${plural}`;
  if (name !== undefined) path += `/${pathSegment('name', name)}`;
  if (subresource === undefined) return path;
  if (name === undefined) throw invalidArgument('name', 'a non-empty string', name);
  return `${path}/${pathSegment('subresource', subresource)}`;
}

function pathSegment(name: string, value: string): string {
  requirePathSegment(name, value);
  return encodeURIComponent(value);
}
