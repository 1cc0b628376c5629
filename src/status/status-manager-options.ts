import { type Clock, type SteadyClock, safeClock, systemClock } from '../base/clock.ts';
import { type RateLimiterOptions, rateLimiterOption } from '../base/concurrency/rate-limiter.ts';
import { invalidOption } from '../base/errors.ts';
import { callGuarded, ignoreFailure } from '../base/guard.ts';
import { type Logger, loggerOption } from '../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../base/metrics/metrics.ts';
import {
  integerOption,
  longestTimerMs,
  numberOption,
  oneOfOption,
  optionOfType,
  requireKnownOptions,
  requireMethods,
} from '../base/options.ts';
import { safeRandom } from '../base/random.ts';
import type { PodClient } from '../client/resources/kube-pod-client.ts';
import type { PodDeletionSafety } from './pods/pod-deletion-safety.ts';
import type { PodManager } from './pods/pod-manager.ts';
import type { PodSourceTimes } from './sync/pod-source-view.ts';

/** What a {@link StatusManager} needs, and how it sends. */
export interface StatusManagerOptions {
  /** The way to the apiserver; null makes the manager a cache only: `start` logs and sends nothing. */
  readonly podClient: PodClient | null;
  /** The agent's own view of its pods. A `BasicPodManager` is one. */
  readonly podManager: PodManager;
  /** Says when nothing of a pod can run any more. A `DefaultPodDeletionSafety` is one. */
  readonly podDeletionSafety: PodDeletionSafety;
  /** How often every pod is compared with its API copy, in milliseconds. Default 10 000, as the kubelet. */
  readonly syncPeriodMs?: number;
  /** How many hints the channel holds. A hint that does not fit is dropped; a scan then finds its pod. Default 1000. */
  readonly channelCapacity?: number;
  /** Pods sent at once. A request that was given up, and that the pod client has not ended, takes no place. Default 16. */
  readonly concurrency?: number;
  /** A request is given up after this long, in milliseconds; the pod client is told, too. Default 10 000. */
  readonly requestTimeoutMs?: number;
  /** Requests a second, and how many at once after a quiet time. Default: no limit; the apiserver has its own. */
  readonly rateLimiter?: RateLimiterOptions;
  /** What goes over the wire: a strategic merge patch (default) or a guarded JSON Patch. */
  readonly patchFormat?: 'strategic' | 'json';
  /** `always` reads each pod before it is patched, as upstream does. Default `when-unknown`. */
  readonly fetchBeforePatch?: 'when-unknown' | 'always';
  /** Finish a deleted pod whose containers and resources are gone, for agents that never call `terminatePod`. Default true. */
  readonly terminateWhenReclaimed?: boolean;
  /** Condition types of the agent's own, beside the kubelet's. */
  readonly ownedConditionTypes?: readonly string[];
  /** What feeds the pod manager. After `staleAfterMs` of its silence pods are read again. */
  readonly podSource?: PodSourceTimes;
  /** Default 300 000 (5 minutes). */
  readonly staleAfterMs?: number;
  /** Uniform in [0, 1), for the jitter of waits. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Gets what `metricDefinitions` lists for the part StatusManager. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

/** The options with every default filled in, checked. */
export type ResolvedOptions = Required<
  Omit<StatusManagerOptions, 'rateLimiter' | 'podSource' | 'ownedConditionTypes' | 'clock' | 'metrics' | 'logger'>
> & {
  readonly clock: SteadyClock;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly rateLimiter: RateLimiterOptions | undefined;
  readonly podSource: StatusManagerOptions['podSource'] | undefined;
  readonly ownedConditionTypes: ReadonlySet<string>;
};

const optionNames = [
  'podClient',
  'podManager',
  'podDeletionSafety',
  'syncPeriodMs',
  'channelCapacity',
  'concurrency',
  'requestTimeoutMs',
  'rateLimiter',
  'patchFormat',
  'fetchBeforePatch',
  'terminateWhenReclaimed',
  'ownedConditionTypes',
  'podSource',
  'staleAfterMs',
  'random',
  'clock',
  'logger',
  'metrics',
] as const satisfies readonly (keyof StatusManagerOptions)[];

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value; for an unknown option, too. */
export function resolveOptions(options: StatusManagerOptions): ResolvedOptions {
  requireKnownOptions('options', options, optionNames);
  const { podClient, podManager, podDeletionSafety } = options;
  if (podClient !== null) requireMethods('podClient', podClient, ['getPod', 'patchPodStatus', 'deletePod']);
  requireMethods('podManager', podManager, ['getPodByUID', 'getMirrorPodByPod', 'translatePodUID', 'getUIDTranslations']);
  requireMethods('podDeletionSafety', podDeletionSafety, ['podCouldHaveRunningContainers', 'podResourcesAreReclaimed']);
  const { podSource, rateLimiter, ownedConditionTypes, clock, logger, metrics } = options;
  if (podSource !== undefined) requireMethods('podSource', podSource, ['lastObservedAt']);
  return {
    podClient,
    podManager,
    podDeletionSafety,
    syncPeriodMs: numberOption('syncPeriodMs', options.syncPeriodMs ?? 10_000, 1, longestTimerMs),
    channelCapacity: integerOption('channelCapacity', options.channelCapacity ?? 1000, 0),
    concurrency: integerOption('concurrency', options.concurrency ?? 16, 1),
    requestTimeoutMs: numberOption('requestTimeoutMs', options.requestTimeoutMs ?? 10_000, 1, longestTimerMs),
    rateLimiter: rateLimiter === undefined ? undefined : rateLimiterOption(rateLimiter),
    patchFormat: oneOfOption('patchFormat', options.patchFormat ?? 'strategic', ['strategic', 'json']),
    fetchBeforePatch: oneOfOption('fetchBeforePatch', options.fetchBeforePatch ?? 'when-unknown', ['when-unknown', 'always']),
    terminateWhenReclaimed: optionOfType('terminateWhenReclaimed', options.terminateWhenReclaimed ?? true, 'boolean'),
    ownedConditionTypes: conditionTypes(ownedConditionTypes ?? []),
    podSource,
    staleAfterMs: numberOption('staleAfterMs', options.staleAfterMs ?? 300_000, 1, Number.MAX_SAFE_INTEGER),
    random: safeRandom(optionOfType('random', options.random ?? Math.random, 'function')),
    clock: clock === undefined || clock === systemClock ? systemClock : resolveClock(clock),
    logger: loggerOption(logger),
    metrics: metricsOption(metrics),
  };
}

function resolveClock(clock: Clock): SteadyClock {
  requireMethods('clock', clock, ['now', 'setTimer']);
  const now: unknown = callGuarded(() => clock.now(), ignoreFailure);
  if (!Number.isFinite(now)) throw invalidOption('clock.now()', 'a finite number of milliseconds', now);
  return safeClock(clock);
}

function conditionTypes(types: unknown): ReadonlySet<string> {
  const rule = 'a list of condition types (non-empty strings)';
  if (!Array.isArray(types)) throw invalidOption('ownedConditionTypes', rule, types);
  for (const type of types) if (typeof type !== 'string' || type === '') throw invalidOption('ownedConditionTypes', rule, type);
  return new Set(types);
}
