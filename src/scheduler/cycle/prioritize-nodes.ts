// Behaviour of pkg/scheduler/schedule_one.go prioritizeNodes, v1.36.3.
import type { CycleState } from '../framework/cycle-state.ts';
import type { Framework } from '../framework/framework.ts';
import type { NodeScores } from '../framework/score-runner.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';

/**
 * What each node is worth to the pod: the plugins' scores times their weights, added up; 1 for every node where no plugin
 * scores. Throws PluginError.
 */
export function prioritizeNodes(framework: Framework, state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): NodeScores {
  const { scores } = framework;
  if (!scores.hasScorers) return { totals: new Array<number>(nodes.length).fill(1), plugins: [] };
  scores.preScore(state, pod, nodes);
  return scores.score(state, pod, nodes);
}
