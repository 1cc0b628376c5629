import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../base/clock.ts';
import { type RateLimiterOptions, rateLimiterOption } from '../base/concurrency/rate-limiter.ts';
import { invalidOption } from '../base/errors.ts';
import { type Logger, loggerOption } from '../base/logging/logger.ts';
import { type Metrics, type MetricsSink, metricsOption } from '../base/metrics/metrics.ts';
import { isDnsLabel } from '../base/names.ts';
import {
  integerOption,
  longestTimerMs,
  numberOption,
  optionOfType,
  requireKnownOptions,
  requireMethods,
} from '../base/options.ts';
import { safeRandom } from '../base/random.ts';
import type { ClientConfig } from '../client/kubeconfig/client-config.ts';
import type { ResourceTransport } from '../client/resources/resource-client.ts';
import type { PodProvider } from '../node/provider/pod-provider.ts';
import { type FleetNames, isOwnFleetName, longestDurationMs } from './member/lease-documents.ts';
import type { FleetTiming } from './member/shard-keeper-options.ts';
import { requireUsableOptions } from './nodes/checked-node-options.ts';
import {
  type FleetNode,
  type FleetNodeOptions,
  type FleetNodes,
  nodesOption,
  requireFleetNodeOptions,
} from './nodes/fleet-node-options.ts';

