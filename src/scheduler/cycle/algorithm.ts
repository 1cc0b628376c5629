import { CycleState } from '../framework/cycle-state.ts';
import { FitError } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { findNodesThatFit } from './find-nodes.ts';
import { prioritizeNodes } from './prioritize-nodes.ts';
import { selectHost } from './select-host.ts';

/** Where a pod goes. */
export interface ScheduleResult {
  readonly nodeName: string;
  /** How many nodes were looked at. */
  readonly evaluatedNodes: number;
  /** On how many of them it fits. */
  readonly feasibleNodes: number;
}

/** There is no node at all. */
export class NoNodesError extends Error {
  constructor() {
    super('no nodes available to schedule pods');
    this.name = 'NoNodesError';
  }
}

/**
 * Chooses a node for one pod after another. Each search for nodes begins where the one before has ended, so that all nodes
 * have the same chance. Behaviour of pkg/scheduler/schedule_one.go schedulePod, v1.36.3.
 */
export class SchedulingAlgorithm {
  #nextStartIndex = 0;

  /**
   * Finds the nodes that fit, scores them and picks one of the best. Nothing is changed but what the plugins keep in `state`.
   * Throws FitError, NoNodesError or PluginError.
   */
  schedulePod(framework: Framework, pod: PodInfo, state: CycleState = new CycleState()): ScheduleResult {
    const { length: nodes } = framework.snapshot().nodes;
    if (nodes === 0) throw new NoNodesError();
    const { feasible, diagnosis, advance } = findNodesThatFit(framework, state, pod, this.#nextStartIndex);
    const evaluatedNodes = feasible.length + diagnosis.failures.size;
    this.#nextStartIndex = (this.#nextStartIndex + advance) % nodes;
    const [first] = feasible;
    if (first === undefined) throw new FitError(pod.pod, diagnosis);
    const { length: feasibleNodes } = feasible;
    if (feasibleNodes === 1) return { nodeName: first.name, evaluatedNodes, feasibleNodes };
    const { totals } = prioritizeNodes(framework, state, pod, feasible);
    const chosen = feasible[selectHost(totals, () => framework.random())] ?? first;
    return { nodeName: chosen.name, evaluatedNodes, feasibleNodes };
  }
}
