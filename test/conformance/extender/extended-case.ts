import type { WirePod } from '../../../src/api/json/types.ts';
import type { ExtenderOptions } from '../../../src/scheduler/extenders/extender-options.ts';
import type { KindCase } from '../kinds/case-kind.ts';
import type { RecordedCluster, RecordedFailure } from '../scheduling/recorded-cluster.ts';
import type { ExtenderCase } from './extender-case.ts';

/** What became of a pod in which extenders have a say. An absent or null list or map is an empty one. */
export interface ExtendedOutcome {
  /** `NUMBER/VERB: NODES`, in their order; of those that are asked at once sorted. */
  readonly asked: readonly string[];
  /** The attempt ended with an error. */
  readonly error: boolean;
  readonly failed?: Readonly<Record<string, RecordedFailure>> | null;
  readonly rejectors?: readonly string[] | null;
  readonly message?: string;
  readonly feasible?: readonly string[] | null;
  /** Where several nodes are left. */
  readonly totals?: Readonly<Record<string, number>>;
}

/** A recording of one attempt with several extenders, which know the nodes by name. */
export interface ExtendedCase extends KindCase, RecordedCluster {
  readonly extenders: readonly (Omit<ExtenderOptions, 'urlPrefix'> & Pick<ExtenderCase, 'answers'>)[];
  readonly pod: WirePod;
  readonly out: ExtendedOutcome;
}

/** What is wrong with the case; undefined when it can be played. */
export function extendedCaseProblem(value: unknown): string | undefined {
  const { extenders, nodes, pod, out } = value as Partial<ExtendedCase>;
  if (!Array.isArray(extenders) || !Array.isArray(nodes)) return 'an extended case without extenders and nodes';
  if (typeof pod !== 'object' || pod === null) return 'an extended case without a pod';
  if (typeof out !== 'object' || out === null) return 'an extended case without an outcome';
  return undefined;
}
