import { randomUUID } from 'node:crypto';
import type { WireNode } from '../../api/json/types.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import { nodeNameOption } from '../../base/names.ts';
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
import { ownProcess } from '../../client/leases/own-process.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { type AdvertisedStatus, type ResolvedStatus, resolveStatus, statusMembers } from './advertised-status.ts';
import { identityMembers, initialNode, type NodeIdentity } from './initial-node.ts';
import type { LeaseWriter } from './lease-rivals.ts';
import type { NodePressures, NodeReadiness } from './node-conditions.ts';

/** Which node it is, what it says of itself, and how often. `transport` and `nodeName` are needed. */
export interface NodeObjectOptions extends AdvertisedStatus, NodeIdentity {
  /** Closing it is left to its owner. */
  readonly transport: ResourceTransport;
  /** The name of the Node and of its Lease. */
  readonly nodeName: string;
  /**
   * Asked at every look: ready means that the runtime works and that the pod sources have been heard. Default: always ready.
   * Whatever else it answers, and what it throws, counts as not ready.
   */
  readonly readiness?: () => NodeReadiness;
  /** Asked at every look. Default: no pressure. */
  readonly pressures?: () => NodePressures;
  /** False: another one creates the node, and this agent waits for it. Default true. */
  readonly registerNode?: boolean;
  /**
   * True: `stop` deletes the node and the Lease, where this process has created them and no other agent has taken them over.
   * Default false, as the kubelet.
   */
  readonly removeOnStop?: boolean;
  /** How often the node is looked at for changes, in milliseconds. Default 10 000. */
  readonly statusUpdateFrequencyMs?: number;
  /** How often the status is written when nothing changes, in milliseconds. Default 300 000. */
  readonly statusReportFrequencyMs?: number;
  /** The Lease is renewed four times as often, by a sole agent three times. Default 40. */
  readonly leaseDurationSeconds?: number;
  /**
   * Who holds the Lease. Default: the node's name, as the kubelet. Two agents under one name are told apart by the times of
   * their renewals; a name for each process makes that certain within one millisecond. An annotation of the Lease names the
   * process and its host in any case.
   */
  readonly holderIdentity?: string;
  /**
   * True: something else makes sure that one agent at a time runs this node, as a fleet does. One that has ended without a word is then not
   * suspected to live; one that is found to live is told all the same. A Lease that is there is renewed before the Node was read, and the Node
   * is created only where the watch shows none, or shows nothing for three seconds. The Lease is renewed three times in its duration, not
   * four times: what makes sure of that has Leases of its own to renew. Default false.
   */
  readonly isSoleAgent?: boolean;
  /** How long a request may take, in milliseconds. Default 10 000; a renewal never takes longer than the time between two. */
  readonly requestTimeoutMs?: number;
  /** Over which the Node is listed and watched, without streamed lists, such as what `SharedWatches.nodeOf` gives. Default: `transport`. */
  readonly watchTransport?: ResourceTransport;
  /** Gets the events of the node: what it says has changed, its machine was started anew, it was cordoned. Default: nobody. */
  readonly eventRecorder?: EventRecorder;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /**
   * Gets what `metricDefinitions` lists for the part NodeObject, and for the part Reflector under the name `nodes`. Default: nothing
   * is measured.
   */
  readonly metrics?: MetricsSink;
}

type Plain =
  | 'transport'
  | 'nodeName'
  | 'readiness'
  | 'pressures'
  | 'registerNode'
  | 'removeOnStop'
  | 'statusUpdateFrequencyMs'
  | 'statusReportFrequencyMs'
  | 'leaseDurationSeconds'
  | 'holderIdentity'
  | 'isSoleAgent'
  | 'requestTimeoutMs'
  | 'random';

