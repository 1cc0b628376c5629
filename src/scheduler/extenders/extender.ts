// Behaviour of HTTPExtender, pkg/scheduler/extender.go, v1.36.3.

import type { WirePod } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { RequestGuard } from '../../client/transport/request-guard.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { ExtenderConnection } from './extender-connection.ts';
import type { CheckedExtender } from './extender-options.ts';
import {
  type AnsweredVictims,
  bindAnswer,
  bindRequest,
  filterAnswer,
  nodesRequest,
  type PreemptionCandidate,
  preemptAnswer,
  preemptRequest,
  prioritizeAnswer,
} from './extender-wire.ts';

/** Why an extender left a node out. */
export interface ExtenderRefusal {
  readonly code: 'Unschedulable' | 'UnschedulableAndUnresolvable';
  readonly reason: string;
}

/** The nodes that an extender left, in its order, and why the others are not among them as far as it says: of any names. */
export interface ExtenderFilterResult {
  readonly feasible: readonly NodeInfo[];
  readonly refusals: ReadonlyMap<string, ExtenderRefusal>;
}

/** So much of a reason is kept, in characters: it goes into conditions and events. */
const longestReason = 1000;

type Container = NonNullable<NonNullable<WirePod['spec']>['containers']>[number];

/** One program behind HTTP that has a say in where pods go. What goes wrong rejects; nothing that it answers is believed unchecked. */
export class Extender {
  readonly options: CheckedExtender;
  readonly #connection: ExtenderConnection;
  readonly #managed: ReadonlySet<string>;

  /** Throws ERR_INVALID_OPTION for a TLS file that cannot be read. */
  constructor(options: CheckedExtender, clock: SteadyClock) {
    this.options = options;
    this.#connection = new ExtenderConnection(options, clock);
    this.#managed = new Set(options.managedResources.map(({ name }) => name));
  }

  /** The address of the extender as people see it. */
  get name(): string {
    return this.#connection.shownAddress;
  }

  /** True where the extender manages nothing, or something that the pod asks for. */
  isInterestedIn({ pod: { spec } }: PodInfo): boolean {
    if (this.#managed.size === 0) return true;
    return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some((container) => this.#asksForManaged(container));
  }

  async filter(pod: PodInfo, nodes: readonly NodeInfo[], signal: AbortSignal): Promise<ExtenderFilterResult> {
    const { filterVerb: verb, nodeCacheCapable } = this.options;
    const body = nodesRequest(pod.pod, nodes, nodeCacheCapable);
    const answer = filterAnswer(await this.#connection.post({ verb, body, signal }), nodeCacheCapable);
    if (answer.error !== '') throw new Error(answer.error.slice(0, longestReason));
    const asked = new Map(nodes.map((node) => [node.name, node]));
    const feasible = new Set<NodeInfo>();
    for (const name of answer.nodeNames ?? []) {
      const node = asked.get(name);
      if (node === undefined) throw new Error(`it named the node "${name.slice(0, 253)}", of which it was not asked`);
      feasible.add(node);
    }
    return { feasible: [...feasible], refusals: refusalsOf(answer) };
  }

  /** The scores of the nodes, not weighed yet, by the names of the nodes. */
  async prioritize(pod: PodInfo, nodes: readonly NodeInfo[], signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const { prioritizeVerb: verb, nodeCacheCapable } = this.options;
    const body = nodesRequest(pod.pod, nodes, nodeCacheCapable);
    return prioritizeAnswer(await this.#connection.post({ verb, body, signal }));
  }

  /** What is left of the candidates, in the extender's order. Each pod that it names is on the node, and of a lower priority. */
  async narrow(
    pod: PodInfo,
    candidates: readonly PreemptionCandidate[],
    nodeOf: (name: string) => Pick<NodeInfo, 'pods'> | undefined,
    signal: AbortSignal,
  ): Promise<readonly PreemptionCandidate[]> {
    const { preemptVerb: verb, nodeCacheCapable } = this.options;
    const body = preemptRequest(pod.pod, candidates, nodeCacheCapable);
    const answer = preemptAnswer(await this.#connection.post({ verb, body, signal }));
    const asked = new Set(candidates.map(({ nodeName }) => nodeName));
    return answer.map((one) => {
      if (!asked.has(one.nodeName))
        throw new Error(`it named the node "${one.nodeName.slice(0, 253)}", of which it was not asked`);
      return candidateOf(one, pod, nodeOf(one.nodeName)?.pods ?? []);
    });
  }

  /** `guard` is asked right before the request is written. */
  async bind(pod: PodInfo, nodeName: string, signal: AbortSignal, guard: RequestGuard): Promise<void> {
    const request = { verb: this.options.bindVerb, body: bindRequest(pod, nodeName), signal, guard };
    const error = bindAnswer(await this.#connection.post(request));
    if (error !== '') throw new Error(error.slice(0, longestReason));
  }

  /** Ends every socket. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  #asksForManaged({ resources }: Container): boolean {
    const names = [...Object.keys(resources?.requests ?? {}), ...Object.keys(resources?.limits ?? {})];
    return names.some((name) => this.#managed.has(name));
  }
}

/** What no end of other pods would change counts before what it would. */
function refusalsOf({ failed, unresolvable }: ReturnType<typeof filterAnswer>): ReadonlyMap<string, ExtenderRefusal> {
  const refusals = new Map<string, ExtenderRefusal>();
  const add = (code: ExtenderRefusal['code'], reasons: ReadonlyMap<string, string>): void => {
    for (const [name, reason] of reasons) refusals.set(name, { code, reason: reason.slice(0, longestReason) });
  };
  add('Unschedulable', failed);
  add('UnschedulableAndUnresolvable', unresolvable);
  return refusals;
}

function candidateOf(answered: AnsweredVictims, preemptor: PodInfo, pods: readonly PodInfo[]): PreemptionCandidate {
  const { nodeName, podUIDs = [], budgetViolations } = answered;
  const victims = [...new Set(podUIDs)].map((uid) => {
    const victim = pods.find((pod) => pod.uid === uid);
    const named = `it named the pod of uid "${uid.slice(0, 64)}" on the node ${nodeName}`;
    if (victim === undefined) throw new Error(`${named}, which is not there`);
    if (victim.priority >= preemptor.priority) throw new Error(`${named}, whose priority is no lower`);
    return victim;
  });
  return { nodeName, victims, budgetViolations };
}
