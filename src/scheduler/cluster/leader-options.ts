import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import {
  longestTimerMs,
  numberOption,
  optionOfType,
  requireKnownOptions,
  requireMethods,
  requirePathSegment,
} from '../../base/options.ts';
import { safeRandom } from '../../base/random.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';

/** Which Lease is contended for, by whom, and who hears of it. `transport`, `identity` and `name` are needed. */
export interface LeaderElectorOptions {
  /** Reaches the apiserver. Closing it is left to its owner. */
  readonly transport: ResourceTransport;
  /** The name of this candidate. No two candidates may share one. */
  readonly identity: string;
  /** The name of the Lease. */
  readonly name: string;
  /** The namespace of the Lease. Default `kube-system`. */
  readonly namespace?: string;
  /** Other candidates take a Lease that has not changed for so long, in milliseconds; whole seconds. Default 15 000. */
  readonly leaseDurationMs?: number;
  /** A leader that has not renewed for so long is none any more, in milliseconds. Less than `leaseDurationMs`. Default 10 000. */
  readonly renewDeadlineMs?: number;
  /** The time between two tries, in milliseconds. Less than `renewDeadlineMs`. Default 2 000. */
  readonly retryPeriodMs?: number;
  /** Called when this candidate has become the leader. What it throws is logged. */
  readonly onStarted?: () => void;
  /** Called when it is the leader no more, before anything else happens. What it throws is logged. */
  readonly onStopped?: () => void;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

export type CheckedLeaderOptions = Required<Omit<LeaderElectorOptions, 'logger' | 'clock'>> & {
  readonly clock: SteadyClock;
  readonly logger: Logger;
};

const knownOptions = [
  ...['transport', 'identity', 'name', 'namespace', 'leaseDurationMs', 'renewDeadlineMs', 'retryPeriodMs'],
  ...['onStarted', 'onStopped', 'random', 'clock', 'logger'],
];
const nothing = (): void => {};

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function checkedLeaderOptions(options: LeaderElectorOptions): CheckedLeaderOptions {
  requireKnownOptions('options', options, knownOptions);
  const { transport, identity, name, namespace = 'kube-system', clock = systemClock, random = Math.random } = options;
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2000 } = options;
  const { onStarted = nothing, onStopped = nothing } = options;
  requireMethods('transport', transport, ['request', 'stream']);
  if (typeof identity !== 'string' || identity === '') throw invalidOption('identity', 'a non-empty string', identity);
  for (const [option, value] of Object.entries({ name, namespace })) requireName(option, value);
  requireMethods('clock', clock, ['now', 'setTimer']);
  numberOption('leaseDurationMs', leaseDurationMs, 1000, longestTimerMs);
  if (leaseDurationMs % 1000 !== 0) throw invalidOption('leaseDurationMs', 'whole seconds', leaseDurationMs);
  if (!(renewDeadlineMs > 0 && renewDeadlineMs < leaseDurationMs))
    throw invalidOption('renewDeadlineMs', 'more than 0 and less than `leaseDurationMs`', renewDeadlineMs);
  // client-go's tries are up to 2.2 periods apart while it is not the leader
  if (!(retryPeriodMs > 0 && retryPeriodMs * jitterFactor < renewDeadlineMs))
    throw invalidOption(
      'retryPeriodMs',
      `more than 0, and ${jitterFactor} times it less than \`renewDeadlineMs\``,
      retryPeriodMs,
    );
  return {
    transport,
    identity,
    name,
    namespace,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
    onStarted: optionOfType('onStarted', onStarted, 'function'),
    onStopped: optionOfType('onStopped', onStopped, 'function'),
    random: safeRandom(optionOfType('random', random, 'function')),
    clock: safeClock(clock),
    logger: loggerOption(options.logger),
  };
}

/** As client-go: a candidate waits one period and up to so many more of them. */
export const jitterFactor = 1.2;

function requireName(option: string, value: unknown): void {
  try {
    requirePathSegment(option, value);
  } catch {
    throw invalidOption(option, 'a name of one path segment', value);
  }
}
