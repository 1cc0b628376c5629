import { isAbsolute } from 'node:path';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { type RateLimiterOptions, rateLimiterOption } from '../../base/concurrency/rate-limiter.ts';
import { invalidOption } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import {
  integerOption,
  longestTimerMs,
  numberOption,
  optionOfType,
  requireKnownOptions,
  requireMethods,
} from '../../base/options.ts';
import { safeRandom } from '../../base/random.ts';
import { type EventRecorder, noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { PodProvider } from './pod-provider.ts';
import type { PodResolver } from './pod-resolver.ts';

/** What runs the pods, and who is told of them. `provider`, `statusManager` and `podChanged` are needed. */
export interface ProviderPodSyncerOptions {
  /** Runs the pods. */
  readonly provider: PodProvider;
  /** Gets the statuses. A `StatusManager` is one. */
  readonly statusManager: Pick<StatusManager, 'getPodStatus' | 'setPodStatus' | 'terminatePod'>;
  /** Called when a pod should be synced soon: a sync loop's `podChanged`. */
  readonly podChanged: (podUID: string) => void;
  /** Pods that the provider lists of other nodes are left alone. Default: all that it lists is this node's. */
  readonly nodeName?: string;
  /** Pods of other namespaces that the provider lists are left alone. Default: all namespaces are the node's. */
  readonly namespace?: string;
  /** The node's addresses, the primary one first. Default: none. */
  readonly hostIPs?: readonly string[] | (() => readonly string[]);
  /**
   * How often a pod that runs is asked about, in milliseconds. Default 10 000; with a provider that has `notifyPods` no poll of
   * its own, but the resync of the workers.
   */
  readonly pollIntervalMs?: number;
  /** How long `getPodStatus` may take, in milliseconds. Default 30 000. */
  readonly callTimeoutMs?: number;
  /**
   * How long `createPod` and `updatePod` may take, in milliseconds; then their signal aborts, and an event tells of it. They are
   * repeated once they have settled. Default 300 000 (5 minutes).
   */
  readonly changeTimeoutMs?: number;
  /**
   * A pod that is not there counts as lost after this long, in milliseconds; one that an earlier run of the agent has told to
   * run at once, where the provider's `getPods` does not list it either. Default 10 000.
   */
  readonly missingAfterMs?: number;
  /**
   * The longest wait after a call of the provider that has failed, in milliseconds; it doubles with each further failure of the
   * pod, and each wait is drawn from 100 ms up to it, or takes as long as it where it is shorter. The call is repeated when the
   * wait is over: at the `retryAt` of `explain`. Default 500.
   */
  readonly backoffBaseMs?: number;
  /**
   * The longest of these waits, in milliseconds. After a failed `getPodStatus` none is longer than `pollIntervalMs` (10 s where
   * that is not given), and within the grace period of a pod that ends none goes beyond it. Default 300 000 (5 minutes).
   */
  readonly backoffMaxMs?: number;
  /**
   * So many calls of `createPod`, `updatePod`, `deletePod` and `getPodStatus` are under way at once, at least 1; `createPod` and
   * `updatePod` leave one place to the others where there are two or more. A call has its place until it settles or its signal aborts,
   * and not longer than `changeTimeoutMs`. The wait for a turn counts against no time limit. Default: no limit.
   */
  readonly concurrency?: number;
  /** So many of these calls begin in a second, retries as well. Default: no limit. */
  readonly rateLimiter?: RateLimiterOptions;
  /** Puts plain values in the place of what a pod refers to, before the provider gets it. Default: it gets pods as they are. */
  readonly resolver?: PodResolver;
  /**
   * Where the files of pods' volumes are written, as `ProviderNode`'s option of this name says; needs `resolver`. Several nodes may
   * share a folder if each has a `nodeName` of its own. Default: the provider gets them as values.
   */
  readonly podFilesFolder?: string;
  /** Gets Warning events: calls of the provider that fail, pods that wait for another pod or are lost. Default: nobody. */
  readonly eventRecorder?: EventRecorder;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Gets what `metricDefinitions` lists for the part ProviderPodSyncer. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

export interface ResolvedSyncerOptions {
  readonly provider: PodProvider;
  readonly statusManager: ProviderPodSyncerOptions['statusManager'];
  readonly podChanged: (podUID: string) => void;
  readonly nodeName: string | undefined;
  readonly namespace: string | undefined;
  readonly hostIPs: () => readonly string[];
  /** `soon`: of a pod of which a change is expected. `settled`: undefined where the provider tells of changes. */
  readonly pollMs: { readonly soon: number; readonly settled: number | undefined };
  readonly callTimeoutMs: number;
  readonly changeTimeoutMs: number;
  readonly missingAfterMs: number;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
  readonly concurrency: number | undefined;
  readonly rateLimiter: RateLimiterOptions | undefined;
  readonly random: () => number;
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

const knownOptions = [
  'provider',
  'statusManager',
  'podChanged',
  'nodeName',
  'namespace',
  'hostIPs',
  'resolver',
  'podFilesFolder',
  'pollIntervalMs',
  'callTimeoutMs',
  'changeTimeoutMs',
  'missingAfterMs',
  'backoffBaseMs',
  'backoffMaxMs',
  'concurrency',
  'rateLimiter',
  'random',
  'eventRecorder',
  'clock',
  'logger',
  'metrics',
] as const satisfies readonly (keyof ProviderPodSyncerOptions)[];

/** How often a pod is asked about of which a change is expected, at most. */
const soonMs = 1000;
export const defaultPollMs = 10_000;

const optionalMethods = [
  ...([
    'updatePod',
    'notifyPods',
    'adopt',
    'getPods',
    'release',
    'getContainerLogs',
    'runInContainer',
    'attachToContainer',
  ] as const),
  ...(['portForward', 'getStatsSummary', 'getMetricsResource'] as const),
] satisfies readonly (keyof PodProvider)[];

/** Throws ERR_INVALID_OPTION for a provider that lacks a method, and for one whose other methods are none. */
export function requireProvider(provider: unknown): void {
  requireMethods('provider', provider, ['createPod', 'deletePod', 'getPodStatus']);
  for (const name of optionalMethods) {
    const method = (provider as PodProvider)[name];
    if (method !== undefined) optionOfType<unknown>(`provider.${name}`, method, 'function');
  }
}

/** Throws ERR_INVALID_OPTION for what is no absolute path, and for a folder where nobody makes the files; `needs` says who would. */
export function requireFilesFolder(folder: unknown, isMade: boolean, needs: string): void {
  if (folder === undefined) return;
  if (typeof folder !== 'string' || !isAbsolute(folder) || folder.includes('\0')) {
    throw invalidOption('podFilesFolder', 'an absolute path', folder);
  }
  if (!isMade) throw invalidOption('podFilesFolder', `absent without ${needs}: nobody makes the files`, folder);
}

export function resolveSyncerOptions(options: ProviderPodSyncerOptions): ResolvedSyncerOptions {
  requireKnownOptions('options', options, knownOptions);
  const { provider, statusManager, podChanged, nodeName, namespace, hostIPs = [], pollIntervalMs } = options;
  const { backoffBaseMs = 500, backoffMaxMs = 300_000, random = Math.random } = options;
  const { eventRecorder = noEvents, clock = systemClock, logger } = options;
  requireProvider(provider);
  for (const [name, text] of Object.entries({ nodeName, namespace })) {
    if (text !== undefined && (typeof text !== 'string' || text === '')) throw invalidOption(name, 'a non-empty string', text);
  }
  requireMethods('statusManager', statusManager, ['getPodStatus', 'setPodStatus', 'terminatePod']);
  requireMethods('eventRecorder', eventRecorder, ['event']);
  if (options.resolver !== undefined) requireMethods('resolver', options.resolver, ['register', 'unregister', 'resolve']);
  requireFilesFolder(options.podFilesFolder, options.resolver !== undefined, 'a resolver');
  requireMethods('clock', clock, ['now', 'setTimer']);
  const isTold = provider.notifyPods !== undefined;
  const settled = pollIntervalMs ?? (isTold ? undefined : defaultPollMs);
  if (settled !== undefined) numberOption('pollIntervalMs', settled, 1, longestTimerMs);
  return {
    provider,
    statusManager,
    podChanged: optionOfType('podChanged', podChanged, 'function'),
    nodeName,
    namespace,
    hostIPs: addressesOf(hostIPs),
    pollMs: { soon: Math.min(soonMs, settled ?? soonMs), settled },
    callTimeoutMs: numberOption('callTimeoutMs', options.callTimeoutMs ?? 30_000, 1, longestTimerMs),
    changeTimeoutMs: numberOption('changeTimeoutMs', options.changeTimeoutMs ?? 300_000, 1, longestTimerMs),
    missingAfterMs: numberOption('missingAfterMs', options.missingAfterMs ?? 10_000, 0, longestTimerMs),
    backoffBaseMs: numberOption('backoffBaseMs', backoffBaseMs, 1, longestTimerMs),
    backoffMaxMs: numberOption('backoffMaxMs', backoffMaxMs, backoffBaseMs, longestTimerMs),
    concurrency: options.concurrency === undefined ? undefined : integerOption('concurrency', options.concurrency, 1),
    rateLimiter: options.rateLimiter === undefined ? undefined : rateLimiterOption(options.rateLimiter),
    random: safeRandom(optionOfType('random', random, 'function')),
    eventRecorder: safeEventRecorder(eventRecorder),
    clock: safeClock(clock),
    logger: loggerOption(logger),
    metrics: metricsOption(options.metrics),
  };
}

function addressesOf(hostIPs: NonNullable<ProviderPodSyncerOptions['hostIPs']>): () => readonly string[] {
  return () => {
    const addresses: unknown = typeof hostIPs === 'function' ? callGuarded(hostIPs, ignoreFailure) : hostIPs;
    return Array.isArray(addresses) ? addresses.filter((address) => typeof address === 'string') : [];
  };
}
