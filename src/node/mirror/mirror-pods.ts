import type { V1Node, V1OwnerReference } from '@kubernetes/client-node';
import type { Loose, Pod, Wire } from '../../api/json/types.ts';
import { isMirrorPod, isStaticPod, podFullName } from '../../api/pod/pod-identity.ts';
import type { WaitLimits } from '../../base/concurrency/aborts.ts';
import { errorText, StatusManagerError } from '../../base/errors.ts';
import { limitedCall } from '../../client/resources/limited-call.ts';

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

/** What the library reads of a node. */
export type MirrorNode = Pick<Loose<V1Node>, 'metadata'>;

/** Answers with the node of this name as the agent knows it, from memory or from a server; undefined when it knows none. */
export type GetNode = (nodeName: string) => MirrorNode | undefined | Promise<MirrorNode | undefined>;

/**
 * The one owner reference of a mirror pod, which the admission plugin NodeRestriction asks for. Rejects with ERR_NO_NODE
 * unless the node is known, has this name and a uid, and is not being deleted.
 */
export async function nodeOwner(getNode: GetNode, nodeName: string, limits: WaitLimits): Promise<Wire<V1OwnerReference>> {
  let node: unknown;
  try {
    node = await limitedCall('getNode()', () => getNode(nodeName), limits).answer;
  } catch (error) {
    throw noNode(nodeName, `getNode() failed: ${errorText(error).slice(0, 500)}`, error);
  }
  const { name, uid, deletionTimestamp } = (node as MirrorNode | undefined | null)?.metadata ?? {};
  if (node === undefined || node === null) throw noNode(nodeName, 'the node is not known');
  if (name !== undefined && name !== nodeName) throw noNode(nodeName, 'getNode() answered with another node');
  if (typeof uid !== 'string' || uid === '') throw noNode(nodeName, 'the node has no uid');
  if (deletionTimestamp) throw noNode(nodeName, 'the node is being deleted');
  return { apiVersion: 'v1', kind: 'Node', name: nodeName, uid, controller: true };
}

function noNode(nodeName: string, why: string, cause?: unknown): StatusManagerError {
  const message = `Mirror pods need their node ${nodeName} as owner: ${why}`;
  return new StatusManagerError('ERR_NO_NODE', message, cause === undefined ? undefined : { cause });
}
