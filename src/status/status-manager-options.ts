import type { PodClient } from '../client/pod-client.ts';
import type { RateLimiterOptions } from '../concurrency/rate-limiter.ts';
import { invalidOption } from '../errors.ts';
import type { PodDeletionSafety } from '../pod/pod-deletion-safety.ts';
import type { PodManager } from '../pod/pod-manager.ts';
import { type Clock, systemClock } from '../seams/clock.ts';
import { type Logger, safeLogger, silentLogger } from '../seams/logger.ts';
import { type MetricsSink, noMetrics, safeMetrics } from '../seams/metrics.ts';

export interface StatusManagerOptions {
  /** The way to the apiserver; null makes the manager a cache only: `start` logs and sends nothing. */
  readonly podClient: PodClient | null;
  readonly podManager: PodManager;
  readonly podDeletionSafety: PodDeletionSafety;
  /** How often every pod is compared with its API copy, in milliseconds. Default 10 000, as the kubelet. */
  readonly syncPeriodMs?: number;
  /** Sync requests the channel holds; more are dropped and found by a scan. Default 1000. */
  readonly channelCapacity?: number;
  /** Pods sent at once. Default 16. */
  readonly concurrency?: number;
  /** A request is aborted after this long, in milliseconds. Default 10 000. */
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
  /** When it last heard from the apiserver, in milliseconds since the epoch. After `staleAfterMs` of silence pods are read again. */
  readonly podSource?: { lastObservedAt(): number | undefined };
  /** Default 300 000 (5 minutes). */
  readonly staleAfterMs?: number;
  /** Uniform in [0, 1), for the jitter of waits. */
  readonly random?: () => number;
  readonly clock?: Clock;
  /** Pino-shaped. Default: silent. */
  readonly logger?: Logger;
  readonly metrics?: MetricsSink;
}

/** The options with every default filled in, checked. */
export type ResolvedOptions = Required<Omit<StatusManagerOptions, 'rateLimiter' | 'podSource' | 'ownedConditionTypes'>> & {
  readonly rateLimiter: RateLimiterOptions | undefined;
  readonly podSource: StatusManagerOptions['podSource'] | undefined;
  readonly ownedConditionTypes: ReadonlySet<string>;
};

const longestTimerMs = 2 ** 31 - 1;

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function resolveOptions(options: StatusManagerOptions): ResolvedOptions {
  if (typeof options !== 'object' || options === null) throw invalidOption('options', 'an object', options);
  const { podClient, podManager, podDeletionSafety } = options;
  if (podClient !== null) methods('podClient', podClient, ['getPod', 'patchPodStatus', 'deletePod']);
  methods('podManager', podManager, ['getPodByUID', 'getMirrorPodByPod', 'translatePodUID', 'getUIDTranslations']);
  methods('podDeletionSafety', podDeletionSafety, ['podCouldHaveRunningContainers', 'podResourcesAreReclaimed']);
  const { podSource, rateLimiter, ownedConditionTypes, clock, logger, metrics } = options;
  if (podSource !== undefined) methods('podSource', podSource, ['lastObservedAt']);
  if (clock !== undefined) methods('clock', clock, ['now', 'setTimer']);
  if (logger !== undefined) methods('logger', logger, ['debug', 'info', 'warn', 'error']);
  if (metrics !== undefined) methods('metrics', metrics, ['increment', 'observe', 'set']);
  return {
    podClient,
    podManager,
    podDeletionSafety,
    syncPeriodMs: number('syncPeriodMs', options.syncPeriodMs ?? 10_000, 1, longestTimerMs),
    channelCapacity: integer('channelCapacity', options.channelCapacity ?? 1000, 0),
    concurrency: integer('concurrency', options.concurrency ?? 16, 1),
    requestTimeoutMs: number('requestTimeoutMs', options.requestTimeoutMs ?? 10_000, 1, longestTimerMs),
    rateLimiter: rateLimiter === undefined ? undefined : resolveRateLimiter(rateLimiter),
    patchFormat: oneOf('patchFormat', options.patchFormat ?? 'strategic', ['strategic', 'json']),
    fetchBeforePatch: oneOf('fetchBeforePatch', options.fetchBeforePatch ?? 'when-unknown', ['when-unknown', 'always']),
    terminateWhenReclaimed: ofType('terminateWhenReclaimed', options.terminateWhenReclaimed ?? true, 'boolean'),
    ownedConditionTypes: conditionTypes(ownedConditionTypes ?? []),
    podSource,
    staleAfterMs: number('staleAfterMs', options.staleAfterMs ?? 300_000, 1, Number.MAX_SAFE_INTEGER),
    random: ofType('random', options.random ?? Math.random, 'function'),
    clock: clock ?? systemClock,
    logger: safeLogger(logger ?? silentLogger),
    metrics: safeMetrics(metrics ?? noMetrics),
  };
}

function resolveRateLimiter(limiter: RateLimiterOptions): RateLimiterOptions {
  if (typeof limiter !== 'object' || limiter === null) throw invalidOption('rateLimiter', 'an object { qps, burst }', limiter);
  return {
    qps: number('rateLimiter.qps', limiter.qps, 0.001, 1_000_000),
    burst: integer('rateLimiter.burst', limiter.burst, 1),
  };
}

function conditionTypes(types: unknown): ReadonlySet<string> {
  const rule = 'a list of condition types (non-empty strings)';
  if (!Array.isArray(types)) throw invalidOption('ownedConditionTypes', rule, types);
  for (const type of types) if (typeof type !== 'string' || type === '') throw invalidOption('ownedConditionTypes', rule, type);
  return new Set(types);
}

export function number(name: string, value: unknown, min: number, max: number): number {
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    throw invalidOption(name, `a number from ${min} to ${max}`, value);
  }
  return value;
}

function integer(name: string, value: unknown, min: number): number {
  if (!Number.isSafeInteger(value) || Number(value) < min) throw invalidOption(name, `an integer from ${min} up`, value);
  return Number(value);
}

function oneOf<T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (!allowed.includes(value)) throw invalidOption(name, `one of ${allowed.map((item) => `"${item}"`).join(', ')}`, value);
  return value;
}

function ofType<T>(name: string, value: T, type: 'boolean' | 'function'): T {
  if (typeof value !== type) throw invalidOption(name, `a ${type}`, value);
  return value;
}

function methods(name: string, value: unknown, names: readonly string[]): void {
  const object = value as Record<string, unknown> | null | undefined;
  const missing = typeof value === 'object' && object ? names.filter((method) => typeof object[method] !== 'function') : names;
  if (missing.length > 0) throw invalidOption(name, `an object with ${missing.join(', ')}`, value);
}
