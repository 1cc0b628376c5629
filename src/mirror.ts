/**
 * Mirror pods: the copies on the apiserver of pods that an agent has from elsewhere.
 *
 * @module pod-status-manager/mirror
 */
import './base/node-version.ts';

export {
  type CreateMirrorPodResult,
  type DeleteMirrorPodResult,
  type MirrorCallOptions,
  MirrorPodClient,
  type MirrorPodClientOptions,
} from './node/mirror/mirror-pod-client.ts';
export { MirrorPodReconciler } from './node/mirror/mirror-pod-reconciler.ts';
export type { GetNode, MirrorNode, MirrorPodManager } from './node/mirror/mirror-pods.ts';
export type { MirrorDeletionReason } from './node/mirror/mirror-step.ts';
export type {
  MirrorPodFailure,
  MirrorPodHandlers,
  MirrorPodReconcilerOptions,
} from './node/mirror/reconciler-options.ts';
