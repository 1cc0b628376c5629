// Behaviour of pkg/scheduler/framework/plugins/tainttoleration, v1.22.17, where it is not that of v1.36.3.
import { findUntoleratedTaint } from '../../../api/selectors/taints.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { taintToleration } from '../../plugins/taint-toleration.ts';

/** Names the taint in the reason. */
export function classicTaintToleration(): Plugin {
  return {
    ...taintToleration(),
    filter(_state, { pod }, { node }) {
      const taint = findUntoleratedTaint(node.spec?.taints, pod.spec?.tolerations, ['NoSchedule', 'NoExecute']);
      if (taint === undefined) return undefined;
      const reason = `node(s) had taint {${taint.key}: ${taint.value ?? ''}}, that the pod didn't tolerate`;
      return { code: 'UnschedulableAndUnresolvable', reasons: [reason] };
    },
  };
}
