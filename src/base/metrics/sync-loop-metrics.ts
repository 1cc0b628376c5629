import { staticLabel } from './label-values.ts';
import type { WrittenDefinition } from './metric-definition.ts';

const syncLoopPart = 'SyncLoop';

/** What the sync loop measures when it looks at all pods. */
export const syncLoopMetrics = {
  kubelet_desired_pods: {
    type: 'gauge',
    help: 'Pods that the agent is to run.',
    unit: '{pod}',
    labels: { static: staticLabel },
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_active_pods: {
    type: 'gauge',
    help: 'Pods that count when another one asks for admission: those that are not over.',
    unit: '{pod}',
    labels: { static: staticLabel },
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_mirror_pods: {
    type: 'gauge',
    help: 'Mirror pods that the pod manager has.',
    unit: '{pod}',
    labels: {},
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_working_pods: {
    type: 'gauge',
    help: 'Pods that the workers know.',
    unit: '{pod}',
    labels: {
      lifecycle: { help: 'what the worker does for the pod', values: ['sync', 'terminating', 'terminated'] },
      config: {
        help: '`orphan`: no source has the pod any more; `runtime_only`: only the runtime has it',
        values: ['desired', 'orphan', 'runtime_only'],
      },
      static: { help: '`true` for static pods, `unknown` where only the runtime has the pod', values: ['', 'true', 'unknown'] },
    },
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_restarted_pods_total: {
    type: 'counter',
    help: 'Pods that began again because they came again under the same uid while they ended.',
    unit: '{pod}',
    labels: { static: staticLabel },
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_orphaned_runtime_pods_total: {
    type: 'counter',
    help: 'Pods that the runtime had and no source named; they were ended.',
    unit: '{pod}',
    labels: {},
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_managed_ephemeral_containers: {
    type: 'gauge',
    help: 'Ephemeral containers of the pods that the agent is to run.',
    unit: '{container}',
    labels: {},
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_admission_rejections_total: {
    type: 'counter',
    help: 'Pods that `admitPod` has refused.',
    unit: '{pod}',
    labels: { reason: { help: 'the reason that `admitPod` gave' } },
    part: syncLoopPart,
    origin: 'kubelet',
  },
} as const satisfies Record<string, WrittenDefinition>;
