/**
 * Mirror pods: the copies on the apiserver of pods that an agent has from elsewhere.
 *
 * @module pod-status-manager/mirror
 */
import './node-version.ts';

export {
  type CreateMirrorPodResult,
  type DeleteMirrorPodResult,
  type MirrorCallOptions,
  MirrorPodClient,
  type MirrorPodClientOptions,
} from './mirror/mirror-pod-client.ts';
export { MirrorPodReconciler } from './mirror/mirror-pod-reconciler.ts';
export type { MirrorPodManager } from './mirror/mirror-pods.ts';
export type { MirrorDeletionReason } from './mirror/mirror-step.ts';
export type { GetNode, MirrorNode } from './mirror/node-owner.ts';
export type { MirrorPodFailure, MirrorPodHandlers, MirrorPodReconcilerOptions } from './mirror/reconciler-options.ts';
