import { resources } from '../../../src/client/resources/api-resource.ts';
import { findNodesThatFit } from '../../../src/scheduler/cycle/algorithm.ts';
import { CycleState } from '../../../src/scheduler/framework/cycle-state.ts';
import { type Diagnosis, FitError } from '../../../src/scheduler/framework/fit-error.ts';
import type { Framework } from '../../../src/scheduler/framework/framework.ts';
import type { PluginRejection } from '../../../src/scheduler/framework/plugin.ts';
import { createPodInfo, type PodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { Budgets, bestCandidates, findCandidates } from '../../../src/scheduler/preemption/candidates.ts';
import { potentialNodes, whyNotEligible } from '../../../src/scheduler/preemption/default-preemption.ts';
import type { RecordedFailure } from '../scheduling/recorded-cluster.ts';
import type { PreemptCase, PreemptOutcome } from './preempt-case.ts';
import { frameworkOf } from './preempt-world.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Plays the case with our plugins. Returns what they would do, in the form of the recording. */
export function playPreempt(recorded: PreemptCase): PreemptOutcome {
  const framework = frameworkOf(recorded);
  const pod = createPodInfo(recorded.pod);
  const state = new CycleState();
  const { feasible, diagnosis } = findNodesThatFit(framework, state, pod, 0);
  if (feasible.length > 0) return { fits: feasible.map(({ name }) => name).sort() };
  const { message } = new FitError(pod.pod, diagnosis);
  const failed = new Map(framework.snapshot().nodes.map(({ name }) => [name, failureAt(name, diagnosis)]));
  return { failed: recordedFailures(failed), message, ...preemptionOf(framework, { pod, state, failed, diagnosis }) };
}

interface Attempt {
  readonly pod: PodInfo;
  readonly state: CycleState;
  readonly failed: ReadonlyMap<string, PluginRejection>;
  readonly diagnosis: Diagnosis;
}

function preemptionOf(framework: Framework, { pod, state, failed, diagnosis }: Attempt): PreemptOutcome {
  const out: Writable<PreemptOutcome> = {};
  const snapshot = framework.snapshot();
  const reason = whyNotEligible(pod, failed, snapshot);
  if (reason !== undefined) out.notEligible = reason;
  else {
    const potential = potentialNodes(snapshot.nodes, failed);
    const nowMs = framework.clock.now();
    const budgets = new Budgets((namespace) => framework.objects(resources.podDisruptionBudgets).list(namespace));
    const search = { pod, state, handle: framework, budgets, nowMs };
    const { candidates, notHelped } = findCandidates(search, potential, { offset: 0, enough: Number.POSITIVE_INFINITY });
    out.potential = potential.map(({ name }) => name).sort();
    out.candidates = Object.fromEntries(
      candidates.map(({ nodeName, victims, budgetViolations }) => [
        nodeName,
        { victims: victims.map(({ key }) => key), ...(budgetViolations > 0 && { pdbViolations: budgetViolations }) },
      ]),
    );
    out.notHelped = recordedFailures(notHelped);
    out.best = bestCandidates(candidates, nowMs)
      .map(({ nodeName }) => nodeName)
      .sort();
  }
  const answer = framework.postFilter(state, pod, diagnosis);
  if ((out.best?.length ?? 0) > 0) {
    // the plugin as a whole has to choose what its parts found
    return out.best?.includes(answer?.nominatedNodeName ?? '') ? out : { ...out, best: [answer?.nominatedNodeName ?? 'none'] };
  }
  return { ...out, result: answer?.message ?? '', clearNominated: answer?.nominatedNodeName === '' };
}

function failureAt(name: string, { failures, rest }: Diagnosis): PluginRejection {
  const rejection = failures.get(name) ?? rest;
  if (rejection === undefined) throw new Error(`nothing is said of the node ${name}`);
  return rejection;
}

function recordedFailures(failed: ReadonlyMap<string, PluginRejection>): Record<string, RecordedFailure> {
  return Object.fromEntries(
    [...failed].map(([name, { plugin, code, reasons }]) => [name, { ...(plugin !== '' && { plugin }), code, reasons }]),
  );
}
