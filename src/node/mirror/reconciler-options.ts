import type { Pod } from '../../api/json/types.ts';
import { isMirrorPodOf, podUIDOf } from '../../api/pod/pod-identity.ts';
import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import { nodeNameOption } from '../../base/names.ts';
import {
  integerOption,
  longestTimerMs,
  numberOption,
  optionOfType,
  requireHandlers,
  requireKnownOptions,
  requireMethods,
} from '../../base/options.ts';
import { safeRandom } from '../../base/random.ts';
import type { ErrorClass } from '../../client/resources/error-class.ts';
import type { MirrorPodClient } from './mirror-pod-client.ts';
import type { MirrorPodManager } from './mirror-pods.ts';

/** Called after the request. What a handler throws, or rejects with, is logged and goes no further. */
export interface MirrorPodHandlers {
  /** A mirror pod was created. */
  mirrorPodCreated?(event: { readonly podFullName: string; readonly staticPod: Pod; readonly mirrorPod: Pod }): void;
  /** The server took the DELETE of a mirror pod. */
  mirrorPodDeleted?(event: { readonly podFullName: string; readonly uid: string; readonly reason: MirrorDeletionReason }): void;
  /** A request failed, or a name belongs to somebody else's pod; it is tried again. */
  failed?(failure: MirrorPodFailure): void;
}

/** A failure of one mirror pod. */
export interface MirrorPodFailure {
  /** The full name (`name_namespace`) of the static pod and its mirror pod. */
  readonly podFullName: string;
  /** `name`: the name belongs to a pod that is no mirror pod of this node. It stays as it is. */
  readonly verb: 'create' | 'delete' | 'read' | 'name';
  /** What the failure means. */
  readonly errorClass: ErrorClass;
  /** What the client rejected with. */
  readonly error: unknown;
  /** How many failures in a row, this one included. */
  readonly attempts: number;
  /** How long until the next try, in milliseconds. */
  readonly retryInMs: number;
}

