import { type ApiObject, type ApiResource, type KnownResources, resources } from '../../src/client/resources/api-resource.ts';
import { ClusterObjects } from '../../src/scheduler/framework/cluster-objects.ts';

/** Objects of some resources, by the name of the resource. What has no name or namespace gets one. */
export type GivenObjects = { readonly [Name in keyof KnownResources]?: readonly object[] | undefined };

/** A cluster with these objects, for plugins. What a handler throws is thrown on. */
export function clusterObjects(given: GivenObjects = {}): ClusterObjects {
  const objects = new ClusterObjects((error) => {
    throw error;
  });
  for (const [name, list] of Object.entries(given)) {
    const resource: ApiResource = resources[name as keyof KnownResources];
    objects.lister(resource);
    for (const [index, object] of (list ?? []).entries()) {
      const { metadata } = object as ApiObject;
      const names = { name: `${resource.kind}-${index}`, ...(resource.namespaced && { namespace: 'd' }), ...metadata };
      objects.set(resource, { ...object, metadata: names });
    }
  }
  return objects;
}
