import type { WireNode, WirePod } from '../../api/json/types.ts';
import type { Clock } from '../../base/clock.ts';
import type { ApiObject, ApiResource } from '../../client/resources/api-resource.ts';
import type { JsonMembers } from '../../client/transport/api-answer.ts';
import type { ExtenderOptions } from '../extenders/extender-options.ts';
import type { PreemptionCandidate } from '../extenders/extender-wire.ts';
import type { NodeInfo, Snapshot } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { NamedResource, ObjectLister } from './cluster-objects.ts';
import type { CycleState } from './cycle-state.ts';
import type { SchedulerClient } from './scheduler-client.ts';

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
  /**
   * What `filter` and `score` look at of this pod, in a text. For pods with the same text the scheduler keeps what they said of a node until the
   * node or a pod on it changes, so they must look at nothing else: no other nodes, no other objects, no time, no state but what `preFilter` and
   * `preScore` made of the pod. Undefined: for this pod they are asked anew. Where one plugin that filters or scores lacks this method,
   * nothing is kept for any pod of its profile. A plugin that changes `filter` or `score` of another one must not take over its signature.
   * A `filter` with a signature may also be asked about a node that a filter before it rejects: what it throws then is left out of account.
   * Anything but a string or undefined ends the pod's attempt with an error, as does a signature that throws. It is not asked for each pod.
   */
  signature?(pod: PodInfo): string | undefined;
  /** Whether the pod may go to the node: undefined, or why not. */
  filter?(state: CycleState, pod: PodInfo, node: NodeInfo): Rejection | undefined;
  /** Looks for a way to make room for a pod that fits nowhere. The first plugin that names a node decides. */
  postFilter?(state: CycleState, pod: PodInfo, failed: NodeFailures): PostFilterAnswer;
  /**
   * Asked in place of `postFilter` where extenders have a say in the pod: `narrow` asks them which candidates they leave. Nothing but that may
   * be waited for. A plugin that has it has `postFilter`, too.
   */
  postFilterAwaited?(state: CycleState, pod: PodInfo, failed: NodeFailures, narrow: NarrowCandidates): Promise<PostFilterAnswer>;
  /** `skip`: the plugin has nothing to say of this pod, and `score` is left out. */
  preScore?(state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): 'skip' | undefined;
  /** How good the node is for the pod; the higher, the better. After `normalizeScores` a score is from 0 to 100. */
  score?(state: CycleState, pod: PodInfo, node: NodeInfo): number;
  /** Brings the scores to 0 … 100, in place; they are in the order of `nodes`. */
  normalizeScores?(state: CycleState, pod: PodInfo, scores: number[], nodes: readonly NodeInfo[]): void;
  /** The pod has this node now. A rejection takes the node back. */
  reserve?(state: CycleState, pod: PodInfo, nodeName: string): Rejection | undefined;
  /**
   * Undoes `reserve`; called also where the plugin's own `reserve` was not. What takes time is a promise, which `flush()` waits for. The
   * signal aborts once nothing may be written any more, and has aborted where the pod may be on its node all the same.
   */
  unreserve?(state: CycleState, pod: PodInfo, nodeName: string, signal: AbortSignal): void | Promise<void>;
  /** Whether the pod may be bound: undefined, not at all, or after a wait. */
  permit?(state: CycleState, pod: PodInfo, nodeName: string): PermitAnswer;
  /** Asked once the pod has its node: `skip` where `preBind` has nothing to do for it. Without it `preBind` is asked for every pod. */
  preBindPreFlight?(state: CycleState, pod: PodInfo, nodeName: string): 'skip' | undefined;
  /** How long `preBind` may take for a pod, in milliseconds. Default: the scheduler's `bindTimeoutMs`. */
  readonly preBindTimeoutMs?: number;
  /** What `preBind` waits for, to be told to people: "the volumes of default/data". */
  preBindWaitsFor?(state: CycleState, pod: PodInfo, nodeName: string): string | undefined;
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

/** Asks the extenders which candidates they leave, and with which victims. */
export type NarrowCandidates = (candidates: readonly PreemptionCandidate[]) => Promise<readonly PreemptionCandidate[]>;

/** What is to be done in the cluster so that a pod fits. */
export type PostFilterAction = EvictAction | ChangeAction;

