import type { PodStatus } from '../../api/json/types.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import { numberOption, optionOfType, requireHandlers, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { safeRandom } from '../../base/random.ts';
import { type EventRecorder, noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';
import { AgentStart } from './agent-start.ts';
import type { ProbeResultUpdate } from './probe-types.ts';
import type { Prober } from './prober.ts';

/** What the probes need of a `StatusManager`. */
export interface ProbeStatusManager {
  /** The newest status of the pod: it names the containers to probe, and the pod's address. Undefined: nothing is probed. */
  getPodStatus(podUID: string): PodStatus | undefined;
  /** Told of each new result of a readiness probe. `containerID` has the runtime's name before it. */
  setContainerReadiness(podUID: string, containerID: string, ready: boolean): unknown;
  /** Told of each new result of a startup probe. `containerID` has the runtime's name before it. */
  setContainerStartup(podUID: string, containerID: string, started: boolean): unknown;
}

/** What a handler throws, or rejects with, is logged and goes no further. */
export interface ProbeHandlers {
  /**
   * What is known of a container has changed; the status manager has it already. An agent syncs the pod where `needsSync`
   * says so: that is how a container whose liveness probe has failed is restarted.
   */
  resultChanged?(update: ProbeResultUpdate): void;
}

/** What makes the probes, and who is told of the results. `prober` and `statusManager` are needed. */
export interface ProbeManagerOptions {
  /** Makes the probes. A `NetworkProber` is one. */
  readonly prober: Prober;
  /** Knows the containers to probe, and gets the results. A `StatusManager` is one. */
  readonly statusManager: ProbeStatusManager;
  /** Told of each new result, after the status manager. Default: nobody is told. */
  readonly handlers?: ProbeHandlers;
  /** Gets Warning events with the reasons Unhealthy and ProbeWarning. Default: nobody. */
  readonly eventRecorder?: EventRecorder;
  /**
   * When the agent began, in milliseconds since the epoch. A container that began more than 10 s earlier keeps the state
   * that it had until it is probed. A clock that is set back takes this time with it. Default: now.
   */
  readonly agentStartedAt?: number;
  /** From 0 up to 1: the part of its period that a probe waits at first, while the agent is young. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Gets what `metricDefinitions` lists for the part ProbeManager. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

export type ResolvedProbeManagerOptions = Required<
  Omit<ProbeManagerOptions, 'agentStartedAt' | 'clock' | 'metrics' | 'logger'>
> & {
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly agentStart: AgentStart;
};

const knownOptions = [
  'prober',
  'statusManager',
  'handlers',
  'eventRecorder',
  'agentStartedAt',
  'random',
  'clock',
  'logger',
  'metrics',
] as const satisfies readonly (keyof ProbeManagerOptions)[];

export function resolveProbeManagerOptions(options: ProbeManagerOptions): ResolvedProbeManagerOptions {
  requireKnownOptions('options', options, knownOptions);
  const { prober, statusManager, handlers = {}, eventRecorder = noEvents } = options;
  const { random = Math.random, clock = systemClock, logger } = options;
  requireMethods('prober', prober, ['exec', 'http', 'tcp', 'grpc']);
  requireMethods('statusManager', statusManager, ['getPodStatus', 'setContainerReadiness', 'setContainerStartup']);
  requireHandlers(handlers, ['resultChanged']);
  requireMethods('eventRecorder', eventRecorder, ['event']);
  requireMethods('clock', clock, ['now', 'setTimer']);
  const ownClock = safeClock(clock);
  const { agentStartedAt = ownClock.now() } = options;
  return {
    prober,
    statusManager,
    handlers,
    eventRecorder: safeEventRecorder(eventRecorder),
    agentStart: new AgentStart(numberOption('agentStartedAt', agentStartedAt, -8.64e15, 8.64e15), ownClock),
    random: safeRandom(optionOfType('random', random, 'function')),
    clock: ownClock,
    logger: loggerOption(logger),
    metrics: metricsOption(options.metrics),
  };
}
