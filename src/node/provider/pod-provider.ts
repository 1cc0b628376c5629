import type { Duplex } from 'node:stream';
import type { Pod, PodStatus } from '../../api/json/types.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { GivenContainer } from '../pod-status/given-status.ts';
import type { StatsSummary } from '../server/stats-types.ts';
import type { ContainerStreams } from '../streams/container-streams.ts';
import type { PodHeldError } from './pod-held-error.ts';

/** A pod as a node hands it to its provider: with its uid, name and namespace, and a spec. */
export type NodePod = Pod & {
  readonly metadata: { readonly uid: string; readonly name: string; readonly namespace: string };
  /** Without containers where the node knows no more of the pod than its name: one that only the provider has. */
  readonly spec: NonNullable<Pod['spec']>;
  /** The files of its volumes, where the node has resolved them and writes none: with `createPod`, `updatePod` and `resolvePod`. */
  readonly files?: ResolvedFiles;
  /**
   * In place of `files` with the node's option `podFilesFolder`: the folder of each such volume, an absolute path, by the name of the
   * volume. The node keeps what is in it up to date until the pod has ended.
   */
  readonly volumeFolders?: Readonly<Record<string, string>>;
};

/** The files of a pod's volumes of config maps, secrets, fields and tokens: by the name of the volume, then by the path in it. */
export type ResolvedFiles = Readonly<Record<string, Readonly<Record<string, ResolvedFile>>>>;

/** A file of a volume. */
export interface ResolvedFile {
  /** What it holds. */
  readonly data: Uint8Array;
  /** Its permissions, such as 0o644. */
  readonly mode: number;
}

/** What a provider gets with each call. */
export interface ProviderCall {
  /** Aborts when the call should end soon: its pod is to end, the call takes too long, or the node stops. */
  readonly signal: AbortSignal;
}

/** What a provider gets with a call of `deletePod`. */
export interface DeletePodCall extends ProviderCall {
  /** How long the containers may take to end, in seconds, at least 1. */
  readonly gracePeriodSeconds: number;
}

/** Tells the node that something of a pod has changed: its uid, or the pod. The node then asks for its status. */
export type NotifyPods = (pod: string | Pod) => void;

/** What a node hands to its provider, so that it can tell of its pods what their status does not say. */
export interface ProviderTools {
  /** The node's logger. What it throws is ignored. */
  readonly logger: Logger;
  /** Writes events of the pods, which `kubectl describe` shows. It never waits, and what it throws is ignored. */
  readonly eventRecorder: EventRecorder;
  /**
   * The pod with the values and files that it would get now: for a container that is started again, or a token that is to be renewed.
   * The pod that counts is the newest one of the apiserver with this uid. With `rawPods` it comes as it is.
   *
   * Each call reads what the pod refers to anew, and asks for its tokens anew, unless the node has `podFilesFolder`: call it when a
   * container starts, or a token is about to end. Calls for one pod run one after another.
   *
   * Rejects with a {@link PodHeldError}, ERR_POD_HELD, while something is missing, with the signal's reason, with
   * ERR_INVALID_ARGUMENT for a pod that the node does not have, and with ERR_STOPPED once the node stops.
   */
  readonly resolvePod: (pod: Pod, options?: ResolvePodOptions) => Promise<NodePod>;
}

/** What of a pod is wanted, and for how long that is waited for. */
export interface ResolvePodOptions {
  /** Ends the call. */
  readonly signal?: AbortSignal;
  /** The names of the containers that are to have plain values; what the others lack does not matter. Default: all. */
  readonly containers?: readonly string[];
}

/** A container of a pod's spec. */
export type ContainerSpec = NodePod['spec']['containers'][number];

/** How a pod is: its status, or how each of its containers is; undefined or null: there is no such pod. */
export type PodAnswer = PodStatus | readonly GivenContainer[] | undefined | null;

