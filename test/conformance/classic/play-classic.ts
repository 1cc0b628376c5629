import { isStatusManagerError } from '../../../src/base/errors.ts';
import { equalPriority } from '../../../src/scheduler/classic/algorithm-registry.ts';
import { policyProfile } from '../../../src/scheduler/classic/policy-profile.ts';
import { findNodesThatFit, prioritizeNodes } from '../../../src/scheduler/cycle/algorithm.ts';
import { CycleState } from '../../../src/scheduler/framework/cycle-state.ts';
import { type Diagnosis, FitError, fitMessage } from '../../../src/scheduler/framework/fit-error.ts';
import type { Framework } from '../../../src/scheduler/framework/framework.ts';
import type { NodeInfo } from '../../../src/scheduler/nodes/node-info.ts';
import type { PodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import type { ClassicCase, ClassicOutcome, RecordedFailure, RecordedScores } from './classic-case.ts';
import { classicPodInfo, frameworkOf } from './classic-world.ts';
import { ourFault, type PolicyFault } from './policy-faults.ts';

/** A policy with several faults is refused for any one of them: these are ours. */
export interface ClassicPlayed extends ClassicOutcome {
  readonly faults?: readonly PolicyFault[];
}

/** Plays the case with our scheduler. Returns what it made of policy and pod, in the form of the recording. */
export function playClassic(recorded: ClassicCase): ClassicPlayed {
  const fault = faultOf(recorded.policy);
  if (fault !== undefined) return { policyError: fault, faults: [fault, ...faultsOfEntries(recorded.policy)] };
  const pod = classicPodInfo(recorded.pod);
  return judgedByPolicy(recorded, frameworkOf(recorded), pod, new CycleState()).judged;
}

/** What the framework of the policy makes of the pod, in the form of the recording, and the nodes that fit. */
export function judgedByPolicy(recorded: ClassicCase, framework: Framework, pod: PodInfo, state: CycleState) {
  const { profile } = framework;
  const { feasible, diagnosis } = findNodesThatFit(framework, state, pod, 0);
  const { rest } = diagnosis;
  const judged: ClassicOutcome = {
    filters: profile.points?.filter?.map(({ name }) => name) ?? [],
    weights: Object.fromEntries(profile.weights),
    order: framework.snapshot().nodes.map(({ name }) => name),
    ...(rest && { preFilter: { [rest.plugin]: { code: rest.code, reasons: rest.reasons } } }),
    failed: failuresOf(diagnosis),
    ...(!recorded.policy.alwaysCheckAllPredicates && { rejectors: [...diagnosis.rejectors].sort() }),
    ...(feasible.length === 0
      ? { message: classicMessage(new FitError(pod.pod, diagnosis)) }
      : scored(framework, state, pod, feasible)),
  };
  return { judged, feasible };
}

/** Where preFilter rejects a pod as such, v1.22 counted its reason for each node (C87). */
function classicMessage({ message, diagnosis }: FitError): string {
  const { nodes, rest, isRejectedAsSuch } = diagnosis;
  const asSuch = rest?.reasons.join(', ') ?? '';
  if (!isRejectedAsSuch || message !== `0/${nodes} nodes are available: ${asSuch}.`) return message;
  return fitMessage(nodes, new Array<readonly string[]>(nodes).fill(rest?.reasons ?? []));
}

function faultOf(policy: object): PolicyFault | undefined {
  try {
    policyProfile(JSON.stringify(policy));
    return undefined;
  } catch (error) {
    if (!isStatusManagerError(error, 'ERR_INVALID_OPTION')) throw error;
    return ourFault(error.message);
  }
}

/** The faults that entries have by themselves, and the one of those without such a fault together. */
function faultsOfEntries({ predicates = [], priorities = [], ...policy }: ClassicCase['policy']): PolicyFault[] {
  const predicateFault = (entry: object) => faultOf({ ...policy, predicates: [entry], priorities: [] });
  const priorityFault = (entry: object) => faultOf({ ...policy, predicates: [], priorities: [entry] });
  const sound = {
    ...policy,
    predicates: predicates.filter((entry) => predicateFault(entry) === undefined),
    priorities: priorities.filter((entry) => priorityFault(entry) === undefined),
  };
  const alone = [...predicates.map(predicateFault), ...priorities.map(priorityFault)];
  return [...alone, faultOf(sound)].filter((fault) => fault !== undefined);
}

function failuresOf({ failures }: Diagnosis): Record<string, Record<string, RecordedFailure>> {
  return Object.fromEntries(
    [...failures].map(([node, rejection]) => {
      const byPlugin = (rejection.parts ?? [rejection]).map(({ plugin, code, reasons }) => [plugin, { code, reasons }] as const);
      return [node, Object.fromEntries(byPlugin)];
    }),
  );
}

function scored(framework: Framework, state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): ClassicOutcome {
  const { totals, plugins } = prioritizeNodes(framework, state, pod, nodes);
  const feasible: Record<string, RecordedScores> = {};
  for (const [index, { name }] of nodes.entries()) {
    const scores: Record<string, [number, number, number]> = {};
    // a plugin with nothing to say of the pod is left out here, and gave 0 there
    for (const plugin of framework.profile.weights.keys()) scores[plugin] = [0, 0, 0];
    for (const { plugin, weight, raw, normalized } of plugins) {
      const score = normalized[index] ?? 0;
      if (plugin !== equalPriority) scores[plugin] = [raw[index] ?? 0, score, score * weight];
    }
    feasible[name] = { scores, total: totals[index] ?? 0 };
  }
  const best = nodes.filter((_node, index) => totals[index] === Math.max(...totals)).map(({ name }) => name);
  return { feasible, best: best.sort() };
}
