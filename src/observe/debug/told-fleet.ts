import { membersOf } from '../../api/json/json.ts';
import { callGuarded, catchRejection, ignoreFailure } from '../../base/guard.ts';
import type { DebugFleetMember, DebugFleetNode, DebugFleetNodeRow } from './debug-fleet-api.ts';
import { linesOf, noteOf } from './told-lines.ts';
import { listOf, nameOf, problemOf, timeOf, wordOf } from './told-problems.ts';

// What a fleet answers, read with care: it may be any object, and of everything only so much is kept.

/** What the handler asks a member of a fleet: a `NodeFleet`, or anything that answers like one. */
export interface DebugFleetSource {
  /**
   * How the fleet is. `nodes: false`: the nodes are not needed. Read of the answer: `name`, `id`, `state`, `isMember`, `members`,
   * `shards`, `nodes`, `moving`, and `notes`, `problems` and `problemCount` as of a node.
   */
  snapshot(options: { readonly nodes: boolean }): object;
  /** Who owns this node, and why it is not here. Read of the answer: `why`, `problem`, `state`, `owner`, `shard` and `since`; `node` is shown as it is. */
  explain(nodeName: string): object;
}

/** A fleet's own words, brought into one form. */
export interface ToldFleet {
  readonly id: string;
  readonly isMember: boolean | undefined;
  readonly members: readonly DebugFleetMember[];
  readonly shards: number;
  readonly unowned: number;
  readonly moving: number;
  readonly nodes: readonly DebugFleetNodeRow[];
}

const membersAtMost = 1_000;
const shardsAtMost = 10_000;
const nodesAtMost = 100_000;
const movingShards: readonly unknown[] = ['acquiring', 'handingOver', 'lost'];
const movingNodes: readonly unknown[] = ['starting', 'stopping'];

const nothing: ToldFleet = { id: '', isMember: undefined, members: [], shards: 0, unowned: 0, moving: 0, nodes: [] };

/** What the answer of `snapshot` says. Of one that is none, nothing is shown: the head of the page has the problem. */
export function readFleet(answer: unknown): ToldFleet {
  return callGuarded(() => told(answer), ignoreFailure) ?? nothing;
}

function told(answer: unknown): ToldFleet {
  const { id, isMember, members, shards, nodes } = membersOf(answer);
  const allShards = listOf(shards, shardsAtMost).flatMap((one) => callGuarded(() => shardOf(one), ignoreFailure) ?? []);
  const nodesOf = new Map<string, number>();
  for (const { owner, nodes: count } of allShards) {
    if (owner !== undefined) nodesOf.set(owner, (nodesOf.get(owner) ?? 0) + count);
  }
  const moving = new Set(allShards.filter(({ isMoving }) => isMoving).map(({ shard }) => shard));
  return {
    id: nameOf(id),
    isMember: typeof isMember === 'boolean' ? isMember : undefined,
    members: listOf(members, membersAtMost)
      .flatMap((one) => callGuarded(() => memberOf(one, nodesOf), ignoreFailure) ?? [])
      .sort((a, b) => Number(b.isAlive) - Number(a.isAlive) || compareNames(a.id, b.id)),
    shards: allShards.length,
    unowned: allShards.filter(({ owner, isKnown }) => isKnown && owner === undefined).length,
    moving: moving.size,
    nodes: listOf(nodes, nodesAtMost).flatMap((one) => callGuarded(() => rowOf(one, moving), ignoreFailure) ?? []),
  };
}

function compareNames(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

interface ToldShard {
  readonly shard: number;
  readonly owner: string | undefined;
  readonly isMoving: boolean;
  /** False while the member does not hear who owns it. */
  readonly isKnown: boolean;
  readonly nodes: number;
}

function shardOf(one: unknown): ToldShard | undefined {
  const { shard, owner, state, nodes } = membersOf(one);
  if (!isCount(shard)) return undefined;
  return {
    shard,
    owner: nameOf(owner) || undefined,
    isMoving: movingShards.includes(state),
    isKnown: state !== 'unknown',
    nodes: isCount(nodes) ? nodes : 0,
  };
}

function memberOf(one: unknown, nodesOf: ReadonlyMap<string, number>): DebugFleetMember | undefined {
  const { id, isSelf, isAlive, isLeaving, agent, shards, seenAt } = membersOf(one);
  const name = nameOf(id);
  if (name === '') return undefined;
  return {
    id: name,
    isSelf: isSelf === true,
    isAlive: isAlive === true,
    isLeaving: isLeaving === true,
    agent: noteOf(agent),
    shards: isCount(shards) ? shards : 0,
    nodes: nodesOf.get(name) ?? 0,
    seenAt: timeOf(seenAt),
  };
}

function rowOf(one: unknown, moving: ReadonlySet<number>): DebugFleetNodeRow | undefined {
  const { nodeName, shard, state, owner, since } = membersOf(one);
  const name = nameOf(nodeName);
  if (name === '') return undefined;
  const number = isCount(shard) ? shard : -1;
  return {
    nodeName: name,
    shard: number,
    state: wordOf(state) ?? 'unknown',
    owner: nameOf(owner) || undefined,
    since: timeOf(since),
    isMoving: movingNodes.includes(state) || moving.has(number),
    why: '',
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** The row with what the fleet says of the node: why it is so, and what is wrong. */
export function explainedRow(fleet: DebugFleetSource, row: DebugFleetNodeRow): DebugFleetNodeRow {
  return (
    callGuarded(() => {
      const answer: unknown = fleet.explain(row.nodeName);
      return catchRejection(answer, ignoreFailure) ? row : withWords(row, membersOf(answer));
    }, ignoreFailure) ?? row
  );
}

function withWords(row: DebugFleetNodeRow, answer: Partial<Record<string, unknown>>): DebugFleetNodeRow {
  const problem = problemOf(answer.problem);
  return { ...row, why: noteOf(answer.why) ?? '', ...(problem !== undefined && { problem }) };
}

/** One node, as the fleet explains it; undefined where it does not know the name, or gives no sound answer. */
export function readNode(fleet: DebugFleetSource, nodeName: string, at: number): DebugFleetNode | undefined {
  return callGuarded(() => {
    const answer: unknown = fleet.explain(nodeName);
    if (catchRejection(answer, ignoreFailure)) return undefined;
    const told = membersOf(answer);
    if (told.state === 'unknown' || told.state === undefined) return undefined;
    const row = rowOf({ ...told, nodeName }, new Set());
    if (row === undefined) return undefined;
    return { at, row: withWords(row, told), lines: linesOf(membersOf(told.node), ['problems', 'problemCount', 'pods']) };
  }, ignoreFailure);
}