/** What somebody asks for of a container's log. */
export interface ContainerLogRequest {
  /** True: what the container writes from now on is wanted as well, until it has ended or `signal` aborts. */
  readonly follow: boolean;
  /** The last so many lines alone; undefined: all. */
  readonly tailLines: number | undefined;
  /** What was written then or later alone; undefined: all. */
  readonly sinceTime: Date | undefined;
  /** True: each line begins with its time, as `2026-01-31T12:00:00.000000000Z`, and a space. */
  readonly timestamps: boolean;
  /** So many bytes at most. The node ends the answer there; undefined: no limit. */
  readonly limitBytes: number | undefined;
  /** True: the log of the container's run before the current one. */
  readonly previous: boolean;
  /** What was written to this output alone; undefined: both. */
  readonly stream: 'stdout' | 'stderr' | undefined;
}

/** A log: a text, or pieces of it as they come, such as a `Readable`. */
export type ContainerLog = string | Uint8Array | AsyncIterable<string | Uint8Array>;

/**
 * Runs pods, in whatever way, and keeps them by their `metadata.uid`: a name belongs to one pod after the other. Three methods
 * are enough: `createPod`, `deletePod` and `getPodStatus`. Any of them may return a promise, throw, reject, or take its time: no other pod waits meanwhile, but one
 * of the same full name, which is created once the earlier one is deleted. The pods that are handed over must not be changed.
 *
 * A pod comes to `createPod` and `updatePod` with plain values in the place of what it refers to: variables of config maps, secrets,
 * fields, resources and services, `$(NAME)` in commands, and the files of its volumes in `files`, or in folders with the node's option
 * `podFilesFolder`. It comes once all of that is there; `resolvePod` of {@link ProviderTools} gives newer values later on.
 * The other methods get it as it is on the apiserver, and so do all with the node's option `rawPods`. `admitPod` of the node refuses
 * pods that ask for what the provider cannot do.
 *
 * The node runs no probe of a pod: what `getPodStatus` says of `ready` and `started` of a container counts. A provider that
 * wants probes runs them itself, as with a `ProbeManager`.
 */
