import type { WirePod } from '../../../src/api/json/types.ts';
import type { KindCase } from '../kinds/case-kind.ts';
import type { RecordedCluster, RecordedFailure } from '../scheduling/recorded-cluster.ts';

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
export interface PreemptCase extends KindCase, RecordedCluster {
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
