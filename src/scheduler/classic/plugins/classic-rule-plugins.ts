// Behaviour of pkg/scheduler/framework/plugins/imagelocality, v1.22.17.

import type { WireNode } from '../../../api/json/types.ts';
import { labelOf } from '../../../api/selectors/label-selector.ts';
import { findUntoleratedTaint } from '../../../api/selectors/taints.ts';
import { type StateData, stateKey } from '../../framework/cycle-state.ts';
import {
  type ClusterEventWithHint,
  maxNodeScore,
  type Plugin,
  type PluginHandle,
  type Rejection,
} from '../../framework/plugin.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { normalizedImageName } from '../../plugins/image-locality.ts';
import { nodeAffinity } from '../../plugins/node-affinity.ts';
import { podTopologySpread } from '../../plugins/spread/pod-topology-spread.ts';
import { taintToleration } from '../../plugins/taint-toleration.ts';

const mebibyte = 1024 * 1024;
const least = 23 * mebibyte;
const mostOfContainer = 1000 * mebibyte;

/** Prefers nodes that have the images of the pod's containers; those of init containers do not count. */
export function classicImageLocality(handle: PluginHandle): Plugin {
  return {
    name: 'ImageLocality',
    eventsToRegister: () => [],
    score: (_state, pod, node) => imageScore(pod, node, handle.snapshot().nodes.length),
  };
}

function imageScore({ pod }: PodInfo, { images }: NodeInfo, allNodes: number): number {
  const containers = pod.spec?.containers ?? [];
  if (containers.length === 0 || images.size === 0) return 0;
  let sum = 0;
  for (const { image = '' } of containers) {
    const state = images.get(normalizedImageName(image));
    if (state !== undefined) sum += Math.trunc(state.sizeBytes * (state.nodes / allNodes));
  }
  const most = mostOfContainer * containers.length;
  return Math.trunc((maxNodeScore * (Math.min(Math.max(sum, least), most) - least)) / (most - least));
}

// Behaviour of pkg/scheduler/framework/plugins/nodeaffinity, v1.22.17, where it is not that of v1.36.3.

/** Looks at every node, also for a pod whose affinity names the nodes. */
export function classicNodeAffinity(): Plugin {
  const modern = nodeAffinity();
  return {
    ...modern,
    preFilter: (state, pod, snapshot) => (modern.preFilter?.(state, pod, snapshot) === 'skip' ? 'skip' : undefined),
  };
}

// Behaviour of pkg/scheduler/framework/plugins/nodelabel, v1.22.17.

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

// Behaviour of pkg/scheduler/framework/plugins/nodepreferavoidpods, v1.22.17.

const annotation = 'scheduler.alpha.kubernetes.io/preferAvoidPods';
const kinds: readonly string[] = ['ReplicationController', 'ReplicaSet'];

interface AvoidPods {
  readonly preferAvoidPods?: readonly {
    readonly podSignature?: { readonly podController?: { kind?: unknown; uid?: unknown } };
  }[];
}

/** Scores 0 on a node whose annotation asks to avoid the pods of the pod's controller, 100 on every other node. */
export function nodePreferAvoidPods(): Plugin {
  return {
    name: 'NodePreferAvoidPods',
    eventsToRegister: () => [],
    score: (_state, pod, { node }) => (isAvoided(pod, node) ? 0 : maxNodeScore),
  };
}

function isAvoided({ pod }: PodInfo, { metadata }: WireNode): boolean {
  const text = metadata?.annotations?.[annotation];
  const owner = pod.metadata?.ownerReferences?.find(({ controller }) => controller === true);
  if (text === undefined || owner === undefined || !kinds.includes(owner.kind)) return false;
  try {
    const { preferAvoidPods = [] } = JSON.parse(text) as AvoidPods;
    return preferAvoidPods.some(({ podSignature }) => {
      const { kind, uid } = podSignature?.podController ?? {};
      return kind === owner.kind && uid === owner.uid;
    });
  } catch {
    // an annotation that cannot be read avoids no pod
    return false;
  }
}

// Behaviour of pkg/scheduler/framework/plugins/tainttoleration, v1.22.17, where it is not that of v1.36.3.

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

// Behaviour of pkg/scheduler/framework/plugins/podtopologyspread, v1.22.17, where it is not that of v1.36.3.

class Unspread implements StateData<Unspread> {
  clone(): Unspread {
    return this;
  }
}

const unspreadKey = stateKey<Unspread>('PodTopologySpread, nothing to spread');

/** Spreads pods over topology domains. A pod that nothing asks to spread scores 100 everywhere; scores are cut, not rounded. */
export function classicPodTopologySpread(spreadsByDefault: boolean, handle: PluginHandle): Plugin {
  const modern = podTopologySpread({ defaultingType: spreadsByDefault ? 'System' : 'List' }, handle, Math.trunc);
  return {
    ...modern,
    preScore(state, pod, nodes) {
      if (modern.preScore?.(state, pod, nodes) === 'skip') state.write(unspreadKey, new Unspread());
      return undefined;
    },
    score: (state, pod, node) => (state.read(unspreadKey) === undefined ? (modern.score?.(state, pod, node) ?? 0) : 0),
    normalizeScores(state, pod, scores, nodes) {
      if (state.read(unspreadKey) === undefined) modern.normalizeScores?.(state, pod, scores, nodes);
      else scores.fill(maxNodeScore);
    },
  };
}
