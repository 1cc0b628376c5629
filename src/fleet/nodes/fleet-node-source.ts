import type { WireNode } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { LastFailure } from '../../base/concurrency/run-state.ts';
import { invalidOption } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { requireObject } from '../../base/options.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import { resources } from '../../client/resources/api-resource.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { checkedNode, type FleetNode, type FleetNodeChange, type FleetNodes, type SelectedNodes } from './fleet-node-options.ts';

export interface FleetNodeSourceOptions {
  readonly nodes: FleetNodes;
  readonly transport: ResourceTransport;
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Who is told of the nodes. */
export interface NodeSink {
  added(node: FleetNode): void;
  removed(name: string): void;
}

/** Tells of the nodes of the fleet as they come and go. A source that fails leaves the nodes that it has told of. */
export class FleetNodeSource {
  readonly #options: FleetNodeSourceOptions;
  readonly #sink: NodeSink;
  readonly #list: readonly FleetNode[];
  readonly #reflector: Reflector<WireNode> | undefined;
  readonly #changes: AsyncIterable<FleetNodeChange> | undefined;
  #iterator: AsyncIterator<FleetNodeChange> | undefined;
  #failure: LastFailure | undefined;
  #isStopped = false;

  constructor(options: FleetNodeSourceOptions, sink: NodeSink) {
    this.#options = options;
    this.#sink = sink;
    const { nodes } = options;
    this.#list = isList(nodes) ? nodes.map((node, index) => checkedNode(`nodes[${index}]`, node)) : [];
    this.#changes = !isList(nodes) && Symbol.asyncIterator in nodes ? nodes : undefined;
    this.#reflector = !isList(nodes) && 'labelSelector' in nodes ? this.#newReflector(nodes) : undefined;
  }

  /** Why the nodes are not known, or what was wrong with one of them. A source that has ended with an error is not asked again. */
  get failure(): LastFailure | undefined {
    return this.#reflector?.lastFailure() ?? this.#failure;
  }

  /** A list is told at once; other sources tell as they learn. */
  start(): void {
    for (const node of this.#list) this.#sink.added(node);
    // a stop before the first list rejects it
    this.#reflector?.start().catch(ignoreFailure);
    if (this.#changes !== undefined) void this.#follow(this.#changes);
  }

  /** When it resolves, nothing is told any more. An iterator that does not return is not waited for. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    callGuarded(() => this.#iterator?.return?.(), ignoreFailure);
    await this.#reflector?.stop();
  }

  async #follow(changes: AsyncIterable<FleetNodeChange>): Promise<void> {
    try {
      this.#iterator = changes[Symbol.asyncIterator]();
      while (!this.#isStopped) {
        const { done, value } = await this.#iterator.next();
        if (done === true || this.#isStopped) return;
        this.#tell(value);
      }
    } catch (error) {
      this.#failed(error);
      const { logger } = this.#options;
      if (!this.#isStopped)
        logger.error({ err: error }, 'the source of the nodes of the fleet has failed: nodes that come or go now are not known');
    }
  }

  /** One change that breaks a rule keeps no other back. */
  #tell(change: FleetNodeChange): void {
    try {
      requireObject('change', change);
      const { type } = change;
      if (type !== 'added' && type !== 'removed') throw invalidOption('change.type', "'added' or 'removed'", type);
      const node = checkedNode('change.node', change.node);
      if (type === 'added') this.#sink.added(node);
      else this.#sink.removed(node.name);
    } catch (error) {
      this.#failed(error);
      this.#options.logger.error(
        { err: error },
        'the source of the nodes of the fleet told of something that is no change of a node; it is passed over',
      );
    }
  }

  #failed(error: unknown): void {
    const at = this.#options.clock.now();
    this.#failure = { error, at, retryAt: at };
  }

  #newReflector({ labelSelector, options }: SelectedNodes): Reflector<WireNode> {
    const { transport, clock, random, logger } = this.#options;
    const added = (object: WireNode): void => {
      const name = object.metadata?.name ?? '';
      try {
        const own = options?.(object);
        this.#sink.added(checkedNode('node', own === undefined ? name : { name, options: own }));
      } catch (error) {
        this.#failed(error);
        logger.error({ err: error, node: name }, 'the options of a node of the fleet could not be made: the node is left out');
      }
    };
    return new Reflector<WireNode>({
      transport,
      resource: resources.nodes,
      labelSelector,
      handlers: { added, deleted: ({ metadata }) => this.#sink.removed(metadata?.name ?? '') },
      clock,
      random,
      logger,
      name: 'fleet-nodes',
    });
  }
}

function isList(nodes: FleetNodes): nodes is readonly (string | FleetNode)[] {
  return Array.isArray(nodes);
}
