import type { NodeInfo, Snapshot } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { CycleState } from './cycle-state.ts';
import type { ExtensionPoint } from './extension-points.ts';
import type { Plugin, PreFilterAnswer } from './plugin.ts';
import type { SchedulerClient } from './scheduler-client.ts';
import type { PluginRejection } from './status.ts';

/** Objects beside pods and nodes that plugins ask for. Each list is what the watches have brought. */
export interface ClusterListers {
  /** The labels of a namespace; undefined for one that is not known. */
  namespaceLabels(name: string): Readonly<Record<string, string>> | undefined;
  /** The services of a namespace. */
  services(namespace: string): readonly SelectingObject[];
  /** The replication controllers of a namespace. */
  replicationControllers(namespace: string): readonly SelectingObject[];
  /** The replica sets of a namespace. */
  replicaSets(namespace: string): readonly SelectingObject[];
  /** The stateful sets of a namespace. */
  statefulSets(namespace: string): readonly SelectingObject[];
  /** The disruption budgets of a namespace. */
  podDisruptionBudgets(namespace: string): readonly SelectingObject[];
}

/** An object that selects pods, as it stands in JSON. The selector of services and replication controllers is a map of labels. */
export interface SelectingObject {
  /** What names the object. */
  readonly metadata?: {
    /** The name of the object. */
    readonly name?: string;
    /** The namespace of the object. */
    readonly namespace?: string;
    /** The labels of the object itself, not of the pods that it selects. */
    readonly labels?: Readonly<Record<string, string>>;
  };
  /** What is wanted of the object. */
  readonly spec?: {
    /** Which pods it selects. */
    readonly selector?: unknown;
  };
  /** What the object's controller says of it. */
  readonly status?: unknown;
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
  /** The objects beside pods and nodes. */
  readonly listers: ClusterListers;
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
  /** From 0 up to 1. */
  random(): number;
  /** Milliseconds since 1970. */
  now(): number;
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
  /** How many per cent of the nodes are to be found feasible before the search ends; 0, the default: fewer the more nodes there are. */
  readonly percentageOfNodesToScore?: number;
}
