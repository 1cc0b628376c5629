import type { Pod } from '../../api/json/types.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
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
import type { MirrorDeletionReason } from './mirror-step.ts';

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
  readonly attempt: number;
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

export type ResolvedReconcilerOptions = Required<Omit<MirrorPodReconcilerOptions, 'metrics' | 'logger' | 'clock'>> & {
  readonly clock: SteadyClock;
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
