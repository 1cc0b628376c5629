// Rules of DryRunPreemption, pkg/scheduler/framework/preemption, v1.36.3.

import type { CycleState } from '../framework/cycle-state.ts';
import type { PluginHandle, PluginRejection } from '../framework/plugin.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { type Budgets, splitByBudgets } from './budgets.ts';

/** What came of the nodes that were looked at. */
export interface CandidateSearch {
  readonly candidates: readonly Candidate[];
  /** Why the pod would not fit although pods were preempted, by the node's name. */
  readonly notHelped: ReadonlyMap<string, PluginRejection>;
}

/**
 * Looks at the nodes one after the other, from the one at `offset`, until there are enough candidates and one of them
 * violates no budget. A node where a plugin throws is no candidate; without any candidate, the first such error is thrown.
 */
export function findCandidates(
  search: VictimSearch,
  nodes: readonly NodeInfo[],
  { offset, enough }: { readonly offset: number; readonly enough: number },
): CandidateSearch {
  const candidates: Candidate[] = [];
  const notHelped = new Map<string, PluginRejection>();
  const errors: unknown[] = [];
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[(offset + i) % nodes.length] as NodeInfo;
    try {
      const found = findVictims(search, node);
      if ('victims' in found) candidates.push(found);
      else notHelped.set(node.name, found);
    } catch (error) {
      errors.push(error);
    }
    if (candidates.length >= enough && candidates.some(({ budgetViolations }) => budgetViolations === 0)) break;
  }
  if (candidates.length === 0 && errors.length > 0) throw errors[0];
  return { candidates, notHelped };
}

// Rules of SelectVictimsOnNode, pkg/scheduler/framework/plugins/defaultpreemption, v1.36.3.

/** What is asked of each node. */
interface VictimSearch {
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
function findVictims(search: VictimSearch, original: NodeInfo): Candidate | PluginRejection {
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

// Rules of pickOneNodeForPreemption, pkg/scheduler/framework/preemption, v1.36.3.

/** Added to each priority, so that none is negative and fewer victims always have the smaller sum. */
const priorityOffset = 2 ** 31;

type Cost = (candidate: Candidate, nowMs: number) => number;

/** The lower, the better. A later cost counts only where all earlier ones are equal. */
const costs: readonly Cost[] = [
  ({ budgetViolations }) => budgetViolations,
  ({ victims }) => Math.max(...victims.map(({ priority }) => priority)),
  ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + priorityOffset, 0),
  ({ victims }) => victims.length,
  ({ victims }, nowMs) => -earliestStartOfHighest(victims, nowMs),
];

/** The candidates that cost least. More than one where they cost the same; none of none. */
export function bestCandidates(candidates: readonly Candidate[], nowMs: number): readonly Candidate[] {
  let left = candidates;
  for (const cost of costs) {
    if (left.length <= 1) break;
    const each = left.map((candidate) => cost(candidate, nowMs));
    const least = Math.min(...each);
    left = left.filter((_, index) => each[index] === least);
  }
  return left;
}

// Rules of MoreImportantPod and GetEarliestPodStartTime, pkg/scheduler/util, v1.36.3.

/** Milliseconds since 1970. A pod that has not been started yet counts as started now. */
function startTime({ pod }: PodInfo, nowMs: number): number {
  const time = Date.parse(pod.status?.startTime ?? '');
  return Number.isNaN(time) ? nowMs : time;
}

/** The order of pods by importance: those of a higher priority first, then those that have run longer. */
function byImportance(nowMs: number): (first: PodInfo, second: PodInfo) => number {
  return (first, second) => second.priority - first.priority || startTime(first, nowMs) - startTime(second, nowMs);
}

/** When the first of the pods with the highest priority was started. `victims` holds the most important first, and at least one. */
function earliestStartOfHighest(victims: readonly PodInfo[], nowMs: number): number {
  const highest = Math.max(...victims.map(({ priority }) => priority));
  return Math.min(...victims.filter(({ priority }) => priority === highest).map((victim) => startTime(victim, nowMs)));
}

/** A node where the pod fits without these pods. */
interface Candidate {
  readonly nodeName: string;
  /** At least one; the most important first. */
  readonly victims: readonly PodInfo[];
  /** How many of the victims a disruption budget would have kept. */
  readonly budgetViolations: number;
}
