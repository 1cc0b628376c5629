import type { WirePod } from '../../../src/api/json/types.ts';
import type { KindCase } from '../kinds/case-kind.ts';
import type { RecordedCluster, RecordedFailure } from '../scheduling/recorded-cluster.ts';

/** What a node is worth. */
export interface RecordedScores {
  /** By plugin: as it scored, normalised, and times its weight. */
  readonly scores: Readonly<Record<string, readonly [raw: number, normalized: number, weighted: number]>>;
  readonly total: number;
}

/** Where the pod fits, and which node is the best. An absent list or map is an empty one. */
export interface FilterScoreOutcome {
  /** The nodes in the order in which they are tried. */
  readonly order?: readonly string[];
  readonly preFilter?: RecordedFailure;
  readonly rest?: RecordedFailure;
  readonly failed?: Readonly<Record<string, RecordedFailure>>;
  readonly rejectors?: readonly string[];
  readonly message?: string;
  readonly feasible?: Readonly<Record<string, RecordedScores>>;
  readonly best?: readonly string[];
  readonly error?: string;
}

/** A recording of how the scheduler judged the nodes for one pod. */
export interface FilterScoreCase extends KindCase, RecordedCluster {
  readonly pluginConfig?: readonly { readonly name: string; readonly args?: unknown }[];
  readonly pod: WirePod;
  readonly out: FilterScoreOutcome;
}

/** What is wrong with the case; undefined when it can be played. */
export function filterScoreCaseProblem(value: unknown): string | undefined {
  const { nodes, pod, out } = value as Partial<FilterScoreCase>;
  if (!Array.isArray(nodes)) return 'a filterScore case without nodes';
  if (typeof pod !== 'object' || pod === null) return 'a filterScore case without a pod';
  if (typeof out !== 'object' || out === null) return 'a filterScore case without an outcome';
  return undefined;
}
