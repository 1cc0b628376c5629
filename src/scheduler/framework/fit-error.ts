import type { WirePod } from '../../api/json/types.ts';
import { StatusManagerError } from '../../base/errors.ts';
import type { NodeFailures, PluginRejection } from './plugin.ts';

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

/**
 * The pod fits on no node; code ERR_UNSCHEDULABLE. The message counts the reasons, in kube-scheduler's words; `diagnosis` has them by node.
 *
 * @example
 * ```ts
 * import { FitError } from 'pod-status-manager/scheduler';
 *
 * const full = { plugin: 'NodeResourcesFit', code: 'Unschedulable', reasons: ['Insufficient cpu'] } as const;
 * const error = new FitError(
 *   { metadata: { name: 'web', namespace: 'default', uid: 'u1' } },
 *   {
 *     nodes: 2,
 *     failures: new Map([['node-1', full], ['node-2', full]]),
 *     rest: undefined,
 *     isRejectedAsSuch: false,
 *     rejectors: new Set(['NodeResourcesFit']),
 *     pending: new Set(),
 *   },
 * );
 * console.log(error.message); // 0/2 nodes are available: 2 Insufficient cpu.
 * ```
 */
export class FitError extends StatusManagerError {
  /** The pod that fits nowhere. */
  readonly pod: WirePod;
  /** What each node has against it. */
  readonly diagnosis: Diagnosis;

  /** `postFilterMessage`: what came of the attempt to make room. */
  constructor(pod: WirePod, diagnosis: Diagnosis, postFilterMessage = '') {
    super('ERR_UNSCHEDULABLE', fitErrorMessage(diagnosis, postFilterMessage));
    this.name = 'FitError';
    this.pod = pod;
    this.diagnosis = diagnosis;
  }
}

/** The text of a pod's condition PodScheduled. Behaviour of pkg/scheduler/framework/types.go, v1.36.3. */
export function fitErrorMessage(diagnosis: Diagnosis, postFilterMessage = ''): string {
  const { nodes, rest, isRejectedAsSuch } = diagnosis;
  const asSuch = isRejectedAsSuch ? (rest?.reasons ?? []).join(', ') : '';
  const message = asSuch === '' ? fitMessage(nodes, reasonsByNode(diagnosis)) : `0/${nodes} nodes are available: ${asSuch}.`;
  return postFilterMessage === '' ? message : `${message} ${postFilterMessage}`;
}

function reasonsByNode({ nodes, failures, rest }: Diagnosis): (readonly string[])[] {
  const lookedAt = Array.from(failures.values(), ({ reasons }) => reasons);
  const others = rest === undefined ? 0 : Math.max(0, nodes - failures.size);
  return [...lookedAt, ...new Array<readonly string[]>(others).fill(rest?.reasons ?? [])];
}

/**
 * Says in one line why a pod fits on none of the nodes: `0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu.`
 * `reasons` holds those of each node that has some; equal ones are counted together.
 */
export function fitMessage(nodeCount: number, reasons: Iterable<readonly string[]>): string {
  const counts = new Map<string, number>();
  for (const ofNode of reasons) {
    for (const reason of ofNode) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  // sorted as texts, as kube-scheduler does: "10 x" stands before "2 x"
  const counted = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodeCount} nodes are available:${counted.length > 0 ? ` ${counted.join(', ')}.` : ''}`;
}
