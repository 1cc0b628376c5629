// Rules of pkg/scheduler/framework/preemption and plugins/defaultpreemption, v1.36.3.
import type { WirePod } from '../../api/json/types.ts';
import type { ClusterEventWithHint } from '../framework/cluster-event.ts';
import type { CycleState } from '../framework/cycle-state.ts';
import { fitMessage } from '../framework/fit-message.ts';
import type { PluginHandle } from '../framework/handle.ts';
import type { NodeFailures, Plugin, PostFilterAnswer } from '../framework/plugin.ts';
import type { Rejection } from '../framework/status.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { type DefaultPreemptionArguments, defaultPreemptionArguments, enoughCandidates } from './arguments.ts';
import { bestCandidates } from './best-candidate.ts';
import { Budgets } from './budgets.ts';
import { type CandidateSearch, findCandidates } from './candidates.ts';
import { whyNotEligible } from './eligibility.ts';

/**
 * Makes room for a pod that fits nowhere: on the node where it costs least, pods of a lower priority are to be deleted, and
 * the pod is promised that node. It changes nothing itself: its answer says what is to be done.
 *
 * A pod whose victims are being deleted is not tried before they are.
 */
export class DefaultPreemption implements Plugin {
  readonly name = 'DefaultPreemption';
  readonly #args: DefaultPreemptionArguments;
  readonly #handle: PluginHandle;

  /** Throws ERR_INVALID_OPTION where the arguments break a rule. */
  constructor(args: unknown, handle: PluginHandle) {
    this.#args = defaultPreemptionArguments(args);
    this.#handle = handle;
  }

  /** The end of a victim does not let the pod in by itself: what the other plugins wait for decides. */
  eventsToRegister(): readonly ClusterEventWithHint[] {
    return [{ resource: 'Pod', actions: ['Delete'], hint: () => 'Skip' }];
  }

  preEnqueue(pod: WirePod): Rejection | undefined {
    return this.#handle.isPreempting(pod.metadata?.uid ?? '') ? stillPreempting : undefined;
  }

  postFilter(state: CycleState, pod: PodInfo, failed: NodeFailures): PostFilterAnswer {
    const snapshot = this.#handle.snapshot();
    const reason = whyNotEligible(pod, failed, snapshot);
    if (reason !== undefined) return { nominatedNodeName: undefined, message: `preemption: ${reason}` };
    const { candidates, notHelped } = this.#search(state, pod, potentialNodes(snapshot.nodes, failed));
    const best = bestCandidates(candidates, this.#handle.now());
    const chosen = best[Math.floor(this.#handle.random() * best.length)] ?? best[0];
    if (chosen === undefined) return notHelpful(snapshot.nodes, notHelped);
    const { nodeName, victims } = chosen;
    const actions = victims.map((victim) => ({ kind: 'evict', victim, nodeName }) as const);
    return { nominatedNodeName: nodeName, message: '', actions };
  }

  #search(state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): CandidateSearch {
    const handle = this.#handle;
    const offset = Math.floor(handle.random() * nodes.length);
    const budgets = new Budgets((namespace) => handle.listers.podDisruptionBudgets(namespace));
    const enough = enoughCandidates(this.#args, nodes.length);
    return findCandidates({ pod, state, handle, budgets, nowMs: handle.now() }, nodes, { offset, enough });
  }
}

/** The nodes where the end of other pods may help. */
export function potentialNodes(nodes: readonly NodeInfo[], failed: NodeFailures): readonly NodeInfo[] {
  return nodes.filter(({ name }) => failed.get(name)?.code === 'Unschedulable');
}

function notHelpful(nodes: readonly NodeInfo[], notHelped: CandidateSearch['notHelped']): PostFilterAnswer {
  const reasons = nodes.map(({ name }) => notHelped.get(name)?.reasons ?? ['Preemption is not helpful for scheduling']);
  return { nominatedNodeName: '', message: `preemption: ${fitMessage(nodes.length, reasons)}` };
}

const stillPreempting: Rejection = {
  code: 'UnschedulableAndUnresolvable',
  reasons: ['waiting for the preemption for this pod to be finished'],
};
