import type { LeaseRival } from './lease-rivals.ts';
import type { NodeHealth } from './node-health.ts';
import type { StepFailure } from './steady-loop.ts';

/** What a `NodeObject` did last, and what it could not do. */
export interface NodeObjectReport {
  /** True while the node is on the apiserver, as far as is known. */
  readonly registered: boolean;
  /** What the Ready condition is to say: the last answer of `readiness`; undefined before it was asked. */
  readonly readiness: NodeHealth['readiness'] | undefined;
  /** Undefined while the node is not known. */
  readonly uid: string | undefined;
  /** When the status was last written, in milliseconds since the epoch. */
  readonly lastReportAt: number | undefined;
  /** When the Lease was last renewed, in milliseconds since the epoch. */
  readonly lastRenewAt: number | undefined;
  /** The last failure of the node, while no success has followed. */
  readonly nodeFailure: StepFailure | undefined;
  /** The same of the Lease. */
  readonly leaseFailure: StepFailure | undefined;
  /** The last other agent that was noticed under the name of this node. */
  readonly rival: LeaseRival | undefined;
}
