import { ObjectStore } from '../../client/reflector/object-store.ts';
import { type ApiObject, type ApiResource, apiResource, resources } from '../../client/resources/api-resource.ts';
import type { EventResource } from '../framework/cluster-event.ts';
import type { ClusterListers, SelectingObject } from '../framework/handle.ts';

/** What a plugin may ask for beside pods and nodes. */
export const listedKinds = [
  'namespaces',
  'services',
  'replicationControllers',
  'replicaSets',
  'statefulSets',
  'podDisruptionBudgets',
] as const;
export type ListedKind = (typeof listedKinds)[number];

/** Where the objects of each kind are. */
export const listedResources: Readonly<Record<ListedKind, ApiResource>> = {
  namespaces: resources.namespaces,
  services: resources.services,
  replicationControllers: inNamespaces('', 'replicationcontrollers', 'ReplicationController'),
  replicaSets: inNamespaces('apps', 'replicasets', 'ReplicaSet'),
  statefulSets: inNamespaces('apps', 'statefulsets', 'StatefulSet'),
  podDisruptionBudgets: inNamespaces('policy', 'poddisruptionbudgets', 'PodDisruptionBudget'),
};

function inNamespaces(group: string, resource: string, kind: string): ApiResource {
  return apiResource({ group, version: 'v1', resource, kind, namespaced: true });
}

/** What plugins may register for beside pods and nodes. */
type OtherResource = Exclude<EventResource, 'Pod' | 'Node' | '*'>;
/** Where the objects are that a plugin may register for. */
export const eventResources: Readonly<Record<OtherResource, ApiResource>> = {
  Namespace: resources.namespaces,
  Service: resources.services,
  PersistentVolume: resources.persistentVolumes,
  PersistentVolumeClaim: resources.persistentVolumeClaims,
  StorageClass: ofCluster('storage.k8s.io', 'storageclasses', 'StorageClass'),
  CSINode: ofCluster('storage.k8s.io', 'csinodes', 'CSINode'),
  ResourceClaim: inNamespaces('resource.k8s.io', 'resourceclaims', 'ResourceClaim'),
};

function ofCluster(group: string, resource: string, kind: string): ApiResource {
  return apiResource({ group, version: 'v1', resource, kind, namespaced: false });
}

const selectors: readonly ListedKind[] = ['services', 'replicationControllers', 'replicaSets', 'statefulSets'];
const kindsOfPlugins: Readonly<Record<string, readonly ListedKind[]>> = {
  PodTopologySpread: selectors,
  SelectorSpread: selectors,
  ServiceAffinity: ['services'],
  InterPodAffinity: ['namespaces'],
  DefaultPreemption: ['podDisruptionBudgets'],
};
/** Plugins of this library that ask for nothing but pods and nodes. */
const frugal: readonly string[] = [
  ...['NodeName', 'NodePorts', 'NodeUnschedulable', 'NodeAffinity', 'TaintToleration', 'NodeResourcesFit'],
  ...['NodeResourcesBalancedAllocation', 'ImageLocality', 'SchedulingGates', 'PrioritySort', 'DefaultBinder'],
  ...['VolumeRestrictions', 'NodeLabel', 'RequestedToCapacityRatio', 'NodeResourcesLeastAllocated'],
  ...['NodeResourcesMostAllocated', 'RefusedVolumes', 'VolumeBinding', 'DynamicResources'],
];

/** The kinds that these plugins may ask for. A plugin that is not known here may ask for any. */
export function kindsFor(pluginNames: Iterable<string>): ListedKind[] {
  const wanted = new Set<ListedKind>();
  for (const name of pluginNames) {
    const kinds = frugal.includes(name) ? [] : (kindsOfPlugins[name] ?? listedKinds);
    for (const kind of kinds) wanted.add(kind);
  }
  return listedKinds.filter((kind) => wanted.has(kind));
}

/** Answers plugins from the stores that reflectors fill. */
export class StoreListers implements ClusterListers {
  readonly stores: Readonly<Record<ListedKind, ObjectStore>>;

  constructor() {
    const store = (): ObjectStore => new ObjectStore<ApiObject>();
    this.stores = {
      namespaces: store(),
      services: store(),
      replicationControllers: store(),
      replicaSets: store(),
      statefulSets: store(),
      podDisruptionBudgets: store(),
    };
  }

  namespaceLabels(name: string): Readonly<Record<string, string>> {
    return this.stores.namespaces.get(undefined, name)?.metadata?.labels ?? {};
  }

  services(namespace: string): readonly SelectingObject[] {
    return this.stores.services.list(namespace);
  }

  replicationControllers(namespace: string): readonly SelectingObject[] {
    return this.stores.replicationControllers.list(namespace);
  }

  replicaSets(namespace: string): readonly SelectingObject[] {
    return this.stores.replicaSets.list(namespace);
  }

  statefulSets(namespace: string): readonly SelectingObject[] {
    return this.stores.statefulSets.list(namespace);
  }

  podDisruptionBudgets(namespace: string): readonly SelectingObject[] {
    return this.stores.podDisruptionBudgets.list(namespace);
  }
}