/** Another change than the end of a pod. The pod may be tried meanwhile, and is tried again where the change fails. */
export interface ChangeAction {
  /** Something else is written. */
  readonly kind: 'change';
  /** What is said where it fails: "the devices of claim default/gpu could not be given back". */
  readonly what: string;
  /** Carries it out. Settles soon after the signal aborts. */
  change(signal: AbortSignal): Promise<void>;
}

/** A pod that is to go so that another one fits. */
export interface EvictAction {
  /** The victim is deleted. */
  readonly kind: 'evict';
  /** The pod that is to go. */
  readonly victim: PodInfo;
  /** The node that the victim is on. */
  readonly nodeName: string;
}

/** The pods that are to go. */
export function evictionsOf(actions: readonly PostFilterAction[] | undefined): readonly EvictAction[] {
  return (actions ?? []).filter((action) => action.kind === 'evict');
}

/** The name of a point at which plugins take part. */
export type ExtensionPoint =
  | 'preEnqueue'
  | 'queueSort'
  | 'preFilter'
  | 'filter'
  | 'postFilter'
  | 'preScore'
  | 'score'
  | 'reserve'
  | 'permit'
  | 'preBind'
  | 'bind'
  | 'postBind';

/** The points at which plugins take part, in the order in which a pod meets them, with the method of the plugin. */
export const extensionPoints = {
  preEnqueue: 'preEnqueue',
  queueSort: 'less',
  preFilter: 'preFilter',
  filter: 'filter',
  postFilter: 'postFilter',
  preScore: 'preScore',
  score: 'score',
  reserve: 'reserve',
  permit: 'permit',
  preBind: 'preBind',
  bind: 'bind',
  postBind: 'postBind',
} as const satisfies Record<ExtensionPoint, keyof Plugin>;

/** A plugin that has the method of this point. */
export type PluginAt<Point extends ExtensionPoint> = Plugin & Required<Pick<Plugin, (typeof extensionPoints)[Point]>>;

/** The plugins that take part at one point, in their order. */
export function pluginsAt<Point extends ExtensionPoint>(profile: ProfilePlugins, point: Point): readonly PluginAt<Point>[] {
  const method = extensionPoints[point];
  const takesPart = (plugin: Plugin): plugin is PluginAt<Point> => typeof plugin[method] === 'function';
  return (profile.points?.[point] ?? profile.plugins).filter(takesPart);
}

/** Pods that were promised a node while their victims end. */
export interface NominatedPods {
  /** The pods that were promised this node. */
  onNode(nodeName: string): readonly PodInfo[];
}

