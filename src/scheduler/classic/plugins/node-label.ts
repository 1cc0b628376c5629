// Behaviour of pkg/scheduler/framework/plugins/nodelabel, v1.22.17.
import { labelOf } from '../../../api/selectors/label-selector.ts';
import type { ClusterEventWithHint } from '../../framework/cluster-event.ts';
import { maxNodeScore, type Plugin } from '../../framework/plugin.ts';
import type { Rejection } from '../../framework/status.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';

/** Labels that nodes must have or must not have, and such as are only preferred; the values do not matter. */
export interface NodeLabelArgs {
  readonly present: readonly string[];
  readonly absent: readonly string[];
  readonly preferredPresent: readonly string[];
  readonly preferredAbsent: readonly string[];
}

const rejection: Rejection = {
  code: 'UnschedulableAndUnresolvable',
  reasons: ["node(s) didn't have the requested labels"],
};
const events: readonly ClusterEventWithHint[] = [{ resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] }];

/** The predicates with `labelsPresence` and the priorities with `labelPreference` of one policy file, all of them together. */
export function nodeLabel({ present, absent, preferredPresent, preferredAbsent }: NodeLabelArgs): Plugin {
  const preferences = preferredPresent.length + preferredAbsent.length;
  return {
    name: 'NodeLabel',
    eventsToRegister: () => events,
    filter(_state, _pod, node) {
      const fits = present.every((label) => hasLabel(node, label)) && !absent.some((label) => hasLabel(node, label));
      return fits ? undefined : rejection;
    },
    score(_state, _pod, node) {
      if (preferences === 0) return 0;
      const liked =
        preferredPresent.filter((label) => hasLabel(node, label)).length +
        preferredAbsent.filter((label) => !hasLabel(node, label)).length;
      return Math.trunc((liked * maxNodeScore) / preferences);
    },
  };
}

function hasLabel({ node }: NodeInfo, label: string): boolean {
  return labelOf(node.metadata?.labels, label) !== undefined;
}
