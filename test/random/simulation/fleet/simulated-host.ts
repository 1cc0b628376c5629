import type { ShardHost } from '../../../../src/fleet/member/shard-keeper-options.ts';
import type { ShardTerm } from '../../../../src/fleet/member/shard-term.ts';
import type { FleetFound } from './fleet-rules.ts';
import type { MemberProcess } from './member-process.ts';
import type { ShardNodes, WriteGuard } from './shard-nodes.ts';

export interface SimulatedHostParts {
  readonly id: string;
  readonly process: MemberProcess;
  readonly found: FleetFound;
  readonly count: (what: string) => void;
  readonly begin: (shard: number, term: WriteGuard) => ShardNodes;
  /** How long the nodes of a lost shard take to end, in milliseconds. */
  readonly endsInMs: () => number;
}

/** Runs the nodes of the shards that a member owns, and sees to it that it is told of them in order. */
export class SimulatedHost implements ShardHost {
  readonly #parts: SimulatedHostParts;
  readonly #nodes = new Map<number, ShardNodes>();
  readonly #endings = new Set<Promise<void>>();

  constructor(parts: SimulatedHostParts) {
    this.#parts = parts;
  }

  /** The shards of which something runs here. */
  get running(): readonly number[] {
    return [...this.#nodes].filter(([, { isRunning }]) => isRunning).map(([shard]) => shard);
  }

  hasEnded(shard: number): boolean {
    return this.#nodes.get(shard)?.isRunning !== true;
  }

  /** True while the shard is served: its nodes run, and may write. */
  serves(shard: number): boolean {
    const nodes = this.#nodes.get(shard);
    return nodes?.isRunning === true && !nodes.isDraining && nodes.term.isOwned;
  }

  gained(shard: number, term: ShardTerm): void {
    const { begin, count } = this.#parts;
    count('shard gained');
    if (!this.hasEnded(shard)) this.#outOfOrder('gained', shard, 'which runs there already');
    this.#nodes.set(shard, begin(shard, term));
  }

  async handOver(shard: number): Promise<void> {
    const { count } = this.#parts;
    count('shard handed over');
    const nodes = this.#nodes.get(shard);
    if (nodes?.isRunning !== true || nodes.isDraining) this.#outOfOrder('handOver', shard, 'which does not run there');
    await nodes?.drain();
  }

  async lost(shard: number): Promise<void> {
    const { process, count, endsInMs } = this.#parts;
    count('shard lost');
    const nodes = this.#nodes.get(shard);
    if (nodes === undefined) this.#outOfOrder('lost', shard, 'which it never had');
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#endings.add(promise);
    process.clock.setTimer(resolve, endsInMs());
    await promise;
    this.#endings.delete(promise);
    nodes?.end();
  }

  /** Resolves once what was lost has ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#endings);
  }

  #outOfOrder(call: string, shard: number, why: string): void {
    this.#parts.found('a host is told in order', `${this.#parts.id}: ${call} for shard ${shard}, ${why}`);
  }
}
