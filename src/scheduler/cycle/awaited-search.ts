// Behaviour of pkg/scheduler/schedule_one.go schedulePod with extenders, v1.36.3.

import type { CycleState } from '../framework/cycle-state.ts';
import { FitError } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import {
  type FoundNodes,
  NodeSearch,
  NoNodesError,
  prioritizeNodes,
  type ScheduleResult,
  type SchedulingAlgorithm,
  selectHost,
} from './algorithm.ts';

/** The name under which a pod waits that an extender has rejected: any change in the cluster brings it back. */
export const extenderName = 'Extender';

/** One search in which extenders have a say. The snapshot must stay as it is until it has settled. */
interface AwaitedSearch {
  readonly algorithm: SchedulingAlgorithm;
  readonly framework: Framework;
  readonly pod: PodInfo;
  readonly state: CycleState;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** As `schedulePod`, with what the extenders of the profile leave and how they score it. Rejects also with ExtenderError, and with the signal's reason. */
export async function schedulePodAwaited(search: AwaitedSearch): Promise<ScheduleResult> {
  const { framework, pod, state, signal } = search;
  if (framework.snapshot().nodes.length === 0) throw new NoNodesError();
  const { feasible, diagnosis, rejectedNodes } = await findNodesAwaited(search);
  const evaluatedNodes = feasible.length + rejectedNodes;
  const [first] = feasible;
  if (first === undefined) throw new FitError(pod.pod, diagnosis);
  const { length: feasibleNodes } = feasible;
  if (feasibleNodes === 1) return { nodeName: first.name, evaluatedNodes, feasibleNodes };
  const { totals } = prioritizeNodes(framework, state, pod, feasible);
  const added = await framework.extenders.prioritize(pod, feasible, signal);
  const sums = totals.map((total, index) => total + (added[index] ?? 0));
  const chosen = feasible[selectHost(sums, () => framework.random())] ?? first;
  return { nodeName: chosen.name, evaluatedNodes, feasibleNodes };
}

/** The nodes that fit and that all extenders leave. Rejects as `schedulePodAwaited` does. */
export async function findNodesAwaited({ algorithm, framework, pod, state, signal }: AwaitedSearch): Promise<FoundNodes> {
  const search = new NodeSearch(framework, state, pod);
  const plan = search.begin();
  if ('rejected' in plan) return plan.rejected;
  if (plan.promised !== undefined) {
    const feasible = await leftOfPromised(framework, pod, search, plan.promised, signal);
    if (feasible.length > 0) return search.foundPromised(feasible);
  }
  const rest = search.restOf(plan);
  const fitting = search.run(plan.nodes, algorithm.startIndex);
  const advance = fitting.length + search.rejectedNodes;
  // also where an extender fails: all nodes are to have the same chance
  algorithm.searched(advance, framework.snapshot().nodes.length);
  const feasible = await leftByExtenders(framework, pod, search, fitting, signal);
  if (feasible.length !== fitting.length) search.rejectors.add(extenderName);
  return { feasible, diagnosis: search.diagnosis(rest, false), rejectedNodes: search.rejectedNodes, advance };
}

/** Where an extender fails at the promised node, it is asked again of all nodes, and that error counts. */
async function leftOfPromised(
  framework: Framework,
  pod: PodInfo,
  search: NodeSearch,
  promised: NodeInfo,
  signal: AbortSignal,
): Promise<readonly NodeInfo[]> {
  try {
    return await leftByExtenders(framework, pod, search, search.tryPromised(promised), signal);
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

async function leftByExtenders(
  framework: Framework,
  pod: PodInfo,
  search: NodeSearch,
  nodes: readonly NodeInfo[],
  signal: AbortSignal,
): Promise<readonly NodeInfo[]> {
  const { feasible, refusals } = await framework.extenders.filter(pod, nodes, signal);
  search.keep(
    new Map(
      [...refusals]
        .filter(([name]) => framework.snapshot().get(name) !== undefined)
        .map(([name, { code, reason }]) => [name, { plugin: extenderName, code, reasons: [reason] }]),
    ),
  );
  return feasible;
}
