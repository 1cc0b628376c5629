import { isDeepStrictEqual } from 'node:util';
import type { WireNode } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { LastFailure } from '../../base/concurrency/run-state.ts';
import { invalidOption } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { isDnsSubdomain } from '../../base/names.ts';
import { requireObject } from '../../base/options.ts';
import { type ProblemFields, problemFields } from '../../base/problem.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import { resources } from '../../client/resources/api-resource.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import {
  checkedNode,
  type FleetNode,
  type FleetNodeChange,
  type FleetNodeOptions,
  type FleetNodes,
  type SelectedNodes,
} from './fleet-node-options.ts';
import { type NamedFailure, nodeOptionsProblem, nodesProblem } from './fleet-node-problems.ts';

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

/** After so many changes that came without a pause, timers and sockets have their turn. */
const changesInTurn = 256;
/** Failures of so many nodes are kept; each node is tried again whether its failure is kept or not. */
const mostFailures = 1000;

/** Tells of the nodes of the fleet as they come and go. A source that fails leaves the nodes that it has told of. */
export class FleetNodeSource {
  readonly #options: FleetNodeSourceOptions;
  readonly #sink: NodeSink;
  readonly #reflector: Reflector<WireNode> | undefined;
  readonly #changes: AsyncIterable<FleetNodeChange> | undefined;
  #iterator: AsyncIterator<FleetNodeChange> | undefined;
  #failure: LastFailure | undefined;
  /** By the names of the nodes. */
  readonly #failures = new Map<string, NamedFailure>();
  /** What the nodes that were told have as options, where these come of their objects. */
  readonly #made = new Map<string, FleetNodeOptions | undefined>();
  #hasTold = false;
  #isStopped = false;

  constructor(options: FleetNodeSourceOptions, sink: NodeSink) {
    this.#options = options;
    this.#sink = sink;
    const { nodes } = options;
    this.#changes = !isList(nodes) && Symbol.asyncIterator in nodes ? nodes : undefined;
    this.#reflector = !isList(nodes) && 'labelSelector' in nodes ? this.#newReflector(nodes) : undefined;
    if (!isList(nodes)) return;
    for (const [index, node] of nodes.entries()) sink.added(checkedNode(`nodes[${index}]`, node));
    this.#hasTold = true;
  }

  /** Why the nodes are not known. A source that has ended with an error is not asked again. */
  get failure(): LastFailure | undefined {
    return this.#reflector?.lastFailure() ?? this.#failure;
  }

  /** True once it has told of the nodes that there are, as far as can be known: a list at once, and an iterable with its first change. */
  get hasTold(): boolean {
    return this.#hasTold || this.#reflector?.lastListedAt() !== undefined;
  }

  /** What was wrong with nodes, until it is mended or they are gone: such a node is left out, or goes on with the options that it had. */
  get failures(): Iterable<NamedFailure> {
    return this.#failures.values();
  }

  failureOf(nodeName: string): NamedFailure | undefined {
    return this.#failures.get(nodeName);
  }

