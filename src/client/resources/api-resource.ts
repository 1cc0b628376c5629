import type {
  CoreV1Event,
  EventsV1Event,
  ResourceV1ResourceClaim,
  V1ConfigMap,
  V1CSIDriver,
  V1CSINode,
  V1CSIStorageCapacity,
  V1DeviceClass,
  V1Lease,
  V1Namespace,
  V1Node,
  V1ObjectMeta,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1ReplicaSet,
  V1ReplicationController,
  V1ResourceSlice,
  V1RuntimeClass,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
  V1StorageClass,
  V1VolumeAttachment,
} from '@kubernetes/client-node';
import type { Wire } from '../../api/json/types.ts';
import { invalidArgument, invalidOption } from '../../base/errors.ts';
import { isPathSegment, pathSegmentRule, requireKnownOptions, requirePathSegment } from '../../base/options.ts';

/** What every object of the API has, as JSON on the wire. */
export interface ApiObject {
  /** The group and the version: `v1`, `apps/v1`. */
  apiVersion?: string;
  /** The kind: `ConfigMap`. */
  kind?: string;
  /** Name, namespace, uid, versions, labels and the like. */
  metadata?: Wire<V1ObjectMeta>;
}

declare const objectType: unique symbol;

/** One resource of the API: where its objects are, and their type `T` as JSON on the wire. */
export interface ApiResource<T extends ApiObject = ApiObject> {
  /** The API group; empty for the core group. */
  readonly group: string;
  /** The version of the group: `v1`. */
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
  /** The namespace; left out for an object of the cluster, and for all namespaces. */
  readonly namespace?: string | undefined;
  /** The name of one object; left out for a collection. */
  readonly name?: string | undefined;
  /** Such as `status`; only with a name. */
  readonly subresource?: string | undefined;
}

/** What {@link apiResource} makes a resource from. */
export type ApiResourceDefinition = Omit<ApiResource, typeof objectType>;

const definitionMembers = ['group', 'version', 'resource', 'kind', 'namespaced'];

/**
 * A resource that is not among {@link resources}. Throws ERR_INVALID_OPTION, naming the member, the rule and the value.
 *
 * @example
 * ```ts
 * import { type ApiObject, apiResource, resourcePath } from 'pod-status-manager/reflector';
 *
 * interface Widget extends ApiObject {
 *   spec?: { size?: number };
 * }
 * const definition = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true };
 * const widgets = apiResource<Widget>(definition);
 * console.log(resourcePath(widgets, { namespace: 'default' })); // /apis/example.com/v1/namespaces/default/widgets
 * ```
 */
export function apiResource<T extends ApiObject = ApiObject>(definition: ApiResourceDefinition): ApiResource<T> {
  requireKnownOptions('resource', definition, definitionMembers);
  const { group, version, resource, kind, namespaced } = definition;
  if (typeof group !== 'string') throw invalidOption('resource.group', 'text; empty for the core group', group);
  for (const [member, value] of Object.entries({ group, version, resource, kind })) {
    if (member === 'group' && value === '') continue;
    if (!isPathSegment(value)) throw invalidOption(`resource.${member}`, pathSegmentRule, value);
  }
  if (typeof namespaced !== 'boolean') throw invalidOption('resource.namespaced', 'a boolean', namespaced);
  return Object.freeze({ group, version, resource, kind, namespaced });
}

function inCore<T extends ApiObject>(resource: string, kind: string, namespaced = true): ApiResource<T> {
  return inGroup<T>('', resource, kind, namespaced);
}

function inGroup<T extends ApiObject>(group: string, resource: string, kind: string, namespaced: boolean): ApiResource<T> {
  return apiResource<T>({ group, version: 'v1', resource, kind, namespaced });
}

