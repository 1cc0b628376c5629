// Behaviour of pkg/scheduler/framework/plugins/nodeaffinity, v1.22.17, where it is not that of v1.36.3.
import type { Plugin } from '../../framework/plugin.ts';
import { nodeAffinity } from '../../plugins/node-affinity.ts';

/** Looks at every node, also for a pod whose affinity names the nodes. */
export function classicNodeAffinity(): Plugin {
  const modern = nodeAffinity();
  return {
    ...modern,
    preFilter: (state, pod, snapshot) => (modern.preFilter?.(state, pod, snapshot) === 'skip' ? 'skip' : undefined),
  };
}