  /** A list was told when it was given; other sources tell as they learn. */
  start(): void {
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
      for (let changes = 1; !this.#isStopped; changes += 1) {
        const { done, value } = await this.#iterator.next();
        if (done === true || this.#isStopped) return;
        this.#hasTold = true;
        this.#tell(value);
        // what never waits for anything would keep every timer back
        if (changes % changesInTurn === 0) await turnOfEventLoop();
      }
    } catch (error) {
      const problem = this.#failed(error);
      const { logger } = this.#options;
      if (!this.#isStopped)
        logger.error(
          { err: error, ...problem },
          'the source of the nodes of the fleet has failed: nodes that come or go now are not known',
        );
    }
  }

  /** One change that breaks a rule keeps no other back. */
  #tell(change: FleetNodeChange): void {
    let name: string | undefined;
    try {
      requireObject('change', change);
      const { type } = change;
      if (type !== 'added' && type !== 'removed') throw invalidOption('change.type', "'added' or 'removed'", type);
      name = nameOf(change.node);
      const node = checkedNode('change.node', change.node);
      if (type === 'added') this.#sink.added(node);
      else this.#sink.removed(node.name);
      this.#failures.delete(node.name);
    } catch (error) {
      const problem = this.#failed(error, name);
      this.#options.logger.error(
        { err: error, ...(name !== undefined && { node: name }), ...problem },
        'the source of the nodes of the fleet told of something that is no change of a node; it is passed over',
      );
    }
  }

  /** What a log line says of it. */
  #failed(error: unknown, nodeName?: string): ProblemFields {
    const at = this.#options.clock.now();
    const failure = { error, at, retryAt: at };
    if (nodeName === undefined) {
      this.#failure = failure;
      return problemFields(nodesProblem(failure), at);
    }
    const named = { ...failure, nodeName };
    if (this.#failures.size < mostFailures || this.#failures.has(nodeName)) this.#failures.set(nodeName, named);
    return problemFields(nodeOptionsProblem(named, !this.#made.has(nodeName)), at);
  }

  #newReflector({ labelSelector, options }: SelectedNodes): Reflector<WireNode> {
    const { transport, clock, random, logger } = this.#options;
    const added = (object: WireNode): void => this.#tellOf(object, options);
    return new Reflector<WireNode>({
      transport,
      resource: resources.nodes,
      labelSelector,
      handlers: {
        added,
        // heartbeats change neither
        updated: (object, previous) => {
          if (!isSameInput(object, previous)) added(object);
        },
        deleted: ({ metadata }) => this.#gone(metadata?.name ?? ''),
      },
      clock,
      random,
      logger,
      name: 'fleet-nodes',
    });
  }

  #gone(name: string): void {
    this.#failures.delete(name);
    this.#made.delete(name);
    this.#sink.removed(name);
  }

  /** Tells of a node with its options, unless it was told with the same ones. What cannot be made is tried again once its object changes. */
  #tellOf(object: WireNode, options: SelectedNodes['options']): void {
    const name = object.metadata?.name ?? '';
    try {
      const own = options?.(object);
      const node = checkedNode('node', own === undefined ? name : { name, options: own });
      this.#failures.delete(name);
      if (this.#made.has(name) && isSameOption(this.#made.get(name), node.options)) return;
      this.#made.set(name, node.options);
      this.#sink.added(node);
    } catch (error) {
      const problem = this.#failed(error, name);
      const { logger } = this.#options;
      const fields = { err: error, node: name, ...problem };
      if (this.#made.has(name))
        logger.error(fields, 'new options of a node of the fleet could not be made: it keeps those it had');
      else logger.error(fields, 'the options of a node of the fleet could not be made: the node is left out');
    }
  }
}

function nameOf(node: unknown): string | undefined {
  const name = typeof node === 'object' && node !== null && 'name' in node ? node.name : node;
  return typeof name === 'string' && isDnsSubdomain(name) ? name : undefined;
}

function turnOfEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What options are made of does not change with the status of a Node. */
function isSameInput(one: WireNode, other: WireNode): boolean {
  const inputOf = ({ metadata, spec }: WireNode): unknown => [metadata?.uid, metadata?.labels, metadata?.annotations, spec];
  return isDeepStrictEqual(inputOf(one), inputOf(other));
}

const deepestOption = 16;

/** Functions, and objects of a class, are made anew with each call: they count as the same. */
function isSameOption(one: unknown, other: unknown, depth = 0): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return one === other || (typeof one === 'function' && typeof other === 'function');
  }
  if (depth === deepestOption || !isPlain(one) || !isPlain(other)) return isPlain(one) === isPlain(other);
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  const memberOf = (value: object, name: string): unknown => (value as Readonly<Record<string, unknown>>)[name];
  return names.every((name) => name in other && isSameOption(memberOf(one, name), memberOf(other, name), depth + 1));
}

function isPlain(value: object): boolean {
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null;
}

function isList(nodes: FleetNodes): nodes is readonly (string | FleetNode)[] {
  return Array.isArray(nodes);
}
