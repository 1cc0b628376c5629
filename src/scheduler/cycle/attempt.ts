import type { CycleState } from '../framework/cycle-state.ts';
import { FitError } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import type { PluginRejection } from '../framework/plugin.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { QueuedPodInfo } from '../queue/queued-pod-info.ts';

/** One try to place a pod. */
export interface Attempt {
  readonly framework: Framework;
  readonly queued: QueuedPodInfo;
  /** The version of the pod that is tried. */
  readonly podInfo: PodInfo;
  readonly state: CycleState;
  /** By the time of the queue. */
  readonly startedAt: number;
}

/** A pod that has a node and is to be bound. */
export interface PlacedPod extends Attempt {
  readonly nodeName: string;
}

/** The error of a pod whose chosen node was refused later on, by reserve or permit. */
export function refusedNode({ podInfo }: Attempt, nodeName: string, rejection: PluginRejection): FitError {
  const rejectors = new Set([rejection.plugin]);
  const pending = new Set(rejection.code === 'Pending' ? rejectors : []);
  const failures = new Map([[nodeName, rejection]]);
  const { pod } = podInfo;
  return new FitError(pod, { nodes: 1, failures, rest: undefined, isRejectedAsSuch: false, rejectors, pending });
}
