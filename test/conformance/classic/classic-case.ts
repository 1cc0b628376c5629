import type { WirePod } from '../../../src/api/json/types.ts';
import type { KindCase } from '../kinds/case-kind.ts';
import type { RecordedCluster } from '../scheduling/recorded-cluster.ts';

export interface RecordedFailure {
  readonly code: string;
  readonly reasons: readonly string[];
}

export interface RecordedScores {
  /** By plugin: as it scored, normalised, times its weight. */
  readonly scores: Readonly<Record<string, readonly [number, number, number]>>;
  readonly total: number;
}

/** What the classic scheduler made of a policy and a pod. */
export interface ClassicOutcome {
  readonly policyError?: string;
  readonly filters?: readonly string[];
  readonly weights?: Readonly<Record<string, number>>;
  readonly order?: readonly string[];
  /** By the plugin that rejected the pod as such. */
  readonly preFilter?: Readonly<Record<string, RecordedFailure>>;
  readonly failed?: Readonly<Record<string, Readonly<Record<string, RecordedFailure>>>>;
  readonly rejectors?: readonly string[];
  readonly message?: string;
  readonly feasible?: Readonly<Record<string, RecordedScores>>;
  readonly best?: readonly string[];
}

/** A recording of a scheduler with a policy file, which looks for a node for one pod. */
export interface ClassicCase extends KindCase, RecordedCluster {
  readonly policy: {
    readonly predicates?: readonly object[];
    readonly priorities?: readonly object[];
    readonly alwaysCheckAllPredicates?: boolean;
  };
  /** True: ServiceSpreadingPriority is the plugin SelectorSpread. */
  readonly selectorSpread?: boolean;
  readonly pods: readonly WirePod[];
  readonly pod: WirePod;
  readonly out: ClassicOutcome;
}

/** What is wrong with the case; undefined when it can be played. */
export function classicCaseProblem(value: unknown): string | undefined {
  const { policy, nodes, pods, pod, out } = value as Partial<ClassicCase>;
  if (policy === undefined) return 'a classic case without a policy';
  if (!Array.isArray(nodes) || !Array.isArray(pods)) return 'a classic case without nodes and pods';
  if (typeof pod !== 'object' || pod === null) return 'a classic case without a pod';
  return typeof out !== 'object' || out === null ? 'a classic case without an outcome' : undefined;
}
