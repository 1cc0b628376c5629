import type { WireNode, WirePod } from '../api/json/types.ts';
import { podFields } from '../api/pod/pod-log-fields.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../base/clock.ts';
import type { RunStateName } from '../base/concurrency/run-state.ts';
import { invalidOption } from '../base/errors.ts';
import { callGuarded } from '../base/guard.ts';
import { type Logger, loggerOption } from '../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../base/metrics/metrics.ts';
import {
  integerOption,
  longestTimerMs,
  numberOption,
  optionOfType,
  requireKnownOptions,
  requireMethods,
} from '../base/options.ts';
import type { Problem } from '../base/problem.ts';
import { safeRandom } from '../base/random.ts';
import type { ApiObject, ApiResource } from '../client/resources/api-resource.ts';
import type { ProfileMaker } from './classic/policy-profile.ts';
import { type CheckedExtender, type ExtenderOptions, extendersOption } from './extenders/extender-options.ts';
import type { SchedulerClient } from './framework/scheduler-client.ts';
import { givenNode, givenObject, givenPod } from './nodes/given-objects.ts';
import { inTreePlugins, type PluginRegistry } from './profile/plugin-registry.ts';
import type { ProfileOptions } from './profile/profile-options.ts';
import type { BackoffBounds } from './queue/backoff-queue.ts';

