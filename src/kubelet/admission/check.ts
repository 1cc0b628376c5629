import type { Pod, WireNode } from '../../api/json/types.ts';
import type { NodePressures } from '../../node/node-object/node-conditions.ts';

/** Why a pod may not run here: a word for its status, and the same for people. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
}

/** What a check may look at. */
export interface AdmissionContext {
  /** The pod that is new on this node. */
  readonly pod: Pod;
  /** The pods that are not over, without that one. */
  readonly others: readonly Pod[];
  /** The node, as the apiserver has it. What the agent itself has to give is as the agent says, what others have set is as they say. */
  readonly node: WireNode;
  /** What runs short on the node. */
  readonly pressures: NodePressures;
}

/** Undefined where nothing speaks against the pod. */
export type AdmissionCheck = (context: AdmissionContext) => Refusal | undefined;