/** What a plugin may use of the scheduler it is in. It is asked in a cycle only: before the first one there is no snapshot. */
export interface PluginHandle {
  /** The nodes and their pods, as the cycle sees them. */
  snapshot(): Snapshot;
  /** The node as it is at this moment, also between cycles: for preBind and bind. Undefined where it is gone. */
  node(name: string): WireNode | undefined;
  /**
   * The objects of a resource beside pods and nodes, custom ones too. Ask for them while the plugin is made: the scheduler then follows the
   * resource. Throws TypeError for a resource that is asked for later and that nothing follows, and ERR_INVALID_OPTION for pods and nodes,
   * which are in `snapshot()`.
   */
  objects<T extends ApiObject>(resource: ApiResource<T>): ObjectLister<T>;
  /** The pods that were promised a node. */
  readonly nominated: NominatedPods;
  /** What writes to the cluster. A cycle does not wait for it: it is for preBind, bind and what comes after. */
  readonly client: SchedulerClient;
  /** Runs preFilter of all plugins on this state, as the cycle does. Its answer says which nodes are left to look at. */
  runPreFilters(state: CycleState, pod: PodInfo): PluginRejection | PreFilterAnswer;
  /** The first rejection of the filters, nominated pods counted as upstream counts them. */
  runFiltersWithNominated(state: CycleState, pod: PodInfo, node: NodeInfo): PluginRejection | undefined;
  /** Tells every plugin's addPod. */
  runAddPod(state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void;
  /** Tells every plugin's removePod. */
  runRemovePod(state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void;
  /** True while the victims of this pod are being deleted: it is not tried meanwhile. */
  isPreempting(podUID: string): boolean;
  /** The value that all profiles of the scheduler share under this key; the first plugin that asks makes it. */
  shared<T>(key: SharedKey<T>, make: () => T): T;
  /** From 0 up to 1. */
  random(): number;
  /** Where the time comes from, and timers. */
  readonly clock: Clock;
}

/** Names what the plugins of all profiles share; made once by `sharedKey`, so that no two plugins share one by chance. */
export interface SharedKey<T> {
  /** For people. Two keys with one name are still two keys. */
  readonly name: string;
  /** Never set: it ties the key to the type of its value. */
  readonly value?: T;
}

/**
 * A key of its own for what the plugins of all profiles share. `name` is for people.
 *
 * @example
 * ```ts
 * import { sharedKey } from 'pod-status-manager/scheduler';
 *
 * const countKey = sharedKey<{ count: number }>('MyPlugin');
 * console.log(countKey.name); // MyPlugin
 * ```
 */
export function sharedKey<T>(name: string): SharedKey<T> {
  return { name };
}

/** Makes a plugin from its arguments, which are checked: throws ERR_INVALID_OPTION for what it does not know. */
export type PluginFactory = (args: unknown, handle: PluginHandle) => Plugin;

/** The plugins of one profile at each extension point, in their order. */
export interface ProfilePlugins {
  /** The `spec.schedulerName` of the pods that this profile schedules. */
  readonly schedulerName: string;
  /** The plugins, in the order in which they are asked. */
  readonly plugins: readonly Plugin[];
  /** By the plugin's name; 1 where it is not listed. */
  readonly weights: ReadonlyMap<string, number>;
  /** At these points these plugins stand in place of `plugins`, in this order. */
  readonly points?: Readonly<Partial<Record<ExtensionPoint, readonly Plugin[]>>>;
  /** All filters look at a node, also after one has rejected it. Default: the first rejection is enough. */
  readonly checkAllFilters?: boolean;
  /** Extenders that have a say in this profile alone, beside those of the scheduler. */
  readonly extenders?: readonly ExtenderOptions[];
  /** True: pods of a pod group are placed as all others, one by one. Default: they are refused, because this scheduler places no groups. */
  readonly takesPodGroups?: boolean;
  /** How many per cent of the nodes are to be found feasible before the search ends; 0, the default: fewer the more nodes there are. */
  readonly percentageOfNodesToScore?: number;
}

/** What changed; `*` stands for everything. */
export type EventResource = 'Pod' | 'Node' | NamedResource | '*';

/** How it changed. */
export type EventAction =
  | 'Add'
  | 'Delete'
  | 'UpdateNodeAllocatable'
  | 'UpdateNodeLabel'
  | 'UpdateNodeTaint'
  | 'UpdateNodeCondition'
  | 'UpdateNodeAnnotation'
  | 'UpdatePodLabel'
  | 'UpdatePodScaleDown'
  | 'UpdatePodToleration'
  | 'UpdatePodSchedulingGatesEliminated'
  | 'UpdatePodGeneratedResourceClaim'
  | 'Update'
  | '*';

/** `Queue`: the change may help the pod, which is tried again. `Skip`: it cannot. */
export type QueueingHint = 'Queue' | 'Skip';

/** A kind of change that may make a pod schedulable that a plugin rejected. */
export interface ClusterEventWithHint {
  /** What changes; a resource without a name of its own, such as a custom one, is given itself. */
  readonly resource: EventResource | ApiResource;
  /** How it changes; one of these is enough. `*` for every change. */
  readonly actions: readonly EventAction[];
  /**
   * Whether this change may help this pod. Without it every change of the kind does. `before` is undefined for what was
   * added, `after` for what was deleted. A hint that throws counts as `Queue`.
   */
  readonly hint?: (pod: WirePod, before: JsonMembers | undefined, after: JsonMembers | undefined) => QueueingHint;
}

/**
 * Why a plugin says no. `Unschedulable`: the end of other pods may help. `UnschedulableAndUnresolvable`: it would not.
 * `Pending`: the plugin waits for something outside, and says when to try again.
 */
export type RejectionCode = 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Pending';

/** What a plugin answers that does not agree. A plugin that agrees answers undefined; one that cannot say throws. */
export interface Rejection {
  /** What could help. */
  readonly code: RejectionCode;
  /** In words for people; equal reasons of several nodes are counted together. */
  readonly reasons: readonly string[];
}

/** A rejection, and whose it is. */
export interface PluginRejection extends Rejection {
  /** Empty where it is the answer of several plugins. */
  readonly plugin: string;
  /** Of a node that all filters have looked at: what each of them said that rejected it. */
  readonly parts?: readonly PluginRejection[];
}