/** Which fleet this process is a member of, which nodes the fleet has, and what runs their pods. `name`, `nodes`, `provider` and one of `kubeConfig` and `transport` are needed. */
export interface NodeFleetOptions {
  /** The server to ask. One of this and `transport` is needed. */
  readonly kubeConfig?: ClientConfig;
  /** A transport shared with others; `stop()` leaves it open. It has to ask the `guard` of a request at the moment of sending, as a `KubeTransport` does. */
  readonly transport?: ResourceTransport;
  /** The name of the fleet: of at most 40 lower case letters, digits and hyphens, with neither `-member` nor `-shard` as a word. All members give the same. */
  readonly name: string;
  /** Where the Leases of the fleet lie. Default `kube-system`, which every cluster has; one of its own, as in deploy/fleet.yaml, spares the members the right to others' Leases. */
  readonly namespace?: string;
  /**
   * Into how many parts the nodes fall. All members give the same number, 1 to 1000; a member with another one waits until no member counts
   * with the old one. Four to sixteen for each member that there may be are a good choice. Default 64.
   */
  readonly shards?: number;
  /** What this member is called: at most 63 lower case letters, digits and hyphens. No two may share one. Default: the host's name and six random letters. */
  readonly id?: string;
  /** The nodes of the fleet. All members give the same ones; each runs those of its shards. */
  readonly nodes: FleetNodes;
  /** Makes what runs the pods of one node, each time that the node comes to this process. What it throws is told, and it is called again later. */
  readonly provider: (nodeName: string) => PodProvider;
  /** What all nodes are told. Each writes four statuses at once, unless its `statusManager.concurrency` says otherwise. Default: nothing. */
  readonly nodeOptions?: FleetNodeOptions;
  /**
   * True: a node that leaves the fleet is deleted from the apiserver, with its Lease, by the member that runs it. Default false: its object
   * stays, and the cluster finds it not ready.
   */
  readonly removeNodes?: boolean;
  /** Another member takes a shard whose Lease has not changed for so long, in milliseconds; whole seconds, at least 1000. Default 15 000. */
  readonly leaseDurationMs?: number;
  /** A member that has not renewed a Lease for so long writes nothing for its shard any more, in milliseconds. Default, and most: two thirds of `leaseDurationMs`. */
  readonly renewDeadlineMs?: number;
  /** How long after a failure a Lease is tried for again, in milliseconds, at least 50. Default: two fifteenths of `leaseDurationMs`. */
  readonly retryPeriodMs?: number;
  /** So many shards are handed over at once, each to another member: one member gets one after the other. Default 4. */
  readonly handOversAtOnce?: number;
  /** How long the nodes of a shard may take to end in peace when it is handed over, in milliseconds. Default 10 000. */
  readonly handOverTimeoutMs?: number;
  /** So many nodes start at once. Default 64. */
  readonly startsAtOnce?: number;
  /**
   * How many requests of the nodes are under way at once (default 20), and how many begin in a second (default: as many as can). Nodes have their
   * turns one after the other, and one node has half of the places at most, apart from its Lease: one with a thousand requests, or with some
   * that hang, keeps another from the next turn only; two whose requests hang can take all places. Requests of the fleet's own Leases wait for none.
   */
  readonly requests?: FleetRequestLimits;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Gets what `metricDefinitions` lists for the part NodeFleet, and the counters and histograms of the nodes. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

/** How much the nodes of one member ask of the apiserver. */
export interface FleetRequestLimits {
  /** So many requests are under way at once, watches apart. Default 20. */
  readonly concurrency?: number;
  /** How many requests begin in a second, in the long run and at once. Default: as many as can. */
  readonly rateLimiter?: RateLimiterOptions;
}

const knownOptions = [
  ...['kubeConfig', 'transport', 'name', 'namespace', 'shards', 'id', 'nodes', 'provider', 'nodeOptions', 'removeNodes'],
  ...['leaseDurationMs', 'renewDeadlineMs', 'retryPeriodMs', 'handOversAtOnce', 'handOverTimeoutMs', 'startsAtOnce', 'requests'],
  ...['random', 'clock', 'logger', 'metrics'],
];

/** The options, checked and complete. */
export interface CheckedFleetOptions {
  readonly kubeConfig: ClientConfig | undefined;
  readonly transport: ResourceTransport | undefined;
  readonly names: FleetNames;
  readonly id: string;
  readonly nodes: FleetNodes;
  readonly provider: (nodeName: string) => PodProvider;
  readonly nodeOptions: FleetNodeOptions;
  readonly removeNodes: boolean;
  readonly timing: FleetTiming;
  readonly handOversAtOnce: number;
  readonly handOverTimeoutMs: number;
  readonly startsAtOnce: number;
  readonly requests: FleetRequestLimits & Required<Pick<FleetRequestLimits, 'concurrency'>>;
  readonly random: () => number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly sink: MetricsSink | undefined;
}

/** The names of its Leases are to fit, and its value of a label. */
const longestName = 40;
const mostShards = 1000;
const mostRequests = 1000;

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function checkedFleetOptions(options: NodeFleetOptions): CheckedFleetOptions {
  requireKnownOptions('options', options, knownOptions);
  const { kubeConfig, transport, name, namespace = 'kube-system', shards = 64, id = defaultID(), provider } = options;
  const { nodeOptions = {}, removeNodes = false, handOversAtOnce = 4, handOverTimeoutMs = 10_000, startsAtOnce = 64 } = options;
  const { random = Math.random, clock = systemClock, logger, metrics } = options;
  if ((kubeConfig === undefined) === (transport === undefined)) {
    throw invalidOption('kubeConfig', 'given, or else `transport`, and not both', kubeConfig);
  }
  if (transport !== undefined) requireMethods('transport', transport, ['request', 'stream']);
  requireMethods('clock', clock, ['now', 'setTimer']);
  requireFleetNodeOptions('nodeOptions', nodeOptions);
  if (!isOwnFleetName(labelOption('name', name, longestName)))
    throw invalidOption('name', 'without "-member" and "-shard", by which the Leases of two fleets could have one name', name);
  requireUsableOptions('nodeOptions', nodeOptions);
  const nodes = nodesOption(options.nodes);
  requireUsableNodes(nodes, nodeOptions);
  const names = {
    name: labelOption('name', name, longestName),
    namespace: labelOption('namespace', namespace),
    shards: atMost('shards', integerOption('shards', shards, 1), mostShards),
  };
  return {
    kubeConfig,
    transport,
    names,
    id: labelOption('id', id),
    nodes,
    provider: optionOfType('provider', provider, 'function'),
    nodeOptions,
    removeNodes: optionOfType('removeNodes', removeNodes, 'boolean'),
    timing: fleetTiming(options),
    handOversAtOnce: integerOption('handOversAtOnce', handOversAtOnce, 1),
    handOverTimeoutMs: numberOption('handOverTimeoutMs', handOverTimeoutMs, 1, longestTimerMs),
    startsAtOnce: integerOption('startsAtOnce', startsAtOnce, 1),
    requests: requestLimits(options.requests),
    random: safeRandom(optionOfType('random', random, 'function')),
    clock: safeClock(clock),
    logger: loggerOption(logger),
    metrics: metricsOption(metrics),
    sink: metrics,
  };
}

/** So many options of nodes are tried before the start: each takes about a millisecond. Those of the others are when their nodes start. */
const mostTried = 100;

function requireUsableNodes(nodes: FleetNodes, nodeOptions: FleetNodeOptions): void {
  if (!Array.isArray(nodes)) return;
  const tried = new Set<FleetNodeOptions>();
  for (const [index, { options }] of (nodes as readonly FleetNode[]).entries()) {
    if (options === undefined || tried.has(options) || tried.size === mostTried) continue;
    tried.add(options);
    requireUsableOptions(`nodes[${index}].options`, { ...nodeOptions, ...options });
  }
}

function requestLimits(limits: FleetRequestLimits = {}): CheckedFleetOptions['requests'] {
  requireKnownOptions('requests', limits, ['concurrency', 'rateLimiter']);
  const { concurrency = 20, rateLimiter } = limits;
  return {
    concurrency: atMost('requests.concurrency', integerOption('requests.concurrency', concurrency, 1), mostRequests),
    ...(rateLimiter !== undefined && { rateLimiter: rateLimiterOption(rateLimiter) }),
  };
}

function labelOption(name: string, value: unknown, longest = 63): string {
  if (typeof value === 'string' && value.length <= longest && isDnsLabel(value)) return value;
  throw invalidOption(name, `at most ${longest} lower case letters, digits and "-", with no "-" at either end`, value);
}

function atMost(name: string, value: number, most: number): number {
  if (value > most) throw invalidOption(name, `at most ${most}`, value);
  return value;
}

/** The host's name and six random letters or digits, such as `worker-1-x7k2p9`. */
function defaultID(): string {
  const host = hostname()
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, '-')
    .replace(/^-+/, '')
    .slice(0, 56);
  return `${host === '' ? 'member' : host}-${randomBytes(3).toString('hex')}`;
}

