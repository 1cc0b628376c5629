import type { SelectingObject } from '../../../src/scheduler/framework/handle.ts';
import type { WireNode } from '../../../src/wire/node-types.ts';
import type { WirePod } from '../../../src/wire/types.ts';
import type { KindCase } from '../kinds/case-kind.ts';

/** Why a pod does not fit on a node. */
export interface RecordedFailure {
  /** Absent where no plugin is named. */
  readonly plugin?: string;
  readonly code: string;
  readonly reasons: readonly string[];
}

/** What the scheduler would do so that the pod fits. An absent list or map is an empty one. */
export interface PreemptOutcome {
  readonly fits?: readonly string[];
  readonly failed?: Readonly<Record<string, RecordedFailure>>;
  readonly message?: string;
  readonly notEligible?: string;
  readonly potential?: readonly string[];
  readonly candidates?: Readonly<Record<string, { readonly victims: readonly string[]; readonly pdbViolations?: number }>>;
  readonly notHelped?: Readonly<Record<string, RecordedFailure>>;
  readonly best?: readonly string[];
  readonly result?: string;
  readonly clearNominated?: boolean;
}

/** A recording of how room was made for one pod. */
export interface PreemptCase extends KindCase {
  readonly nodes: readonly WireNode[];
  /** Each has a nodeName. */
  readonly pods?: readonly WirePod[];
  /** Pods that wait for the node which they were promised. */
  readonly nominated?: readonly WirePod[];
  readonly namespaces?: readonly SelectingObject[];
  readonly services?: readonly SelectingObject[];
  readonly replicationControllers?: readonly SelectingObject[];
  readonly replicaSets?: readonly SelectingObject[];
  readonly statefulSets?: readonly SelectingObject[];
  readonly podDisruptionBudgets?: readonly SelectingObject[];
  readonly pod: WirePod;
  readonly out: PreemptOutcome;
}

/** What is wrong with the case; undefined when it can be played. */
export function preemptCaseProblem(value: unknown): string | undefined {
  const { nodes, pod, out } = value as Partial<PreemptCase>;
  if (!Array.isArray(nodes)) return 'a preempt case without nodes';
  if (typeof pod !== 'object' || pod === null) return 'a preempt case without a pod';
  if (typeof out !== 'object' || out === null) return 'a preempt case without an outcome';
  return undefined;
}
