// Behaviour of pkg/scheduler/framework/plugins/nodeunschedulable, v1.36.3.

import type { WireNode, WirePod, WireTaint } from '../../api/json/types.ts';
import { isTolerated } from '../../api/selectors/taints.ts';
import type { Plugin } from '../framework/plugin.ts';
import type { Rejection } from '../framework/status.ts';
import { refuseArgs } from './common/refuse-args.ts';

const cordoned: Rejection = { code: 'UnschedulableAndUnresolvable', reasons: ['node(s) were unschedulable'] };
const taint: WireTaint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Rejects nodes that are marked unschedulable, unless the pod tolerates the taint that stands for it. No arguments. */
export function nodeUnschedulable(args?: unknown): Plugin {
  refuseArgs('NodeUnschedulable', args);
  return {
    name: 'NodeUnschedulable',
    eventsToRegister: () => [
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeTaint'],
        hint: (_pod, before, after) => (opens(before as WireNode | undefined, after as WireNode | undefined) ? 'Queue' : 'Skip'),
      },
      {
        resource: 'Pod',
        actions: ['UpdatePodToleration'],
        hint: (pod, _before, after) => (toleratesNow(pod, after as WirePod | undefined) ? 'Queue' : 'Skip'),
      },
    ],
    filter: (_state, { pod: { spec } }, { node }) =>
      !node.spec?.unschedulable || isTolerated(taint, spec?.tolerations) ? undefined : cordoned,
  };
}

function opens(before: WireNode | undefined, after: WireNode | undefined): boolean {
  const wasShut = before === undefined || before.spec?.unschedulable === true;
  return wasShut && !after?.spec?.unschedulable;
}

function toleratesNow(pod: WirePod, updated: WirePod | undefined): boolean {
  return updated?.metadata?.uid === pod.metadata?.uid && isTolerated(taint, updated?.spec?.tolerations);
}