/** What of a Lease's duration the deadline and the retry period are by default, as for client-go's 15, 10 and 2 seconds. */
const shareOf = { deadline: 2 / 3, retry: 2 / 15, leastDeadline: 1 / 10 };

/** Throws ERR_INVALID_OPTION. */
export function fleetTiming(
  options: Pick<NodeFleetOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'> = {},
): FleetTiming {
  const { leaseDurationMs = 15_000 } = options;
  integerOption('leaseDurationMs', leaseDurationMs, 1000);
  if (leaseDurationMs % 1000 !== 0) throw invalidOption('leaseDurationMs', 'whole seconds, in milliseconds', leaseDurationMs);
  atMost('leaseDurationMs', leaseDurationMs, longestDurationMs);
  const { renewDeadlineMs = leaseDurationMs * shareOf.deadline, retryPeriodMs = leaseDurationMs * shareOf.retry } = options;
  numberOption('renewDeadlineMs', renewDeadlineMs, 1, longestTimerMs);
  numberOption('retryPeriodMs', retryPeriodMs, 50, longestTimerMs);
  const most = Math.ceil(leaseDurationMs * shareOf.deadline);
  if (renewDeadlineMs > most || renewDeadlineMs < leaseDurationMs * shareOf.leastDeadline) {
    const rule = `from a tenth up to two thirds of leaseDurationMs, which is ${leaseDurationMs}: the last third is for writes that are under way`;
    throw invalidOption('renewDeadlineMs', rule, renewDeadlineMs);
  }
  if (retryPeriodMs >= renewDeadlineMs)
    throw invalidOption('retryPeriodMs', `less than renewDeadlineMs, which is ${renewDeadlineMs}`, retryPeriodMs);
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs, renewEveryMs: renewDeadlineMs / 3 };
}
