// Behaviour of pkg/scheduler/framework/plugins/serviceaffinity, v1.22.17.
import { labelOf, selectorFromLabels } from '../../../api/selectors/label-selector.ts';
import type { ClusterEventWithHint } from '../../framework/cluster-event.ts';
import { type CycleState, stateKey } from '../../framework/cycle-state.ts';
import type { PluginHandle } from '../../framework/handle.ts';
import type { Plugin } from '../../framework/plugin.ts';
import type { Rejection } from '../../framework/status.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { countMatching } from '../../plugins/spread/count-matching.ts';
import { selectorOf, servicesOf } from './pod-services.ts';
import { ServiceNeighbours } from './service-neighbours.ts';
import { spreadOverLabels } from './spread-over-labels.ts';

export interface ServiceAffinityArgs {
  /** The pods of a service are to be on nodes with the same values of these. */
  readonly affinityLabels: readonly string[];
  /** The pods of a service are to be spread over the values of these. */
  readonly antiAffinityLabels: readonly string[];
}

const rejection: Rejection = { code: 'Unschedulable', reasons: ["node(s) didn't match service affinity"] };
const neighboursKey = stateKey<ServiceNeighbours>('ServiceAffinity');
const events: readonly ClusterEventWithHint[] = [
  { resource: 'Pod', actions: ['UpdatePodLabel', 'Delete'] },
  { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
  { resource: 'Service', actions: ['Update', 'Delete'] },
];

/** The predicates with `serviceAffinity` and the priorities with `serviceAntiAffinity` of one policy file, all of them together. */
export function serviceAffinity({ affinityLabels, antiAffinityLabels }: ServiceAffinityArgs, handle: PluginHandle): Plugin {
  return {
    name: 'ServiceAffinity',
    eventsToRegister: () => events,
    preFilter(state, pod, snapshot) {
      if (affinityLabels.length === 0) return 'skip';
      const hasServices = () => servicesOf(pod, handle.listers).length > 0;
      state.write(neighboursKey, ServiceNeighbours.of(pod, affinityLabels, snapshot, hasServices));
      return undefined;
    },
    addPod: (state, _toSchedule, pod, node) => neighboursIn(state)?.add(pod, node),
    removePod: (state, _toSchedule, pod) => neighboursIn(state)?.remove(pod),
    filter: (state, _pod, { node }) => (neighboursIn(state)?.allows(node) === false ? rejection : undefined),
    score: (_state, pod, { pods }) => (pods.length === 0 ? 0 : countMatching(pods, firstSelector(pod, handle), pod.namespace)),
    normalizeScores(_state, _pod, scores, nodes) {
      const valuesOf = (label: string) => nodes.map(({ node }) => labelOf(node.metadata?.labels, label));
      const spread = spreadOverLabels(scores, antiAffinityLabels.map(valuesOf));
      for (const [index, score] of spread.entries()) scores[index] = score;
    },
  };
}

function neighboursIn(state: CycleState): ServiceNeighbours | undefined {
  return state.read(neighboursKey);
}

/** Only the first service counts. */
function firstSelector(pod: PodInfo, { listers }: PluginHandle) {
  const [first] = servicesOf(pod, listers);
  return selectorFromLabels(first && selectorOf(first));
}