export interface PodProvider {
  /**
   * Begins to run the pod; settled means "begun", not "running". Called once for a pod that the provider does not have, and
   * again, later and later, each time that it has failed, also while `getPodStatus` then gives the phase Pending and no
   * container that runs. Never called while another `createPod` or `updatePod` of the pod has not settled: one that takes
   * longer than `changeTimeoutMs`, five minutes by default, must heed its signal, or the pod waits for it. A `PodRejectedError` says
   * that the pod will never run: it is Failed with that reason, and `deletePod` is called for what was begun.
   */
  createPod(pod: NodePod, call: ProviderCall): unknown;
  /**
   * The pod's spec, labels or annotations are other ones than those that the provider was last given. Repeated as `createPod`, whatever it throws.
   * A provider without this method is not told what changes of a pod while it runs.
   */
  updatePod?(pod: NodePod, call: ProviderCall): unknown;
  /**
   * Ends the pod and frees what it has used. The pod counts as ended once `getPodStatus` says that nothing of it runs. A call
   * that creates or updates the pod is aborted first, and waited for, at most for the grace period; where it settles later than
   * that, `deletePod` is called once more, at once. A pod that the apiserver keeps for the node stays there until `deletePod` has
   * succeeded or does not settle in time, or `getPodStatus` says that there is no such pod. Called again with a shorter grace
   * period, while the earlier call may still be under way, and, later and later, when it has failed or led to nothing.
   *
   * A provider that forgets the pod as soon as it has ended may resolve to a list of its containers, which says how each has
   * ended: `getPodStatus` cannot say it any more. The node ignores any other value.
   */
  deletePod(pod: NodePod, call: DeletePodCall): unknown;
  /**
   * The pod as it is now; undefined or null where there is none, and nothing of it runs. A provider that cannot say throws: what
   * was known then stays. `phase` is enough: what else a status has is filled in, and what the provider gives is kept. An answer
   * that the server would refuse counts as none, such as one with a bad address, or a whole pod.
   *
   * Of the conditions, the node finds out those that are the kubelet's itself; a Ready condition can only lower it. One of
   * another type, such as a readiness gate's, counts for Ready, but reaches the server only when the node was told that it
   * writes that type, for all pods: `statusManager: { ownedConditionTypes: ['example.com/gate'] }`. Otherwise the type is
   * another controller's, which writes it.
   *
   * A provider that runs containers may answer with a list of them instead: the status is then made of it and of the status
   * before, as by `podStatusFromContainers`. An empty list counts as no answer.
   */
  getPodStatus(pod: NodePod, call: ProviderCall): PodAnswer | Promise<PodAnswer>;
  /** Called once, at the start, before any pod is created. Without it each pod is asked about at an interval. */
  notifyPods?(notify: NotifyPods, tools: ProviderTools): unknown;
  /**
   * This process runs the pods of the node from now on. Called once at the start, after the first list of the apiserver and before
   * `getPods` and any call for a pod, with those pods that the cluster shows as begun and not ended: an earlier run of the agent, or another
   * process, has begun them. `status` has what that has told: restart counts, start times, addresses. What is not begun comes to `createPod`.
   *
   * Only the apiserver says what was begun, static pods too, by their mirror pods. So with this method no pod is run, a static pod either,
   * before the first list of the apiserver: what an earlier run has begun would be created twice.
   *
   * The start waits ten seconds for it. Where it fails it is called again half a second later, and less and less often, and the node begins
   * all the same: new pods are created. Of the pods it was given, one that `getPodStatus` does not know is neither created, nor lost, nor
   * deleted, nor counted as ended before `adopt` has succeeded. A provider without this method hears of such pods by `getPodStatus`, and `getPods` is
   * all that is asked at the start.
   */
  adopt?(pods: readonly NodePod[], call: ProviderCall): unknown;
  /**
   * This process has nothing to do with the pods of the node any more: they run on, for whoever runs the node next. Called once, at the
   * end of the node's `stop()`, when every other call of the provider has settled or was given up. It may take ten seconds, and not longer
   * than the stop; a failure is the problem `release` of the stopped node. A process that is killed does not call it.
   */
  release?(call: ProviderCall): unknown;
  /**
   * All pods of this node that the provider has, with their uids, also those that earlier runs of the agent have left. A pod
   * among them that no source of the node names is deleted; one whose `spec.nodeName` is another node's is left alone. After a
   * start, a pod that is not among them, and that `getPodStatus` does not know, is lost at once. The start waits ten seconds for the
   * list; one that fails is asked for again half a second later, and less and less often, until it is there. Without this method only
   * pods of this run are known.
   */
  getPods?(call: ProviderCall): readonly Pod[] | Promise<readonly Pod[]>;
  /** The log of a container. A request with `follow` is answered until the container has ended or the signal aborts: when the client is gone. */
  getContainerLogs?(
    pod: NodePod,
    container: string,
    request: ContainerLogRequest,
    call: ProviderCall,
  ): ContainerLog | Promise<ContainerLog>;
  /** Runs a command in a container, beside it. Resolves to the exit code of the command; undefined counts as 0. */
  runInContainer?(
    pod: NodePod,
    container: string,
    command: readonly string[],
    streams: ContainerStreams,
    call: ProviderCall,
  ): Promise<number | undefined>;
  /** Connects a client with the main process of a container. Resolves once that is over, to the exit code of the container if it has ended. */
  attachToContainer?(pod: NodePod, container: string, streams: ContainerStreams, call: ProviderCall): Promise<number | undefined>;
  /** Connects a client with a port of a pod. Resolves once the connection is over. */
  portForward?(pod: NodePod, port: number, stream: Duplex, call: ProviderCall): Promise<void>;
  /** What the node and its pods take, for `kubectl top` and `/stats/summary`. It may take 30 s. */
  getStatsSummary?(call: ProviderCall): StatsSummary | Promise<StatsSummary>;
  /**
   * What they take in the text format of Prometheus, for `/metrics/resource`, which metrics-server reads. It may take 30 s. Without it
   * the text is made of `getStatsSummary`.
   */
  getMetricsResource?(call: ProviderCall): string | Promise<string>;
}
