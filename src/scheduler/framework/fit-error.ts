import type { WirePod } from '../../wire/types.ts';
import type { NodeFailures } from './plugin.ts';
import type { PluginRejection, Rejection } from './status.ts';

/** Why a pod fits nowhere. */
export interface Diagnosis {
  /** How many nodes there are. */
  readonly nodes: number;
  /** The nodes that were looked at and do not fit, by name. */
  readonly failures: NodeFailures;
  /** Why the nodes that are not in `failures` do not fit, if there are any. */
  readonly rest: PluginRejection | undefined;
  /** True where preFilter rejected the pod as such: no node was looked at, and `rest` says why. */
  readonly isRejectedAsSuch: boolean;
  /** The plugins that rejected the pod or a node: a change that may help one of them may make the pod schedulable. */
  readonly rejectors: ReadonlySet<string>;
  /** Those of the rejectors that wait for something outside. */
  readonly pending: ReadonlySet<string>;
}

/** The pod fits on no node. The message counts the reasons, in upstream's words; `diagnosis` has them by node. */
export class FitError extends Error {
  readonly pod: WirePod;
  readonly diagnosis: Diagnosis;

  /** `postFilterMessage`: what came of the attempt to make room. */
  constructor(pod: WirePod, diagnosis: Diagnosis, postFilterMessage = '') {
    super(fitErrorMessage(diagnosis, postFilterMessage));
    this.name = 'FitError';
    this.pod = pod;
    this.diagnosis = diagnosis;
  }
}

/** The text of a pod's condition PodScheduled. Behaviour of pkg/scheduler/framework/types.go, v1.36.3. */
export function fitErrorMessage(diagnosis: Diagnosis, postFilterMessage = ''): string {
  const reasons = diagnosis.isRejectedAsSuch ? reasonsOf(diagnosis.rest) : countedReasons(diagnosis);
  const told = reasons === '' ? '' : ` ${reasons}.`;
  return `0/${diagnosis.nodes} nodes are available:${told}${postFilterMessage === '' ? '' : ` ${postFilterMessage}`}`;
}

function reasonsOf(rejection: Rejection | undefined): string {
  return (rejection?.reasons ?? []).join(', ');
}

/** `COUNT REASON`, sorted as texts. */
function countedReasons({ nodes, failures, rest }: Diagnosis): string {
  const counts = new Map<string, number>();
  const count = (reasons: readonly string[], times: number): void => {
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + times);
  };
  for (const { reasons } of failures.values()) count(reasons, 1);
  if (rest !== undefined && failures.size < nodes) count(rest.reasons, nodes - failures.size);
  return [...counts]
    .map(([reason, times]) => `${times} ${reason}`)
    .sort()
    .join(', ');
}
