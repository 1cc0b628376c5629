import type { DebugFleetSource } from '../../../../src/observe/debug/told-fleet.ts';

interface SampleMember {
  readonly id: string;
  readonly isAlive: boolean;
  readonly isLeaving: boolean;
}

/** What a test changes of one node. */
export interface SampleNode {
  readonly state?: string;
  readonly why?: string;
  readonly problem?: object;
}

/** Answers as one member of a fleet does, `member-0`, with nodes and shards spread evenly over the members that are alive. */
export class SampleFleet implements DebugFleetSource {
  readonly #shards: number;
  readonly #names: readonly string[];
  members: SampleMember[];
  /** The numbers of shards on the move. */
  readonly movingShards = new Set<number>();
  readonly unownedShards = new Set<number>();
  readonly nodes = new Map<string, SampleNode>();
  problems: object[] = [];
  /** What else each answer has, or has instead. */
  also: object = {};

  constructor({
    members = 4,
    shards = 64,
    nodes = 200,
    name = (index: number) => `node-${String(index).padStart(5, '0')}`,
  } = {}) {
    this.#shards = shards;
    this.#names = Array.from({ length: nodes }, (_, index) => name(index));
    this.members = Array.from({ length: members }, (_, index) => ({ id: `member-${index}`, isAlive: true, isLeaving: false }));
  }

  kill(index: number): void {
    this.members = this.members.map((one, at) => (at === index ? { ...one, isAlive: false } : one));
  }

  snapshot({ nodes }: { readonly nodes: boolean }): object {
    const shards = Array.from({ length: this.#shards }, (_, shard) => this.#shard(shard));
    const at = Date.now();
    return {
      at,
      state: 'running',
      name: 'edge',
      id: 'member-0',
      isMember: true,
      members: this.members.map((member) => ({
        ...member,
        isSelf: member.id === 'member-0',
        agent: `process ${member.id} on host-1`,
        shards: shards.filter(({ owner }) => owner === member.id).length,
        // the page tells the time once a second: minutes are the same a second later
        seenAt: at - 240_000,
      })),
      shards,
      nodes: nodes ? this.#names.map((nodeName, index) => this.#node(nodeName, index)) : [],
      problems: this.problems,
      problemCount: this.problems.length,
      notes: [],
      ...this.also,
    };
  }

  explain(nodeName: string): object {
    const index = this.#names.indexOf(nodeName);
    if (index < 0) return { nodeName, shard: 0, state: 'unknown', owner: undefined, since: 0, why: 'the fleet has no such node' };
    const row = this.#node(nodeName, index);
    const { why = row.owner === 'member-0' ? 'this member owns its shard' : `${row.owner} owns its shard`, problem } =
      this.nodes.get(nodeName) ?? {};
    const node =
      row.state === 'running' ? { nodeName, state: 'running', ready: true, lease: { lastRenewAt: Date.now() } } : undefined;
    return { ...row, why, problem, node };
  }

  #shard(shard: number): { shard: number; owner: string | undefined; state: string; since: number; nodes: number } {
    const alive = this.members.filter(({ isAlive }) => isAlive);
    const owner = this.unownedShards.has(shard) ? undefined : alive[shard % Math.max(1, alive.length)]?.id;
    const state = owner === undefined ? 'free' : owner === 'member-0' ? 'owned' : 'elsewhere';
    const nodes = Math.ceil((this.#names.length - shard) / this.#shards);
    return { shard, owner, state: this.movingShards.has(shard) ? 'acquiring' : state, since: Date.now() - 60_000, nodes };
  }

  #node(
    nodeName: string,
    index: number,
  ): { nodeName: string; shard: number; state: string; owner: string | undefined; since: number } {
    const { shard, owner } = this.#shard(index % this.#shards);
    const state = owner === undefined ? 'unowned' : owner === 'member-0' ? 'running' : 'elsewhere';
    return { nodeName, shard, state: this.nodes.get(nodeName)?.state ?? state, owner, since: Date.now() - 90_000 };
  }
}