/** The resources that a node agent and a scheduler have to do with. */
export interface KnownResources {
  /** Pods, of the core group. */
  readonly pods: ApiResource<Wire<V1Pod>>;
  /** Nodes, of the core group; without a namespace. */
  readonly nodes: ApiResource<Wire<V1Node>>;
  /** Secrets, of the core group. */
  readonly secrets: ApiResource<Wire<V1Secret>>;
  /** Config maps, of the core group. */
  readonly configMaps: ApiResource<Wire<V1ConfigMap>>;
  /** Services, of the core group. */
  readonly services: ApiResource<Wire<V1Service>>;
  /** Service accounts, of the core group. */
  readonly serviceAccounts: ApiResource<Wire<V1ServiceAccount>>;
  /** Namespaces, of the core group; without a namespace themselves. */
  readonly namespaces: ApiResource<Wire<V1Namespace>>;
  /** Events, of the core group. */
  readonly events: ApiResource<Wire<CoreV1Event>>;
  /** Persistent volumes, of the core group; without a namespace. */
  readonly persistentVolumes: ApiResource<Wire<V1PersistentVolume>>;
  /** Persistent volume claims, of the core group. */
  readonly persistentVolumeClaims: ApiResource<Wire<V1PersistentVolumeClaim>>;
  /** Leases, of `coordination.k8s.io`. */
  readonly leases: ApiResource<Wire<V1Lease>>;
  /** Runtime classes, of `node.k8s.io`; without a namespace. */
  readonly runtimeClasses: ApiResource<Wire<V1RuntimeClass>>;
  /** CSI drivers, of `storage.k8s.io`; without a namespace. */
  readonly csiDrivers: ApiResource<Wire<V1CSIDriver>>;
  /** What nodes have of CSI drivers, of `storage.k8s.io`; without a namespace. */
  readonly csiNodes: ApiResource<Wire<V1CSINode>>;
  /** Claims of devices, of `resource.k8s.io`. */
  readonly resourceClaims: ApiResource<Wire<ResourceV1ResourceClaim>>;
  /** What drivers have of devices, of `resource.k8s.io`; without a namespace. */
  readonly resourceSlices: ApiResource<Wire<V1ResourceSlice>>;
  /** Classes of devices, of `resource.k8s.io`; without a namespace. */
  readonly deviceClasses: ApiResource<Wire<V1DeviceClass>>;
  /** Volumes that are attached to nodes, of `storage.k8s.io`; without a namespace. */
  readonly volumeAttachments: ApiResource<Wire<V1VolumeAttachment>>;
  /** How volumes are made for claims, of `storage.k8s.io`; without a namespace. */
  readonly storageClasses: ApiResource<Wire<V1StorageClass>>;
  /** How much CSI drivers have left, of `storage.k8s.io`. */
  readonly csiStorageCapacities: ApiResource<Wire<V1CSIStorageCapacity>>;
  /** Replication controllers, of the core group. */
  readonly replicationControllers: ApiResource<Wire<V1ReplicationController>>;
  /** Replica sets, of `apps`. */
  readonly replicaSets: ApiResource<Wire<V1ReplicaSet>>;
  /** Stateful sets, of `apps`. */
  readonly statefulSets: ApiResource<Wire<V1StatefulSet>>;
  /** Disruption budgets, of `policy`. */
  readonly podDisruptionBudgets: ApiResource<Wire<V1PodDisruptionBudget>>;
}

/** Theirs are the types of client-node, as JSON on the wire. */
export const resources: KnownResources = Object.freeze<KnownResources>({
  pods: inCore('pods', 'Pod'),
  nodes: inCore('nodes', 'Node', false),
  secrets: inCore('secrets', 'Secret'),
  configMaps: inCore('configmaps', 'ConfigMap'),
  services: inCore('services', 'Service'),
  serviceAccounts: inCore('serviceaccounts', 'ServiceAccount'),
  namespaces: inCore('namespaces', 'Namespace', false),
  events: inCore('events', 'Event'),
  persistentVolumes: inCore('persistentvolumes', 'PersistentVolume', false),
  persistentVolumeClaims: inCore('persistentvolumeclaims', 'PersistentVolumeClaim'),
  leases: inGroup('coordination.k8s.io', 'leases', 'Lease', true),
  runtimeClasses: inGroup('node.k8s.io', 'runtimeclasses', 'RuntimeClass', false),
  csiDrivers: inGroup('storage.k8s.io', 'csidrivers', 'CSIDriver', false),
  csiNodes: inGroup('storage.k8s.io', 'csinodes', 'CSINode', false),
  resourceClaims: inGroup('resource.k8s.io', 'resourceclaims', 'ResourceClaim', true),
  resourceSlices: inGroup('resource.k8s.io', 'resourceslices', 'ResourceSlice', false),
  deviceClasses: inGroup('resource.k8s.io', 'deviceclasses', 'DeviceClass', false),
  volumeAttachments: inGroup('storage.k8s.io', 'volumeattachments', 'VolumeAttachment', false),
  storageClasses: inGroup('storage.k8s.io', 'storageclasses', 'StorageClass', false),
  csiStorageCapacities: inGroup('storage.k8s.io', 'csistoragecapacities', 'CSIStorageCapacity', true),
  replicationControllers: inCore('replicationcontrollers', 'ReplicationController'),
  replicaSets: inGroup('apps', 'replicasets', 'ReplicaSet', true),
  statefulSets: inGroup('apps', 'statefulsets', 'StatefulSet', true),
  podDisruptionBudgets: inGroup('policy', 'poddisruptionbudgets', 'PodDisruptionBudget', true),
});

/** The newer API of events: the same objects as those of the core group, with other names of their fields. */
export const newerEvents: ApiResource<Wire<EventsV1Event>> = inGroup('events.k8s.io', 'events', 'Event', true);

/**
 * The path of an object, a collection or a subresource. Throws ERR_INVALID_ARGUMENT for a name that would be anything but
 * one segment of the path, and for a namespace that the resource needs and does not have, or has and must not.
 *
 * @example
 * ```ts
 * import { resourcePath, resources } from 'pod-status-manager/reflector';
 *
 * console.log(resourcePath(resources.nodes, { name: 'node-1', subresource: 'status' })); // /api/v1/nodes/node-1/status
 * ```
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
