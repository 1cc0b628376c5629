// Rules of pkg/scheduler/framework/preemption and plugins/defaultpreemption, v1.36.3.

import type { V1PodDisruptionBudget } from '@kubernetes/client-node';
import type { Wire, WirePod } from '../../api/json/types.ts';
import { invalidOption } from '../../base/errors.ts';
import { integerOption, numberOption, requireKnownOptions } from '../../base/options.ts';
import { resources } from '../../client/resources/api-resource.ts';
import type { ObjectLister } from '../framework/cluster-objects.ts';
import type { CycleState } from '../framework/cycle-state.ts';
import { fitMessage } from '../framework/fit-error.ts';
import type {
  ClusterEventWithHint,
  NarrowCandidates,
  NodeFailures,
  Plugin,
  PluginHandle,
  PostFilterAnswer,
  Rejection,
} from '../framework/plugin.ts';
import type { NodeInfo, Snapshot } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { Budgets, bestCandidates, type CandidateSearch, findCandidates } from './candidates.ts';

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
  readonly #budgets: ObjectLister<Wire<V1PodDisruptionBudget>>;

  /** Throws ERR_INVALID_OPTION where the arguments break a rule. */
  constructor(args: unknown, handle: PluginHandle) {
    this.#args = defaultPreemptionArguments(args);
    this.#handle = handle;
    this.#budgets = handle.objects(resources.podDisruptionBudgets);
  }

  /** The end of a victim does not let the pod in by itself: what the other plugins wait for decides. */
  eventsToRegister(): readonly ClusterEventWithHint[] {
    return [{ resource: 'Pod', actions: ['Delete'], hint: () => 'Skip' }];
  }

  preEnqueue(pod: WirePod): Rejection | undefined {
    return this.#handle.isPreempting(pod.metadata?.uid ?? '') ? stillPreempting : undefined;
  }

  postFilter(state: CycleState, pod: PodInfo, failed: NodeFailures): PostFilterAnswer {
    const found = this.#candidates(state, pod, failed);
    return 'message' in found ? found : this.#best(found.candidates);
  }

  async postFilterAwaited(
    state: CycleState,
    pod: PodInfo,
    failed: NodeFailures,
    narrow: NarrowCandidates,
  ): Promise<PostFilterAnswer> {
    const found = this.#candidates(state, pod, failed);
    return 'message' in found ? found : this.#best(await narrow(found.candidates));
  }

  /** At least one, or why there is none. */
  #candidates(state: CycleState, pod: PodInfo, failed: NodeFailures): PostFilterAnswer | Pick<CandidateSearch, 'candidates'> {
    const snapshot = this.#handle.snapshot();
    const reason = whyNotEligible(pod, failed, snapshot);
    if (reason !== undefined) return { nominatedNodeName: undefined, message: `preemption: ${reason}` };
    const { candidates, notHelped } = this.#search(state, pod, potentialNodes(snapshot.nodes, failed));
    return candidates.length === 0 ? notHelpful(snapshot.nodes, notHelped) : { candidates };
  }

  #best(candidates: CandidateSearch['candidates']): PostFilterAnswer {
    const best = bestCandidates(candidates, this.#handle.clock.now());
    const chosen = best[Math.floor(this.#handle.random() * best.length)] ?? best[0];
    // extenders have left none
    if (chosen === undefined) return { nominatedNodeName: undefined, message: 'preemption: no candidate node for preemption' };
    const { nodeName, victims } = chosen;
    const actions = victims.map((victim) => ({ kind: 'evict', victim, nodeName }) as const);
    return { nominatedNodeName: nodeName, message: '', actions };
  }

  #search(state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): CandidateSearch {
    const handle = this.#handle;
    const offset = Math.floor(handle.random() * nodes.length);
    const budgets = new Budgets((namespace) => this.#budgets.list(namespace));
    const enough = enoughCandidates(this.#args, nodes.length);
    return findCandidates({ pod, state, handle, budgets, nowMs: handle.clock.now() }, nodes, { offset, enough });
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

/** How many nodes DefaultPreemption looks at before it takes the best: the larger of the two, and never more than there are. */
interface DefaultPreemptionArguments {
  /** Of the nodes where the end of other pods may help; 0 to 100. Default: 10. */
  readonly minCandidateNodesPercentage: number;
  /** Default: 100. */
  readonly minCandidateNodesAbsolute: number;
}

const known = ['apiVersion', 'kind', 'minCandidateNodesPercentage', 'minCandidateNodesAbsolute'];

const name = 'DefaultPreemptionArgs';

/** Throws ERR_INVALID_OPTION for unknown members, a share outside 0 to 100, a negative number, and where both are 0. */
function defaultPreemptionArguments(args: unknown): DefaultPreemptionArguments {
  if (args !== undefined) requireKnownOptions(name, args, known);
  const given = (args ?? {}) as Partial<DefaultPreemptionArguments>;
  const percentage = integerOption(`${name}.minCandidateNodesPercentage`, given.minCandidateNodesPercentage ?? 10, 0);
  numberOption(`${name}.minCandidateNodesPercentage`, percentage, 0, 100);
  const absolute = integerOption(`${name}.minCandidateNodesAbsolute`, given.minCandidateNodesAbsolute ?? 100, 0);
  if (percentage === 0 && absolute === 0) {
    throw invalidOption(`${name}.minCandidateNodesAbsolute`, 'at least 1 where minCandidateNodesPercentage is 0', absolute);
  }
  return { minCandidateNodesPercentage: percentage, minCandidateNodesAbsolute: absolute };
}

/** How many candidates are enough, of so many nodes that could become one. */
function enoughCandidates(args: DefaultPreemptionArguments, nodeCount: number): number {
  const share = Math.floor((nodeCount * args.minCandidateNodesPercentage) / 100);
  return Math.min(Math.max(share, args.minCandidateNodesAbsolute), nodeCount);
}

// Rules of PodEligibleToPreemptOthers, pkg/scheduler/framework/plugins/defaultpreemption, v1.36.3.

/** Why the pod may not preempt others now; undefined where it may. */
export function whyNotEligible(pod: PodInfo, failed: NodeFailures, snapshot: Snapshot): string | undefined {
  if (pod.pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nodeName = pod.pod.status?.nominatedNodeName ?? '';
  // no victim's end would make room on such a node, so the pod does not wait for one
  if (nodeName === '' || failed.get(nodeName)?.code !== 'Unschedulable') return undefined;
  const victims = snapshot.get(nodeName)?.pods ?? [];
  return victims.some((victim) => victim.priority < pod.priority && isEndingByPreemption(victim))
    ? 'not eligible due to a terminating pod on the nominated node.'
    : undefined;
}

/** True for a pod that ends because a scheduler has made room. */
export function isEndingByPreemption({ pod: { metadata, status } }: PodInfo): boolean {
  if ((metadata?.deletionTimestamp ?? undefined) === undefined) return false;
  const condition = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  return condition?.status === 'True' && condition.reason === 'PreemptionByScheduler';
}