/** What a scheduler writes with, and how it schedules. `client` is needed. */
export interface SchedulerOptions {
  /** Carries out what the scheduler decides. What it does not have is left out; without `deletePod` no pod is preempted, without `patchObject` no volume is bound, and without
   * `patchObjectStatus` and `getObject` beside it no claim of devices is given any; with `createObject`, `deleteObject` and `patchStatus`, too,
   * devices are given for extended resources. */
  readonly client: Pick<SchedulerClient, 'bind'> & Partial<SchedulerClient>;
  /**
   * How pods are scheduled, by their `schedulerName`: each profile as in kube-scheduler's configuration, or made by `policyProfile`
   * from a policy file. Default: one for `default-scheduler`, with the default plugins.
   */
  readonly profiles?: readonly (ProfileOptions | ProfileMaker)[];
  /**
   * Programs behind HTTP that have a say in where pods go, in all profiles: the entries of `extenders` in kube-scheduler's configuration.
   * Default: none but those of policies.
   */
  readonly extenders?: readonly ExtenderOptions[];
  /** The plugins that profiles may name. Default: `inTreePlugins()`. */
  readonly registry?: PluginRegistry;
  /** The back-off after the first rejection, in milliseconds; it doubles with each further one. Default 1 000. */
  readonly podInitialBackoffMs?: number;
  /** The longest back-off, in milliseconds. Default 10 000. */
  readonly podMaxBackoffMs?: number;
  /** A pod that has waited so long for a change is tried again, in milliseconds. Default 300 000. */
  readonly podMaxInUnschedulableMs?: number;
  /** How many pods are bound at once. While there are as many, no other pod is looked at. Default 128. */
  readonly mostBindings?: number;
  /**
   * How long the binding of a pod may take, in milliseconds, and before that what each plugin does in preBind, unless the plugin says how long
   * that may take. Default 120 000.
   */
  readonly bindTimeoutMs?: number;
  /**
   * How long a pod that was bound keeps its place, in milliseconds, if it is not given to `setPod` with its node (for a cluster: if no watch
   * shows it there). It is looked at once a second from `start()` on. Default: until more is known of the pod, as kube-scheduler since v1.23;
   * v1.22 had two minutes, and versions before it 30 s. A pod that is on its node all the same then takes a place that nobody counts.
   */
  readonly assumedPodTTLMs?: number;
  /** From 0 up to 1: chooses between equally good nodes. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Gets what `metricDefinitions` lists for the part Scheduler. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

/**
 * The mark of options from within the library: the objects that this scheduler is given come from a server and nobody changes them, so
 * they need neither defaults nor a copy. Its value is the scheduler of a cluster around it.
 */
export const keepsObjects = Symbol('keepsObjects');

/** What the scheduler of a cluster says of itself, for the snapshot of the one within. */
export interface SchedulerAround {
  readonly state: RunStateName;
  /** What is wrong with what it does itself. */
  problems(): readonly Problem[];
  /** Throws where this process may write nothing to the cluster. */
  assertMayWrite(): void;
}

export interface ResolvedSchedulerOptions {
  /** What the scheduler keeps of a pod that it is given. */
  readonly ownPod: (pod: WirePod) => WirePod;
  /** What the scheduler keeps of a node that it is given. */
  readonly ownNode: (node: WireNode) => WireNode;
  /** What the scheduler keeps of another object that it is given. */
  readonly ownObject: (resource: ApiResource, object: ApiObject) => ApiObject;
  /** The scheduler of a cluster; its watch tells of each pod that was bound. Undefined: the caller tells what there is. */
  readonly around: SchedulerAround | undefined;
  readonly client: SchedulerClient;
  /** The client can delete pods. */
  readonly canEvict: boolean;
  readonly profiles: readonly (ProfileOptions | ProfileMaker)[];
  readonly extenders: readonly CheckedExtender[];
  readonly registry: PluginRegistry;
  readonly backoff: BackoffBounds;
  readonly maxInUnschedulableMs: number;
  readonly mostBindings: number;
  readonly bindTimeoutMs: number;
  readonly assumedPodTTLMs: number | undefined;
  readonly random: () => number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

const knownOptions = [
  ...['client', 'profiles', 'extenders', 'registry', 'podInitialBackoffMs', 'podMaxBackoffMs', 'podMaxInUnschedulableMs'],
  ...['mostBindings', 'bindTimeoutMs', 'assumedPodTTLMs', 'random', 'clock', 'logger', 'metrics'],
] as const satisfies readonly (keyof SchedulerOptions)[];
/** The names of the options that go on to the core from whoever wraps it. */
export const schedulerOptionNames: readonly string[] = knownOptions;

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function resolveSchedulerOptions(options: SchedulerOptions): ResolvedSchedulerOptions {
  requireKnownOptions('options', options, knownOptions);
  const { client, profiles = [{}], registry = inTreePlugins(), clock = systemClock, random = Math.random } = options;
  const { podInitialBackoffMs = 1000, podMaxBackoffMs = 10_000, podMaxInUnschedulableMs = 300_000 } = options;
  const { mostBindings = 128, bindTimeoutMs = 120_000, assumedPodTTLMs } = options;
  if (assumedPodTTLMs !== undefined) numberOption('assumedPodTTLMs', assumedPodTTLMs, 1, longestTimerMs);
  if (typeof registry !== 'object' || registry === null) throw invalidOption('registry', 'an object of functions', registry);
  requireMethods('clock', clock, ['now', 'setTimer']);
  numberOption('podInitialBackoffMs', podInitialBackoffMs, 1, longestTimerMs);
  if (!(podMaxBackoffMs >= podInitialBackoffMs && podMaxBackoffMs <= longestTimerMs))
    throw invalidOption('podMaxBackoffMs', 'a number that is not less than `podInitialBackoffMs`', podMaxBackoffMs);
  const logger = loggerOption(options.logger);
  return {
    ownPod: keepsObjects in options ? (pod) => pod : givenPod,
    ownNode: keepsObjects in options ? (node) => node : givenNode,
    ownObject: keepsObjects in options ? (_resource, object) => object : givenObject,
    around: (options as { readonly [keepsObjects]?: SchedulerAround })[keepsObjects],
    client: wholeClient(client, logger),
    canEvict: client.deletePod !== undefined,
    profiles,
    extenders: extendersOption('extenders', options.extenders),
    registry,
    logger,
    backoff: { initialMs: podInitialBackoffMs, maxMs: podMaxBackoffMs },
    maxInUnschedulableMs: numberOption('podMaxInUnschedulableMs', podMaxInUnschedulableMs, 1, longestTimerMs),
    mostBindings: integerOption('mostBindings', mostBindings, 1),
    bindTimeoutMs: numberOption('bindTimeoutMs', bindTimeoutMs, 1, longestTimerMs),
    assumedPodTTLMs,
    random: safeRandom(optionOfType('random', random, 'function')),
    clock: safeClock(clock),
    metrics: metricsOption(options.metrics),
  };
}

/** What a client need not have: a plugin that needs it says so. */
const objectMethods = ['patchObject', 'patchObjectStatus', 'getObject', 'createObject', 'deleteObject'] as const;

/** The client with what it lacks left out; what it throws at an event is logged. */
function wholeClient(client: SchedulerOptions['client'], logger: Logger): SchedulerClient {
  requireMethods('client', client, ['bind']);
  for (const name of ['patchStatus', 'deletePod', ...objectMethods, 'event'] as const) {
    if (client[name] !== undefined) optionOfType(`client.${name}`, client[name], 'function');
  }
  return {
    bind: async (pod, nodeName, signal) => client.bind(pod, nodeName, signal),
    patchStatus: async (pod, change, signal) => client.patchStatus?.(pod, change, signal),
    deletePod: async (pod, signal) => client.deletePod?.(pod, signal),
    ...(client.patchObject && { patchObject: client.patchObject.bind(client) }),
    ...(client.patchObjectStatus && { patchObjectStatus: client.patchObjectStatus.bind(client) }),
    ...(client.getObject && { getObject: client.getObject.bind(client) }),
    // a claim that was made has to be named in the pod's status
    ...(client.createObject && client.patchStatus && { createObject: client.createObject.bind(client) }),
    ...(client.deleteObject && { deleteObject: client.deleteObject.bind(client) }),
    event: (event) =>
      callGuarded(
        () => client.event?.(event),
        (err) => logger.debug({ err, ...podFields(event.pod.metadata), reason: event.reason }, 'an event was not taken'),
      ),
  };
}
