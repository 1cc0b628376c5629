import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import type { LastFailure } from '../../base/concurrency/run-state.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type MetricsSink, metricsOption } from '../../base/metrics/metrics.ts';
import { nodeNameOption } from '../../base/names.ts';
import { optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { safeRandom } from '../../base/random.ts';
import { type ApiObject, resources } from '../../client/resources/api-resource.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { ClusterServices, type KnownServices } from '../environment/cluster-services.ts';
import { nodeEventOutline, podEventOutline } from '../sources/shared-events.ts';
import { SharedWatch } from '../sources/shared-watch.ts';

/** What several nodes watch together, and over what. `transport` is needed. */
export interface SharedWatchesOptions {
  /** Carries the watches. Closing it is left to its owner. */
  readonly transport: ResourceTransport;
  /** From 0 up to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
  /** Gets what `metricDefinitions` lists for the part Reflector, under `shared-pods`, `shared-nodes` and `services`. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

/** Why a shared watch is down. */
export interface SharedWatchFailure extends LastFailure {
  /** What it watches. */
  readonly resource: 'pods' | 'nodes' | 'services';
}

/**
 * One watch of pods, one of nodes and one of services for all {@link ProviderNode}s of a process that get it as `sharedWatches`. Each
 * node still lists its own pods and its own Node, and takes what follows from the shared watch. Each of the three watches begins
 * when it is first needed. Its user needs the right to watch all pods, nodes and services of the cluster.
 *
 * Events of other nodes' pods are told by their first bytes, and not read further.
 *
 * @example
 * ```ts with-server
 * import { KubeTransport } from 'pod-status-manager';
 * import { ProviderNode, SharedWatches } from 'pod-status-manager/node';
 *
 * const transport = new KubeTransport(kubeConfig);
 * const sharedWatches = new SharedWatches({ transport });
 * const provider = { createPod() {}, deletePod() {}, getPodStatus: () => ({ phase: 'Running' }) };
 * const names = ['north', 'south'];
 * const nodes = names.map((nodeName) => new ProviderNode({ transport, sharedWatches, nodeName, provider, removeOnStop: true }));
 * await Promise.all(nodes.map((node) => node.start()));
 * console.log(nodes.map((node) => node.snapshot().registered)); // [ true, true ]
 * await Promise.all(nodes.map((node) => node.stop()));
 * await sharedWatches.stop(); // after the nodes
 * await transport.close();
 * ```
 */
export class SharedWatches {
  readonly #pods: SharedWatch;
  readonly #nodes: SharedWatch;
  readonly #services: ClusterServices;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: SharedWatchesOptions) {
    requireKnownOptions('options', options, ['transport', 'random', 'clock', 'logger', 'metrics']);
    const { transport, random = Math.random, clock = systemClock, logger, metrics } = options;
    requireMethods('transport', transport, ['request', 'stream']);
    requireMethods('clock', clock, ['now', 'setTimer']);
    metricsOption(metrics);
    const tools = {
      transport,
      random: safeRandom(optionOfType('random', random, 'function')),
      clock: safeClock(clock),
      logger: loggerOption(logger),
      ...(metrics !== undefined && { metrics }),
    };
    this.#pods = new SharedWatch({
      ...tools,
      resource: resources.pods,
      // a pod without a node is nobody's here
      fieldSelector: 'spec.nodeName!=',
      outlineOf: podEventOutline,
      keyOf: ({ spec }: ApiObject & { readonly spec?: { readonly nodeName?: string } }) => spec?.nodeName,
      name: 'shared-pods',
    });
    this.#nodes = new SharedWatch({
      ...tools,
      resource: resources.nodes,
      outlineOf: nodeEventOutline,
      keyOf: ({ metadata }) => metadata?.name,
      name: 'shared-nodes',
    });
    this.#services = new ClusterServices(tools);
  }

  /**
   * Begins the watches of pods and of nodes before the first node needs them, so that none waits for them. Not needed: each begins by itself.
   * Called again, it does nothing.
   */
  start(): void {
    // a reader asks again, and hears why
    for (const watch of [this.#pods, this.#nodes]) watch.ready(undefined).catch(ignoreFailure);
  }

  /** How many readers get events of pods and of nodes, or wait for them: two for each node that runs. */
  get readers(): number {
    return this.#pods.readers + this.#nodes.readers;
  }

  /**
   * Why watches are down, of those that are; empty while all work. Nodes hear nothing new of what is not watched, but for what each lists
   * now and then, and their own problems have the same words.
   */
  lastFailures(): readonly SharedWatchFailure[] {
    const watches = { pods: this.#pods, nodes: this.#nodes, services: this.#services };
    return (['pods', 'nodes', 'services'] as const).flatMap((resource) => {
      const failure = watches[resource].lastFailure();
      return failure === undefined ? [] : [{ resource, ...failure }];
    });
  }

  /**
   * A transport for one reflector of the pods of a node: its lists, which are not to be streamed, go over `transport`, and its watches
   * are the shared one. A `ProviderNode` makes its own.
   */
  podsOf(nodeName: string, transport: ResourceTransport): ResourceTransport {
    return this.#pods.reader(nodeNameOption(nodeName), transport);
  }

  /** The same for a reflector of one Node. */
  nodeOf(nodeName: string, transport: ResourceTransport): ResourceTransport {
    return this.#nodes.reader(nodeNameOption(nodeName), transport);
  }

  /** The services of the cluster, which are listed and watched from their first use. */
  get services(): KnownServices {
    return this.#services;
  }

  /** Ends the watches, also those of nodes that still run: stop the nodes first. When it resolves, no timer and no stream is left. */
  async stop(): Promise<void> {
    await Promise.all([this.#pods.stop(), this.#nodes.stop(), this.#services.stop()]);
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
