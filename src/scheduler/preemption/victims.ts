// Rules of SelectVictimsOnNode, pkg/scheduler/framework/plugins/defaultpreemption, v1.36.3.
import type { CycleState } from '../framework/cycle-state.ts';
import type { PluginHandle } from '../framework/handle.ts';
import type { PluginRejection } from '../framework/status.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { type Budgets, splitByBudgets } from './budgets.ts';
import type { Candidate } from './candidate.ts';
import { byImportance } from './importance.ts';

/** What is asked of each node. */
export interface VictimSearch {
  readonly pod: PodInfo;
  /** As the filters left it; it is not changed. */
  readonly state: CycleState;
  readonly handle: Pick<PluginHandle, 'runFiltersWithNominated' | 'runAddPod' | 'runRemovePod'>;
  readonly budgets: Budgets;
  readonly nowMs: number;
}

/**
 * Finds the pods of the node that have to go so that the pod fits; why none would help where that is so. All pods of a lower
 * priority are taken away at first; then they are put back one at a time, as far as the pod still fits: at first those that
 * a budget keeps, and in each group the most important first.
 */
export function findVictims(search: VictimSearch, original: NodeInfo): Candidate | PluginRejection {
  const { pod, handle, nowMs } = search;
  const lesser = original.pods.filter(({ priority }) => priority < pod.priority);
  if (lesser.length === 0) return noVictims;
  const [node, state] = [original.clone(), search.state.clone()];
  const remove = (victim: PodInfo) => {
    node.removePod(victim);
    handle.runRemovePod(state, pod, victim, node);
  };
  for (const victim of lesser) remove(victim);
  const rejection = handle.runFiltersWithNominated(state, pod, node);
  if (rejection !== undefined) return rejection;

  const isVictim = (candidate: PodInfo): boolean => {
    node.addPod(candidate);
    handle.runAddPod(state, pod, candidate, node);
    if (handle.runFiltersWithNominated(state, pod, node) === undefined) return false;
    remove(candidate);
    return true;
  };
  const order = byImportance(nowMs);
  const { kept, others } = splitByBudgets([...lesser].sort(order), search.budgets);
  const violating = kept.filter(isVictim);
  const victims = [...violating, ...others.filter(isVictim)].sort(order);
  if (victims.length === 0)
    throw new Error(`The pod fits on the node ${original.name} with all its pods, where a filter rejected it`);
  return { nodeName: original.name, victims, budgetViolations: violating.length };
}

const noVictims: PluginRejection = {
  plugin: '',
  code: 'UnschedulableAndUnresolvable',
  reasons: ['No preemption victims found for incoming pod'],
};