/** The pods to mirror, and what the agent says of them. */
export interface MirrorPodReconcilerOptions {
  /** Has the static pods and, from the apiserver, the mirror pods. A `BasicPodManager` is one. */
  readonly podManager: MirrorPodManager;
  /** Makes the requests. */
  readonly mirrorPodClient: Pick<MirrorPodClient, 'createMirrorPod' | 'deleteMirrorPod' | 'getMirrorPod'>;
  /** The node whose static pods are mirrored. */
  readonly nodeName: string;
  /** The source of the apiserver's pods: until it has delivered its first list, nothing counts as missing or orphaned. */
  readonly podSource: {
    /** When the last full list began, in milliseconds since the epoch; undefined before the first. */
    lastListedAt(): number | undefined;
  };
  /**
   * True once every static pod of the agent is in the pod manager: before, no mirror pod counts as orphaned. Default: they
   * are there when `start()` is called. Any other answer than true means no.
   */
  readonly staticPodsReady?: () => boolean;
  /**
   * Asked before an orphan is deleted. True while the static pod of this full name is still being ended: its mirror pod
   * stays meanwhile. Default: never. Any other answer than false means yes.
   */
  readonly isPodTerminating?: (podFullName: string) => boolean;
  /** Told of each mirror pod that was created or deleted, and of each failure. */
  readonly handlers?: MirrorPodHandlers;
  /** How many pods have a request under way at once. Default 4. */
  readonly concurrency?: number;
  /** How long a call of the client may take, in milliseconds. Default 30 000. */
  readonly requestTimeoutMs?: number;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Gets what `metricDefinitions` lists for the part MirrorPodReconciler. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

export type ResolvedReconcilerOptions = Required<Omit<MirrorPodReconcilerOptions, 'metrics' | 'logger'>> & {
  readonly metrics: Metrics;
  readonly logger: Logger;
};

const knownOptions = [
  'podManager',
  'mirrorPodClient',
  'nodeName',
  'podSource',
  'staticPodsReady',
  'isPodTerminating',
  'handlers',
  'concurrency',
  'requestTimeoutMs',
  'random',
  'clock',
  'logger',
  'metrics',
] as const satisfies readonly (keyof MirrorPodReconcilerOptions)[];

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function resolveReconcilerOptions(options: MirrorPodReconcilerOptions): ResolvedReconcilerOptions {
  requireKnownOptions('options', options, knownOptions);
  const { podManager, mirrorPodClient, nodeName, podSource, handlers = {} } = options;
  const { staticPodsReady = () => true, isPodTerminating = () => false } = options;
  const { concurrency = 4, requestTimeoutMs = 30_000 } = options;
  const { random = Math.random, clock = systemClock, logger } = options;
  requireMethods('podManager', podManager, ['getPodsAndMirrorPods', 'getPodByUID', 'getMirrorPodByPod', 'subscribe']);
  requireMethods('mirrorPodClient', mirrorPodClient, ['createMirrorPod', 'deleteMirrorPod', 'getMirrorPod']);
  requireMethods('podSource', podSource, ['lastListedAt']);
  requireHandlers(handlers, ['mirrorPodCreated', 'mirrorPodDeleted', 'failed']);
  requireMethods('clock', clock, ['now', 'setTimer']);
  return {
    podManager,
    mirrorPodClient,
    nodeName: nodeNameOption(nodeName),
    podSource,
    staticPodsReady: optionOfType('staticPodsReady', staticPodsReady, 'function'),
    isPodTerminating: optionOfType('isPodTerminating', isPodTerminating, 'function'),
    handlers,
    concurrency: integerOption('concurrency', concurrency, 1),
    requestTimeoutMs: numberOption('requestTimeoutMs', requestTimeoutMs, 1, longestTimerMs),
    random: safeRandom(optionOfType('random', random, 'function')),
    clock: safeClock(clock),
    logger: loggerOption(logger),
    metrics: metricsOption(options.metrics),
  };
}

// Behaviour of pkg/kubelet/kubelet.go tryReconcileMirrorPods, and of kubelet_pods.go where it deletes orphans, v1.36.3.

/**
 * Why a mirror pod is deleted: its static pod has changed, somebody has asked for its deletion, or its static pod is gone.
 */
export type MirrorDeletionReason = 'changed' | 'deleting' | 'orphaned';

/** What is to be done for one full name. */
export type MirrorStep =
  | { readonly kind: 'nothing' }
  /** Something is to be done, and the agent does not permit it yet. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'create'; readonly staticPod: Pod }
  | { readonly kind: 'delete'; readonly uid: string; readonly reason: MirrorDeletionReason }
  /** What the server has under this name has to be read. */
  | { readonly kind: 'read' };

export interface MirrorSituation {
  readonly staticPod: Pod | undefined;
  /** The mirror pod that is on the server, as far as is known. */
  readonly mirrorPod: Pod | undefined;
  /** True when a pod has the name, and it is not known which. */
  readonly inDoubt: boolean;
  /** The uid of a mirror pod that was deleted, and that its finalizers hold. */
  readonly heldUID: string | undefined;
  /** True once the apiserver's pods of this node have been listed. */
  readonly isListed: boolean;
  /** True when a mirror pod without a static pod may be deleted. */
  readonly mayDeleteOrphan: () => boolean;
}

const nothing: MirrorStep = { kind: 'nothing' };
const wait: MirrorStep = { kind: 'wait' };

/** The next step for one full name. Changes nothing. */
export function mirrorStep(situation: MirrorSituation): MirrorStep {
  const { staticPod, mirrorPod, inDoubt, heldUID, isListed, mayDeleteOrphan } = situation;
  if (staticPod === undefined && mirrorPod === undefined) return nothing;
  if (!isListed) return wait;
  if (inDoubt) return { kind: 'read' };
  if (mirrorPod === undefined) return staticPod === undefined ? nothing : { kind: 'create', staticPod };
  const uid = podUIDOf(mirrorPod);
  if (uid === heldUID) return nothing;
  if (staticPod === undefined) return mayDeleteOrphan() ? { kind: 'delete', uid, reason: 'orphaned' } : wait;
  if (mirrorPod.metadata?.deletionTimestamp) return { kind: 'delete', uid, reason: 'deleting' };
  return isMirrorPodOf(mirrorPod, staticPod) ? nothing : { kind: 'delete', uid, reason: 'changed' };
}
