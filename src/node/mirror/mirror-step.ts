// Behaviour of pkg/kubelet/kubelet.go tryReconcileMirrorPods, and of kubelet_pods.go where it deletes orphans, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isMirrorPodOf, podUIDOf } from '../../api/pod/pod-identity.ts';

/**
 * Why a mirror pod is deleted: its static pod has changed, somebody has asked for its deletion, or its static pod is gone.
 */
export type MirrorDeletionReason = 'changed' | 'deleting' | 'orphaned';

/** What is to be done for one full name. */
export type MirrorStep =
  | { readonly kind: 'nothing' }
  /** Something is to be done, and the agent does not permit it yet. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'create'; readonly staticPod: Pod }
  | { readonly kind: 'delete'; readonly uid: string; readonly reason: MirrorDeletionReason }
  /** What the server has under this name has to be read. */
  | { readonly kind: 'read' };

export interface MirrorSituation {
  readonly staticPod: Pod | undefined;
  /** The mirror pod that is on the server, as far as is known. */
  readonly mirrorPod: Pod | undefined;
  /** True when a pod has the name, and it is not known which. */
  readonly inDoubt: boolean;
  /** The uid of a mirror pod that was deleted, and that its finalizers hold. */
  readonly heldUID: string | undefined;
  /** True once the apiserver's pods of this node have been listed. */
  readonly isListed: boolean;
  /** True when a mirror pod without a static pod may be deleted. */
  readonly mayDeleteOrphan: () => boolean;
}

const nothing: MirrorStep = { kind: 'nothing' };
const wait: MirrorStep = { kind: 'wait' };

/** The next step for one full name. Changes nothing. */
export function mirrorStep(situation: MirrorSituation): MirrorStep {
  const { staticPod, mirrorPod, inDoubt, heldUID, isListed, mayDeleteOrphan } = situation;
  if (staticPod === undefined && mirrorPod === undefined) return nothing;
  if (!isListed) return wait;
  if (inDoubt) return { kind: 'read' };
  if (mirrorPod === undefined) return staticPod === undefined ? nothing : { kind: 'create', staticPod };
  const uid = podUIDOf(mirrorPod);
  if (uid === heldUID) return nothing;
  if (staticPod === undefined) return mayDeleteOrphan() ? { kind: 'delete', uid, reason: 'orphaned' } : wait;
  if (mirrorPod.metadata?.deletionTimestamp) return { kind: 'delete', uid, reason: 'deleting' };
  return isMirrorPodOf(mirrorPod, staticPod) ? nothing : { kind: 'delete', uid, reason: 'changed' };
}
