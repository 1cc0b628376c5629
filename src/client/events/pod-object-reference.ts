import type { V1ObjectReference } from '@kubernetes/client-node';
import type { Pod, Wire } from '../../api/json/types.ts';

/** A pod as an event names it. What the pod does not have is left out. */
export function podObjectReference({ metadata }: Pod): Wire<V1ObjectReference> {
  const { namespace, name, uid, resourceVersion } = metadata ?? {};
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}
