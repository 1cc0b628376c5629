import type { Pod } from '../../api/json/types.ts';
import { isMirrorPod, isStaticPod, podFullName } from '../../api/pod/pod-identity.ts';

/** What the reconciler asks of a pod manager; a `BasicPodManager` answers. */
export interface MirrorPodManager {
  /** Every pod but the mirror pods, and every mirror pod. */
  getPodsAndMirrorPods(): { readonly allPods: readonly Pod[]; readonly allMirrorPods: readonly Pod[] };
  /** Never a mirror pod. */
  getPodByUID(uid: string): Pod | undefined;
  /** The mirror pod of the same full name. */
  getMirrorPodByPod(pod: Pod): Pod | undefined;
  /** As `PodManager.subscribe`. */
  subscribe(listener: (podUID: string) => void): () => void;
}

/** The static pod and the mirror pods of one full name. */
export interface MirrorPair {
  /** The one that came last, should there be several. */
  readonly staticPod: Pod | undefined;
  /** In the order in which they came. There are several while an old one is not removed yet. */
  readonly mirrorPods: readonly Pod[];
}

/**
 * The static pods and the mirror pods of one node, by full name. Pods of other nodes are left out; so are static pods that
 * name no node, with which `onUnbound` is called. Throws what the pod manager throws, and a TypeError where its answer is not what it must be.
 */
export function mirrorPairs(
  podManager: MirrorPodManager,
  nodeName: string,
  onUnbound: (staticPod: Pod) => void,
): Map<string, MirrorPair> {
  const pairs = new Map<string, { staticPod: Pod | undefined; mirrorPods: Pod[] }>();
  const pairOf = (pod: Pod): { staticPod: Pod | undefined; mirrorPods: Pod[] } => {
    const fullName = podFullName(pod);
    const pair = pairs.get(fullName) ?? { staticPod: undefined, mirrorPods: [] };
    pairs.set(fullName, pair);
    return pair;
  };
  const isOurs = ({ spec }: Pod): boolean => spec?.nodeName === nodeName;
  const { allPods, allMirrorPods } = podManager.getPodsAndMirrorPods();
  if (!Array.isArray(allPods) || !Array.isArray(allMirrorPods)) {
    throw new TypeError('getPodsAndMirrorPods() of the pod manager must return two lists');
  }
  for (const pod of allPods as readonly Pod[]) {
    if (!isStaticPod(pod)) continue;
    if (isOurs(pod)) pairOf(pod).staticPod = pod;
    else if (!pod.spec?.nodeName) onUnbound(pod);
  }
  for (const pod of allMirrorPods as readonly Pod[]) if (isMirrorPod(pod) && isOurs(pod)) pairOf(pod).mirrorPods.push(pod);
  return pairs;
}
