import type { Pod, PodStatus } from '../wire/types.ts';

export interface ProviderCall {
  /** Aborts when the call should end soon: its pod is to end, the call takes too long, or the node stops. */
  readonly signal: AbortSignal;
}

export interface DeletePodCall extends ProviderCall {
  /** How long the containers may take to end, in seconds, at least 1. */
  readonly gracePeriodSeconds: number;
}

/** Tells the node that something of a pod has changed: its uid, or the pod. The node then asks for its status. */
export type NotifyPods = (pod: string | Pod) => void;

/**
 * Runs pods, in whatever way. The first four methods are enough. Any of them may return a promise, throw, reject, or take its
 * time: no other pod waits meanwhile. The pods that are handed over must not be changed.
 *
 * The node runs no probe of a pod: what `getPodStatus` says of `ready` and `started` of a container counts. A provider that
 * wants probes runs them itself, as with a `ProbeManager`.
 */
export interface PodProvider {
  /**
   * Begins to run the pod; settled means "begun", not "running". Called once for a pod that the provider does not have, and
   * again, later and later, each time that it has failed. Never called while another `createPod` or `updatePod` of the pod has
   * not settled.
   */
  createPod(pod: Pod, call: ProviderCall): unknown;
  /** The pod's spec, labels or annotations are other ones than those that the provider was last given. Repeated as `createPod`. */
  updatePod(pod: Pod, call: ProviderCall): unknown;
  /**
   * Ends the pod and frees what it has used. The pod counts as ended once `getPodStatus` says that nothing of it runs. Called
   * again with a shorter grace period, while the earlier call may still be under way, and when it has failed or led to nothing.
   */
  deletePod(pod: Pod, call: DeletePodCall): unknown;
  /**
   * The pod as it is now; undefined or null where there is none, and nothing of it runs. A provider that cannot say throws: what
   * was known then stays. `phase` is enough: what else a status has is filled in, and what the provider gives is kept.
   */
  getPodStatus(pod: Pod, call: ProviderCall): PodStatus | undefined | null | Promise<PodStatus | undefined | null>;
  /** Called once, at the start. Without it each pod is asked about at an interval. */
  notifyPods?(notify: NotifyPods): unknown;
  /**
   * All pods of this node that the provider has, with their uids, also those that earlier runs of the agent have left. A pod
   * among them that no source of the node names is deleted. Without it only pods of this run are known.
   */
  getPods?(call: ProviderCall): readonly Pod[] | Promise<readonly Pod[]>;
}
