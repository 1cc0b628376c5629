import { type Clock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import { requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { ClientConfig } from '../../client/kubeconfig/client-config.ts';
import type { KubeTransport } from '../../client/transport/kube-transport.ts';
import { BasicPodManager } from '../../status/pods/basic-pod-manager.ts';
import {
  DefaultPodDeletionSafety,
  type PodDeletionSafety,
  type RuntimeCacheProbe,
} from '../../status/pods/pod-deletion-safety.ts';
import type { StatusManagerOptions } from '../../status/status-manager-options.ts';
import type { ApiServerPodSourceOptions } from '../sources/api-server-pod-source.ts';
import type { PodSourceHandlers } from '../sources/pod-delivery.ts';

/**
 * Which node it is, where its pods come from, and what runs of them. Needed are `nodeName`, one of `kubeConfig` and `transport`, and
 * one of `runtimeCache` and `podDeletionSafety`.
 */
export interface PodStatusAgentOptions {
  /** The server to ask. One of this and `transport` is needed. */
  readonly kubeConfig?: ClientConfig;
  /** A transport shared with others; `stop()` leaves it open. */
  readonly transport?: KubeTransport;
  /** The node whose pods these are: those with this `spec.nodeName`. */
  readonly nodeName: string;
  /** The pods of this namespace alone. Default: of all. */
  readonly namespace?: string;
  /** What the container runtime lists, for a `DefaultPodDeletionSafety`. One of this and `podDeletionSafety` is needed. */
  readonly runtimeCache?: RuntimeCacheProbe;
  /** Says when nothing of a pod can run any more, by a rule of your own. One of this and `runtimeCache` is needed. */
  readonly podDeletionSafety?: PodDeletionSafety;
  /** Default: one of its own. */
  readonly podManager?: BasicPodManager;
  /** Told of each change of the node's pods, after the pod manager. */
  readonly handlers?: PodSourceHandlers;
  /** How pods are read: as `ApiServerPodSource`'s. */
  readonly podSource?: Pick<ApiServerPodSourceOptions, 'streamLists' | 'idleTimeoutMs'>;
  /** How statuses are written: as `StatusManager`'s. */
  readonly statusManager?: Partial<
    Omit<
      StatusManagerOptions,
      'podClient' | 'podManager' | 'podDeletionSafety' | 'podSource' | 'random' | 'clock' | 'logger' | 'metrics'
    >
  >;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Goes to every part. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

const agentOptionNames = [
  'kubeConfig',
  'transport',
  'nodeName',
  'namespace',
  'runtimeCache',
  'podDeletionSafety',
  'podManager',
  'handlers',
  'podSource',
  'statusManager',
  'random',
  'clock',
  'logger',
  'metrics',
] as const satisfies readonly (keyof PodStatusAgentOptions)[];

/** How long a {@link PodStatusAgent} takes to end. */
export interface StopPodStatusAgentOptions {
  /** How long the whole stop may take, in milliseconds. Default 20 000: Kubernetes kills an agent after 30 seconds. */
  readonly timeoutMs?: number;
  /** How long the status manager may write what is left, in milliseconds: at most three quarters of `timeoutMs`. Default 10 000. */
  readonly drainTimeoutMs?: number;
}

export interface ResolvedStatusAgentOptions {
  readonly nodeName: string;
  readonly podManager: BasicPodManager;
  readonly podDeletionSafety: PodDeletionSafety;
  /** Which pods are read, and how. */
  readonly reading: Omit<ApiServerPodSourceOptions, 'kubeConfig' | 'transport' | 'podManager' | keyof SharedByParts>;
  readonly writing: NonNullable<PodStatusAgentOptions['statusManager']>;
  /** Those that are given, for every part. */
  readonly shared: SharedByParts;
  readonly clock: Clock;
}

interface SharedByParts extends Pick<PodStatusAgentOptions, 'random' | 'clock' | 'metrics'> {
  readonly logger: Logger;
}

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value; what belongs to a part alone is checked by the part. */
export function resolveStatusAgentOptions(options: PodStatusAgentOptions): ResolvedStatusAgentOptions {
  requireKnownOptions('options', options, agentOptionNames);
  const { nodeName, namespace, handlers, podSource = {}, statusManager = {}, random, clock, metrics } = options;
  const logger = loggerOption(options.logger);
  requireOneOf(options, 'kubeConfig', 'transport');
  requireOneOf(options, 'runtimeCache', 'podDeletionSafety');
  if (clock !== undefined) requireMethods('clock', clock, ['now', 'setTimer']);
  metricsOption(metrics);
  requireKnownOptions('podSource', podSource, ['streamLists', 'idleTimeoutMs']);
  requireTuning(statusManager);
  const { podManager = new BasicPodManager(), podDeletionSafety, runtimeCache } = options;
  return {
    nodeName,
    podManager,
    podDeletionSafety:
      podDeletionSafety ?? new DefaultPodDeletionSafety({ runtimeCache: runtimeCache as RuntimeCacheProbe, logger }),
    reading: {
      ...podSource,
      nodeName,
      ...(namespace !== undefined && { namespace }),
      ...(handlers !== undefined && { handlers }),
    },
    writing: statusManager,
    shared: {
      logger,
      ...(random !== undefined && { random }),
      ...(clock !== undefined && { clock }),
      ...(metrics !== undefined && { metrics }),
    },
    clock: clock ?? systemClock,
  };
}

type OptionName = keyof PodStatusAgentOptions;

function requireOneOf(options: PodStatusAgentOptions, name: OptionName, other: OptionName): void {
  if ((options[name] === undefined) !== (options[other] === undefined)) return;
  throw invalidOption(name, `given, or else \`${other}\`, and not both`, options[name]);
}

function requireTuning(statusManager: object): void {
  if (typeof statusManager !== 'object' || statusManager === null) {
    throw invalidOption('statusManager', 'an object of options', statusManager);
  }
  for (const name of ['podClient', 'podManager', 'podDeletionSafety', 'podSource', 'random', 'clock', 'logger', 'metrics']) {
    if (name in statusManager) throw invalidOption(`statusManager.${name}`, 'absent: the agent gives it', 'given');
  }
}
