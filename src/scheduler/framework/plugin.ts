import type { WirePod } from '../../api/json/types.ts';
import type { NodeInfo, Snapshot } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { ClusterEventWithHint } from './cluster-event.ts';
import type { CycleState } from './cycle-state.ts';
import type { PluginRejection, Rejection } from './status.ts';

/** The highest score that a plugin may give, after normalisation. The lowest is 0. */
export const maxNodeScore = 100;

/**
 * A part of the scheduler. It takes part at those extension points whose methods it has. All of them up to `permit` are
 * called with no wait between them, so they must not return a promise; a plugin that throws ends the pod's attempt with an error.
 */
export interface Plugin {
  /** The name by which profiles choose the plugin. Reasons and errors name it. */
  readonly name: string;
  /** The changes that may help a pod which this plugin rejected. Without it every change does. */
  eventsToRegister?(): readonly ClusterEventWithHint[];
  /** Exactly one plugin of a scheduler has it: true where `first` is to be tried before `second`. */
  less?(first: QueuedPod, second: QueuedPod): boolean;
  /** A rejected pod is not tried before an update of its own. */
  preEnqueue?(pod: WirePod): Rejection | undefined;
  /** Works out once for the pod what `filter` needs, and may narrow the nodes or reject the pod as such. */
  preFilter?(state: CycleState, pod: PodInfo, snapshot: Snapshot): PreFilterAnswer;
  /** `pod` would be on `node`, too: brings the state of preFilter up to date. */
  addPod?(state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void;
  /** `pod` would be gone from `node`: brings the state of preFilter up to date. */
  removePod?(state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void;
  /** Whether the pod may go to the node: undefined, or why not. */
  filter?(state: CycleState, pod: PodInfo, node: NodeInfo): Rejection | undefined;
  /** Looks for a way to make room for a pod that fits nowhere. The first plugin that names a node decides. */
  postFilter?(state: CycleState, pod: PodInfo, failed: NodeFailures): PostFilterAnswer;
  /** `skip`: the plugin has nothing to say of this pod, and `score` is left out. */
  preScore?(state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): 'skip' | undefined;
  /** How good the node is for the pod; the higher, the better. After `normalizeScores` a score is from 0 to 100. */
  score?(state: CycleState, pod: PodInfo, node: NodeInfo): number;
  /** Brings the scores to 0 … 100, in place; they are in the order of `nodes`. */
  normalizeScores?(state: CycleState, pod: PodInfo, scores: number[], nodes: readonly NodeInfo[]): void;
  /** The pod has this node now. A rejection takes the node back. */
  reserve?(state: CycleState, pod: PodInfo, nodeName: string): Rejection | undefined;
  /** Undoes `reserve`; called also where the plugin's own `reserve` was not. */
  unreserve?(state: CycleState, pod: PodInfo, nodeName: string): void;
  /** Whether the pod may be bound: undefined, not at all, or after a wait. */
  permit?(state: CycleState, pod: PodInfo, nodeName: string): PermitAnswer;
  /** Runs beside other cycles before the pod is bound. A rejection ends the binding. */
  preBind?(state: CycleState, pod: PodInfo, nodeName: string, signal: AbortSignal): Promise<Rejection | undefined>;
  /** `skip`: another plugin is to bind the pod. */
  bind?(state: CycleState, pod: PodInfo, nodeName: string, signal: AbortSignal): Promise<'bound' | 'skip'>;
  /** The pod is bound. */
  postBind?(state: CycleState, pod: PodInfo, nodeName: string): void;
}

/** What the queue's order may look at. */
export interface QueuedPod {
  /** The pod that waits. */
  readonly podInfo: PodInfo;
  /** When the pod was put into the queue, or put back; milliseconds since 1970, which setting the clock does not move. */
  readonly timestamp: number;
}

/**
 * `skip`: the plugin has nothing to say of this pod, and `filter` is left out. With `nodeNames` only these nodes are looked
 * at; undefined: all of them.
 */
export type PreFilterAnswer = 'skip' | Rejection | { readonly nodeNames: ReadonlySet<string> } | undefined;

/** `wait`: the pod keeps its node and is bound when it is allowed, or rejected after so long. */
export type PermitAnswer = Rejection | { readonly waitMs: number } | undefined;

/**
 * Why each node does not fit, by the node's name. A node that is not in it was ruled out before the filters, and the end of
 * other pods would not help there. Where preFilter rejected the pod as such, every node has that rejection.
 */
export type NodeFailures = ReadonlyMap<string, PluginRejection>;

/** What postFilter found for a pod that fits nowhere. */
export interface PostFilterAnswer {
  /** The node where the pod will fit soon; an empty text clears what the pod has; undefined leaves it. */
  readonly nominatedNodeName: string | undefined;
  /** What the FitError's message ends with. */
  readonly message: string;
  /** What is to be done in the cluster before the pod may fit, such as the deletion of victims. */
  readonly actions?: readonly PostFilterAction[];
}

/** A pod that is to go so that another one fits. */
export interface PostFilterAction {
  /** The victim is deleted. */
  readonly kind: 'evict';
  /** The pod that is to go. */
  readonly victim: PodInfo;
  /** The node that the victim is on. */
  readonly nodeName: string;
}
