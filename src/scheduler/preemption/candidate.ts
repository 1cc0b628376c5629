import type { PodInfo } from '../nodes/pod-info.ts';

/** A node where the pod fits without these pods. */
export interface Candidate {
  readonly nodeName: string;
  /** At least one; the most important first. */
  readonly victims: readonly PodInfo[];
  /** How many of the victims a disruption budget would have kept. */
  readonly budgetViolations: number;
}
