// Behaviour of pkg/scheduler/framework/plugins/tainttoleration, v1.22.17.
import { findUntoleratedTaint, isTolerated } from '../../../placement/taints.ts';
import type { ClusterEventWithHint } from '../../framework/cluster-event.ts';
import { maxNodeScore, type Plugin } from '../../framework/plugin.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';

const events: readonly ClusterEventWithHint[] = [
  { resource: 'Node', actions: ['Add', 'UpdateNodeTaint'] },
  { resource: 'Pod', actions: ['UpdatePodToleration'] },
];

/** Rejects a node with a taint that the pod does not tolerate, and prefers those with the fewest untolerated soft ones. */
export function classicTaintToleration(): Plugin {
  return {
    name: 'TaintToleration',
    eventsToRegister: () => events,
    filter(_state, { pod }, { node }) {
      const taint = findUntoleratedTaint(node.spec?.taints, pod.spec?.tolerations, ['NoSchedule', 'NoExecute']);
      if (taint === undefined) return undefined;
      const reason = `node(s) had taint {${taint.key}: ${taint.value ?? ''}}, that the pod didn't tolerate`;
      return { code: 'UnschedulableAndUnresolvable', reasons: [reason] };
    },
    score: (_state, pod, node) => softTaints(pod, node),
    normalizeScores(_state, _pod, scores) {
      const most = Math.max(0, ...scores);
      for (const [index, taints] of scores.entries()) {
        scores[index] = maxNodeScore - (most === 0 ? 0 : Math.trunc((maxNodeScore * taints) / most));
      }
    },
  };
}

function softTaints({ pod }: PodInfo, { node }: NodeInfo): number {
  const soft = node.spec?.taints?.filter(({ effect }) => effect === 'PreferNoSchedule') ?? [];
  return soft.filter((taint) => !isTolerated(taint, pod.spec?.tolerations)).length;
}
