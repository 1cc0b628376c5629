import type { V1PodDisruptionBudget } from '@kubernetes/client-node';
import { isJsonObject } from '../../api/json/json.ts';
import type { Wire } from '../../api/json/types.ts';
import {
  type GivenLabelSelector,
  type LabelSelector,
  parseLabelSelector,
  selectsNothing,
} from '../../api/selectors/label-selector.ts';
import type { PreemptionCandidate as Candidate } from '../extenders/extender-wire.ts';
import type { CycleState } from '../framework/cycle-state.ts';
import type { PluginHandle, PluginRejection } from '../framework/plugin.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';

// Rules of DryRunPreemption, pkg/scheduler/framework/preemption, v1.36.3.

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

// Rules of filterPodsWithPDBViolation, pkg/scheduler/framework/plugins/defaultpreemption, v1.36.3.

interface Budget {
  readonly selector: LabelSelector;
  readonly disruptionsAllowed: number;
  /** The names of pods whose eviction the apiserver has counted already. */
  readonly disrupted: ReadonlySet<string>;
}

/** The disruption budgets, read namespace by namespace when they are asked for. One search sees each budget in one state. */
export class Budgets {
  readonly #list: (namespace: string) => readonly Wire<V1PodDisruptionBudget>[];
  readonly #byNamespace = new Map<string, readonly Budget[]>();

  constructor(list: (namespace: string) => readonly Wire<V1PodDisruptionBudget>[]) {
    this.#list = list;
  }

  /** Those that count this pod. A pod without labels is counted by none. */
  of({ namespace, pod: { metadata } }: PodInfo): readonly Budget[] {
    const labels = metadata?.labels ?? {};
    if (Object.keys(labels).length === 0) return none;
    const name = metadata?.name ?? '';
    return this.#in(namespace).filter(({ selector, disrupted }) => selector.matches(labels) && !disrupted.has(name));
  }

  #in(namespace: string): readonly Budget[] {
    let budgets = this.#byNamespace.get(namespace);
    if (budgets === undefined) {
      budgets = this.#list(namespace).map(readBudget);
      this.#byNamespace.set(namespace, budgets);
    }
    return budgets;
  }
}

/**
 * Divides the pods into those whose end would violate a budget, if they went one after the other in this order, and the
 * others. A budget counts down for each pod that it selects, whether the pod will go or not.
 */
function splitByBudgets(pods: readonly PodInfo[], budgets: Budgets): { kept: readonly PodInfo[]; others: readonly PodInfo[] } {
  const left = new Map<Budget, number>();
  const [kept, others]: [PodInfo[], PodInfo[]] = [[], []];
  for (const pod of pods) {
    let violates = false;
    for (const budget of budgets.of(pod)) {
      const allowed = (left.get(budget) ?? budget.disruptionsAllowed) - 1;
      left.set(budget, allowed);
      if (allowed < 0) violates = true;
    }
    (violates ? kept : others).push(pod);
  }
  return { kept, others };
}

function readBudget({ spec, status }: Wire<V1PodDisruptionBudget>): Budget {
  const { disruptionsAllowed, disruptedPods } = isJsonObject(status) ? status : ({} as Readonly<Record<string, unknown>>);
  return {
    selector: readSelector(spec?.selector),
    disruptionsAllowed: typeof disruptionsAllowed === 'number' ? disruptionsAllowed : 0,
    disrupted: new Set(isJsonObject(disruptedPods) ? Object.keys(disruptedPods) : []),
  };
}

/** A budget with an empty selector, or with one that breaks a rule, selects no pod. */
function readSelector(given: unknown): LabelSelector {
  try {
    const selector = parseLabelSelector('spec.selector', given as GivenLabelSelector | null | undefined);
    return selector.matchesAll ? selectsNothing : selector;
  } catch {
    return selectsNothing;
  }
}

const none: readonly never[] = [];
