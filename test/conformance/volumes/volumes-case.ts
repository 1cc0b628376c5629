import type { WirePod } from '../../../src/api/json/types.ts';
import type { FilterScoreOutcome } from '../filter-score/filter-score-case.ts';
import type { KindCase } from '../kinds/case-kind.ts';
import type { RecordedCluster } from '../scheduling/recorded-cluster.ts';

/** A volume that is to belong to a claim, as the scheduler assumes it. */
export interface RecordedBinding {
  /** `NAMESPACE/NAME`. */
  readonly claim: string;
  readonly volume: string;
  readonly claimRef?: unknown;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What was taken for the pod on a node. */
export interface RecordedReservation {
  readonly allBound?: boolean;
  readonly bindings?: readonly RecordedBinding[];
  /** The claims whose volumes are to be made, in order. */
  readonly provisions?: readonly string[];
  readonly error?: string;
}

export interface VolumesOutcome {
  readonly judged: FilterScoreOutcome;
  /** By the node's name: each node where the pod fits. */
  readonly reserved?: Readonly<Record<string, RecordedReservation>>;
}

/** A recording of how the scheduler judged the nodes for a pod with volumes, and what it would take on each. */
export interface VolumesCase extends KindCase, RecordedCluster {
  readonly pod: WirePod;
  readonly out: VolumesOutcome;
}

/** What is wrong with the case; undefined when it can be played. */
export function volumesCaseProblem(value: unknown): string | undefined {
  const { nodes, pod, out } = value as Partial<VolumesCase>;
  if (!Array.isArray(nodes)) return 'a volumes case without nodes';
  if (typeof pod !== 'object' || pod === null) return 'a volumes case without a pod';
  if (typeof out?.judged !== 'object' || out.judged === null) return 'a volumes case without a judgement';
  return undefined;
}
