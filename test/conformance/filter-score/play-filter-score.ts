import { bestHosts, findNodesThatFit, prioritizeNodes } from '../../../src/scheduler/cycle/algorithm.ts';
import { CycleState } from '../../../src/scheduler/framework/cycle-state.ts';
import { FitError } from '../../../src/scheduler/framework/fit-error.ts';
import type { Framework } from '../../../src/scheduler/framework/framework.ts';
import type { PluginRejection } from '../../../src/scheduler/framework/plugin.ts';
import type { NodeScores } from '../../../src/scheduler/framework/plugin-runner.ts';
import type { NodeInfo } from '../../../src/scheduler/nodes/node-info.ts';
import { createPodInfo, type PodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import type { RecordedFailure } from '../scheduling/recorded-cluster.ts';
import { frameworkOf } from './cluster.ts';
import type { FilterScoreCase, FilterScoreOutcome, RecordedScores } from './filter-score-case.ts';

/** Plays the case with our plugins. Returns how they judged the nodes, in the form of the recording. */
export function playFilterScore(recorded: FilterScoreCase): FilterScoreOutcome {
  return judgedNodes(frameworkOf(recorded), createPodInfo(recorded.pod), new CycleState()).judged;
}

/** How the plugins judge the nodes, in the form of the recording, and the nodes that fit, in their order. */
export function judgedNodes(framework: Framework, pod: PodInfo, state: CycleState): JudgedNodes {
  const { nodes } = framework.snapshot();
  const { feasible, diagnosis } = findNodesThatFit(framework, state, pod, 0);
  const { rest, isRejectedAsSuch, failures, rejectors } = diagnosis;
  const judged: FilterScoreOutcome = {
    order: nodes.map(({ name }) => name),
    ...(rest !== undefined && { [isRejectedAsSuch ? 'preFilter' : 'rest']: failureOf(rest) }),
    failed: Object.fromEntries([...failures].map(([name, failure]) => [name, failureOf(failure)])),
    rejectors: [...rejectors].sort(),
  };
  if (feasible.length === 0) return { judged: { ...judged, message: new FitError(pod.pod, diagnosis).message }, feasible };
  const inOrder = nodes.filter((node) => feasible.includes(node));
  return { judged: { ...judged, ...worthOf(inOrder, prioritizeNodes(framework, state, pod, inOrder)) }, feasible: inOrder };
}

export interface JudgedNodes {
  readonly judged: FilterScoreOutcome;
  readonly feasible: readonly NodeInfo[];
}

function failureOf({ plugin, code, reasons }: PluginRejection): RecordedFailure {
  return { ...(plugin !== '' && { plugin }), code, reasons };
}

function worthOf(nodes: readonly NodeInfo[], { totals, plugins }: NodeScores): FilterScoreOutcome {
  const scoresAt = (index: number): RecordedScores['scores'] =>
    Object.fromEntries(
      plugins.map(({ plugin, weight, raw, normalized }) => {
        const score = normalized[index] ?? Number.NaN;
        return [plugin, [raw[index] ?? Number.NaN, score, score * weight]];
      }),
    );
  return {
    feasible: Object.fromEntries(
      nodes.map(({ name }, index) => [name, { scores: scoresAt(index), total: totals[index] ?? Number.NaN }]),
    ),
    best: bestHosts(totals)
      .map((index) => nodes[index]?.name ?? '')
      .sort(),
  };
}
