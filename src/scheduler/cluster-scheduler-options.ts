import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { KubeConfig } from '@kubernetes/client-node';
import { type SteadyClock, safeClock, systemClock } from '../base/clock.ts';
import type { RateLimiterOptions } from '../base/concurrency/rate-limiter.ts';
import { invalidOption } from '../base/errors.ts';
import { type Logger, loggerOption } from '../base/logging/logger.ts';
import type { MetricsSink } from '../base/metrics/metrics.ts';
import { requireKnownOptions, requireMethods } from '../base/options.ts';
import type { KubeTransport } from '../client/transport/kube-transport.ts';
import type { LeaderElectorOptions } from './cluster/leader-options.ts';
import { checkedRequestLimit } from './cluster/write-transport.ts';
import { type SchedulerOptions, schedulerOptionNames } from './scheduler-options.ts';

/** Which Lease is contended for; see `LeaderElectorOptions`. */
export type LeaderElectionOptions = Partial<
  Pick<LeaderElectorOptions, 'identity' | 'name' | 'namespace' | 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>
>;

/** Which cluster, and how its pods are scheduled. One of `kubeConfig` and `transport` is needed. */
export interface ClusterSchedulerOptions extends Omit<SchedulerOptions, 'client' | 'listers'> {
  /** The server to ask. One of this and `transport` is needed. */
  readonly kubeConfig?: KubeConfig;
  /** A transport shared with others; `stop()` leaves it open. */
  readonly transport?: KubeTransport;
  /** False: no other scheduler with these names runs, and none is waited for. Default: the Lease `kube-system/kube-scheduler`. */
  readonly leaderElection?: false | LeaderElectionOptions;
  /** Tells this process from others, in the Lease and in events. Default: the host's name and a UUID; `random` has no part in it. */
  readonly identity?: string;
  /** The most requests that change pods, and apart from them the most events. Default: no limit but the server's. */
  readonly requestLimit?: RateLimiterOptions;
  /** Goes to every part. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

export interface ResolvedClusterOptions {
  readonly given: ClusterSchedulerOptions;
  /** What goes on to the scheduler within. */
  readonly scheduler: Omit<SchedulerOptions, 'client' | 'listers'>;
  readonly election: LeaderElectionOptions | undefined;
  readonly identity: string;
  readonly requestLimit: RateLimiterOptions | undefined;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly random: () => number;
}

const ownOptions = ['kubeConfig', 'transport', 'leaderElection', 'identity', 'requestLimit'];
const electionOptions = ['identity', 'name', 'namespace', 'leaseDurationMs', 'renewDeadlineMs', 'retryPeriodMs'];
const passedOn = schedulerOptionNames.filter((name) => name !== 'client' && name !== 'listers');

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value; what belongs to a part is checked by the part. */
export function resolveClusterOptions(options: ClusterSchedulerOptions): ResolvedClusterOptions {
  requireKnownOptions('options', options, [...ownOptions, ...passedOn]);
  const { kubeConfig, transport, leaderElection = {}, clock = systemClock, random = Math.random } = options;
  if ((kubeConfig === undefined) === (transport === undefined)) {
    throw invalidOption('kubeConfig', 'given, or else `transport`, and not both', kubeConfig);
  }
  if (transport !== undefined) requireMethods('transport', transport, ['request', 'stream']);
  requireMethods('clock', clock, ['now', 'setTimer']);
  if (typeof random !== 'function') throw invalidOption('random', 'a function', random);
  if (leaderElection !== false) requireKnownOptions('leaderElection', leaderElection, electionOptions);
  const { identity = `${hostname()}_${randomUUID()}` } = options;
  if (typeof identity !== 'string' || identity === '') throw invalidOption('identity', 'a non-empty string', identity);
  const entries = Object.entries(options).filter(([name]) => passedOn.includes(name));
  return {
    given: options,
    scheduler: Object.fromEntries(entries) as Omit<SchedulerOptions, 'client' | 'listers'>,
    election: leaderElection === false ? undefined : leaderElection,
    requestLimit: checkedRequestLimit(options.requestLimit),
    ...{ identity, clock: safeClock(clock), random, logger: loggerOption(options.logger) },
  };
}
