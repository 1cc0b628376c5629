import { isDeepStrictEqual } from 'node:util';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { ShardHost } from '../member/shard-keeper-options.ts';
import type { ShardTerm } from '../member/shard-term.ts';
import { shardOf } from '../placement.ts';
import type { FleetNode } from './fleet-node-options.ts';
import type { NodeSink } from './fleet-node-source.ts';
import { ServedNode, type ServedNodeOptions } from './served-node.ts';

export interface ServedNodesOptions extends ServedNodeOptions {
  readonly shards: number;
  /**
   * Called when a node has left the fleet and has ended here. `isWanted`: it has come again meanwhile, and starts once this has settled.
   * Resolves to false where the next owner of its shard is to try again. Never rejects.
   */
  readonly hasLeft: (name: string, term: ShardTerm, isWanted: () => boolean, leftAt: number) => Promise<boolean>;
  readonly metrics: Metrics;
}

/** A node that the fleet has. */
export interface KnownFleetNode {
  readonly shard: number;
  readonly node: FleetNode;
  /** When this process learned of it, in milliseconds since the epoch. */
  readonly since: number;
}

/** A node on its way out of the fleet. */
interface Leaving {
  readonly shard: number;
  /** Resolves once it has ended here and, where it has not come again, what it has left is dealt with. */
  readonly ended: Promise<void>;
}

/** A node that has left the fleet, and that this process has not dealt with. */
interface LeftNode {
  readonly shard: number;
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** False for one that this process was the owner of: what there is of it is its own. */
  readonly isRemembered: boolean;
}

/** So many nodes are remembered that left while another member, or none, owned their shards, and each for so long. */
const mostLeft = 10_000;
const rememberedForMs = 600_000;

/** Runs the nodes of the shards that this member owns, as the shards and the nodes come and go. */
export class ServedNodes implements ShardHost, NodeSink {
  readonly #options: ServedNodesOptions;
  readonly #known = new Map<string, KnownFleetNode>();
  /** The names of the nodes of each shard. */
  readonly #byShard: readonly Set<string>[];
  /** The terms of the shards whose nodes are to run here. */
  readonly #terms = new Map<number, ShardTerm>();
  /** The nodes that run here, also while they end. */
  readonly #served = new Map<string, ServedNode>();
  /** A node that comes again begins only when it has left: what is removed of it is what was there before. */
  readonly #leaving = new Map<string, Leaving>();
  /** Nodes that left while their shard was another member's or nobody's: that one may have gone before it was told. */
  readonly #left = new Map<string, LeftNode>();

  constructor(options: ServedNodesOptions) {
    this.#options = options;
    this.#byShard = Array.from({ length: options.shards }, () => new Set());
  }

  get known(): ReadonlyMap<string, KnownFleetNode> {
    return this.#known;
  }

  get served(): ReadonlyMap<string, ServedNode> {
    return this.#served;
  }

  /** How many nodes fall into the shard. */
  nodesOf(shard: number): number {
    return this.#byShard[shard]?.size ?? 0;
  }

  added(node: FleetNode): void {
    const { name } = node;
    this.#left.delete(name);
    const known = this.#known.get(name);
    const { shard, since } = known ?? { shard: shardOf(name, this.#options.shards), since: this.#options.clock.now() };
    this.#known.set(name, { node, shard, since });
    this.#byShard[shard]?.add(name);
    if (known === undefined) void this.#serve(name);
    // it starts again, with the new options, once it has ended
    else if (!isDeepStrictEqual(known.node.options ?? {}, node.options ?? {})) void this.#end(name, true);
  }

  removed(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    this.#known.delete(name);
    this.#byShard[known.shard]?.delete(name);
    const term = this.#terms.get(known.shard);
    const left = { shard: known.shard, at: this.#options.clock.now(), isRemembered: false };
    if (term !== undefined) void this.#leave(name, term, left);
    // where it still runs here, it ends with its shard
    else this.#remember(name, left);
  }

  gained(shard: number, term: ShardTerm): Promise<void> {
    this.#terms.set(shard, term);
    const served = this.#serveAll(shard);
    const now = this.#options.clock.now();
    for (const [name, left] of [...this.#left]) {
      if (left.shard !== shard) continue;
      this.#left.delete(name);
      if (now - left.at <= rememberedForMs) void this.#leave(name, term, left);
    }
    return served;
  }

  handOver(shard: number): Promise<void> {
    return this.#endAll(shard, true);
  }

  lost(shard: number): Promise<void> {
    return this.#endAll(shard, false);
  }

  #remember(name: string, left: LeftNode): void {
    const [oldest] = this.#left.keys();
    if (this.#left.size >= mostLeft && oldest !== undefined) this.#left.delete(oldest);
    this.#left.set(name, { ...left, isRemembered: true });
  }

  async #leave(name: string, term: ShardTerm, left: LeftNode): Promise<void> {
    const before = this.#leaving.get(name)?.ended;
    const leaving = { shard: term.shard, ended: this.#endAndLeave(name, term, left, before) };
    this.#leaving.set(name, leaving);
    await leaving.ended;
    if (this.#leaving.get(name) !== leaving) return;
    this.#leaving.delete(name);
    void this.#serve(name);
  }

  async #endAndLeave(name: string, term: ShardTerm, left: LeftNode, before: Promise<void> | undefined): Promise<void> {
    await before;
    await this.#end(name, true);
    const isWanted = (): boolean => this.#known.has(name);
    if (isWanted()) return;
    const leftAt = left.isRemembered ? left.at : Number.POSITIVE_INFINITY;
    if ((await this.#options.hasLeft(name, term, isWanted, leftAt)) || isWanted()) return;
    this.#remember(name, left);
  }

  async #serveAll(shard: number): Promise<void> {
    const { clock, metrics } = this.#options;
    const beganAt = clock.elapsed();
    await Promise.all([...(this.#byShard[shard] ?? [])].map((name) => this.#serve(name)));
    const seconds = (clock.elapsed() - beganAt) / 1000;
    metrics.observe('pod_status_manager_fleet_handover_duration_seconds', seconds, { direction: 'in' });
  }

  /** Resolves once the node runs, or is to end. A node that still ends or leaves here starts once it has. */
  async #serve(name: string): Promise<void> {
    const known = this.#known.get(name);
    const term = known && this.#terms.get(known.shard);
    if (known === undefined || term === undefined || this.#served.has(name) || this.#leaving.has(name)) return;
    const served = new ServedNode(this.#options, known.node, term);
    this.#served.set(name, served);
    await served.start();
  }

  async #endAll(shard: number, inPeace: boolean): Promise<void> {
    this.#terms.delete(shard);
    const ofShard = [...this.#served.values()].filter((served) => served.shard === shard);
    const ended = ofShard.map(({ node }) => this.#end(node.name, inPeace));
    // the next owner of the shard may get the node again: nothing of what it makes then is removed from here
    const leaving = [...this.#leaving.values()].filter((one) => inPeace && one.shard === shard).map((one) => one.ended);
    await Promise.all([...ended, ...leaving]);
  }

  async #end(name: string, inPeace: boolean): Promise<void> {
    const served = this.#served.get(name);
    if (served === undefined) return;
    await served.stop(inPeace);
    if (this.#served.get(name) === served) this.#served.delete(name);
    // it, or its shard, may have come again meanwhile
    void this.#serve(name);
  }
}