/** The options, checked and complete. */
export interface ResolvedNodeOptions extends Required<Pick<NodeObjectOptions, Plain>> {
  readonly watchTransport: ResourceTransport | undefined;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly renewIntervalMs: number;
  /** Who writes the Lease. */
  readonly writer: LeaseWriter;
  readonly metrics: Metrics;
  /** The sink as it was given. */
  readonly sink: MetricsSink | undefined;
  readonly eventRecorder: Required<EventRecorder>;
  readonly status: ResolvedStatus;
  readonly initial: WireNode;
}

const plainOptions = [
  'transport',
  'nodeName',
  'readiness',
  'pressures',
  'registerNode',
  'removeOnStop',
  'statusUpdateFrequencyMs',
  'statusReportFrequencyMs',
  'leaseDurationSeconds',
  'holderIdentity',
  'isSoleAgent',
  'requestTimeoutMs',
  'random',
  'clock',
  'logger',
] as const satisfies readonly (Plain | 'clock' | 'logger')[];

export function resolveNodeOptions(options: NodeObjectOptions): ResolvedNodeOptions {
  requireKnownOptions('options', options, [
    ...plainOptions,
    'watchTransport',
    'metrics',
    'eventRecorder',
    ...statusMembers,
    ...identityMembers,
  ]);
  const { transport, watchTransport, readiness = () => ({ ready: true }), pressures = () => ({}) } = options;
  const { registerNode = true, removeOnStop = false, requestTimeoutMs = 10_000, leaseDurationSeconds = 40 } = options;
  const { isSoleAgent = false, statusUpdateFrequencyMs = 10_000, statusReportFrequencyMs = 300_000 } = options;
  const { random = Math.random, clock = systemClock, logger, eventRecorder = noEvents } = options;
  requireMethods('transport', transport, ['request', 'stream']);
  if (watchTransport !== undefined) requireMethods('watchTransport', watchTransport, ['request', 'stream']);
  requireMethods('eventRecorder', eventRecorder, ['event']);
  const nodeName = nodeNameOption(options.nodeName);
  const { holderIdentity = nodeName } = options;
  if (typeof holderIdentity !== 'string' || holderIdentity === '') {
    throw invalidOption('holderIdentity', 'a non-empty string', holderIdentity);
  }
  requireMethods('clock', clock, ['now', 'setTimer']);
  const leaseDurationMs = integerOption('leaseDurationSeconds', leaseDurationSeconds, 1) * 1000;
  const renewIntervalMs = leaseDurationMs / (isSoleAgent === true ? 3 : 4);
  const status = resolveStatus(options, nodeName);
  return {
    transport,
    watchTransport,
    nodeName,
    readiness: optionOfType('readiness', readiness, 'function'),
    pressures: optionOfType('pressures', pressures, 'function'),
    registerNode: optionOfType('registerNode', registerNode, 'boolean'),
    removeOnStop: optionOfType('removeOnStop', removeOnStop, 'boolean'),
    statusUpdateFrequencyMs: numberOption('statusUpdateFrequencyMs', statusUpdateFrequencyMs, 100, longestTimerMs / 2),
    statusReportFrequencyMs: numberOption('statusReportFrequencyMs', statusReportFrequencyMs, 100, longestTimerMs),
    leaseDurationSeconds: numberOption('leaseDurationSeconds', leaseDurationSeconds, 1, 86_400),
    renewIntervalMs,
    holderIdentity,
    isSoleAgent: optionOfType('isSoleAgent', isSoleAgent, 'boolean'),
    writer: { agent: ownProcess(clock), id: randomUUID() },
    requestTimeoutMs: numberOption('requestTimeoutMs', requestTimeoutMs, 1, longestTimerMs / 2),
    random: safeRandom(optionOfType('random', random, 'function')),
    clock: safeClock(clock),
    logger: loggerOption(logger),
    metrics: metricsOption(options.metrics),
    sink: options.metrics,
    eventRecorder: safeEventRecorder(eventRecorder),
    status,
    initial: initialNode(nodeName, options, status),
  };
}
