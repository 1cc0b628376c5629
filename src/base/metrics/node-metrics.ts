import { resultLabel } from './label-values.ts';
import type { WrittenDefinition } from './metric-definition.ts';

/** What the node's object and the mirror pod reconciler measure. */
export const nodeMetrics = {
  pod_status_manager_node_registered: {
    type: 'gauge',
    help: '1 while the node object is known to be on the apiserver, else 0.',
    unit: '1',
    labels: {},
    part: 'NodeObject',
    origin: 'own',
  },
  pod_status_manager_node_checks_total: {
    type: 'counter',
    help: 'Looks at the node object, each of which writes what has changed.',
    unit: '{check}',
    labels: { result: resultLabel },
    part: 'NodeObject',
    origin: 'own',
  },
  pod_status_manager_lease_renewals_total: {
    type: 'counter',
    help: 'Renewals of the Lease of the node, its creation included.',
    unit: '{renewal}',
    labels: { result: resultLabel },
    part: 'NodeObject',
    origin: 'own',
  },
  pod_status_manager_lease_age_seconds: {
    type: 'gauge',
    help: 'How long ago the Lease of the node was renewed. Kubernetes gives the node up when its Lease has run out.',
    unit: 's',
    labels: {},
    part: 'NodeObject',
    origin: 'own',
  },
  pod_status_manager_mirror_pod_requests_total: {
    type: 'counter',
    help: 'Requests for mirror pods, by how they ended.',
    unit: '{request}',
    labels: {
      verb: { help: 'what was asked of the apiserver', values: ['create', 'delete', 'read'] },
      result: {
        help: '`answered`: the server works, and its answer has to be looked into',
        values: ['done', 'answered', 'no-client', 'failed'],
      },
    },
    part: 'MirrorPodReconciler',
    origin: 'own',
  },
} as const satisfies Record<string, WrittenDefinition>;
