// Behaviour of pkg/scheduler/framework/plugins/nodepreferavoidpods, v1.22.17.
import type { WireNode } from '../../../api/json/types.ts';
import { maxNodeScore, type Plugin } from '../../framework/plugin.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';

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
