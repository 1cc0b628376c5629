import { problemText, roundedDuration } from '../../base/problem.ts';
import type { DebugFleet, DebugFleetMember, DebugFleetNode, DebugFleetNodeRow } from './debug-fleet-api.ts';
import { plural } from './debug-notes.ts';
import { memberState } from './fleet-words.ts';
import { columns } from './plain-text.ts';

/** A fleet as text: what is wrong, its members, and the nodes that were asked for. */
export function fleetText(fleet: DebugFleet): string {
  const { at, name, id, state, isMember, members, problems, problemCount, shards, unowned, moving, byState, known } = fleet;
  const states = Object.entries(byState).map(([one, count]) => `${one} ${count}`);
  const facts = [
    ['fleet', `${name} ${state}${isMember === false ? ', takes no shards' : ''}`.trim()],
    ...(problems.length === 0 ? [['trouble', 'none']] : []),
    ...problems.map((problem) => ['trouble', `! ${problemText(problem, at)}`]),
    ...(problemCount > problems.length ? [['trouble', `and ${problemCount - problems.length} more`]] : []),
    ['members', `${members} alive; this is ${id}`],
    ['shards', `${shards}, ${unowned} without an owner, ${moving} on the move here`],
    ['nodes', [`${known} in all`, ...states].join(', ')],
    ...(fleet.nodes.length < known ? [['shown', shownWords(fleet)]] : []),
  ];
  const parts = [columns(facts), memberTable(fleet.allMembers, at), nodeTable(fleet.nodes, at)];
  return parts.filter((part) => part !== '').join('\n\n');
}

function shownWords({ nodes, matching, from }: DebugFleet): string {
  return nodes.length === 0
    ? `none of ${matching} that pass`
    : `${from + 1} to ${from + nodes.length} of ${matching} ${plural('node', matching)} that pass`;
}

function memberTable(members: readonly DebugFleetMember[], at: number): string {
  if (members.length === 0) return '';
  const rows = members.map((member) => [
    `${member.id}${member.isSelf ? ' (this one)' : ''}`,
    memberState(member),
    String(member.shards),
    String(member.nodes),
    member.seenAt === undefined ? '' : roundedDuration(at - member.seenAt),
    member.agent ?? '',
  ]);
  return columns([['MEMBER', 'STATE', 'SHARDS', 'NODES', 'RENEWED', 'AGENT'], ...rows]);
}

function nodeTable(nodes: readonly DebugFleetNodeRow[], at: number): string {
  if (nodes.length === 0) return '';
  const rows = nodes.map((row) => [
    row.nodeName,
    row.shard < 0 ? '' : String(row.shard),
    row.owner ?? '',
    `${row.state}${row.isMoving ? ' ~' : ''}`,
    row.since === undefined ? '' : roundedDuration(at - row.since),
    whyOf(row, at),
  ]);
  return columns([['NODE', 'SHARD', 'OWNER', 'STATE', 'SINCE', 'WHY'], ...rows]);
}

function whyOf({ why, problem }: DebugFleetNodeRow, at: number): string {
  return problem === undefined ? why : `! ${problemText(problem, at)}`;
}

/** One node, as text: first of all what is wrong. */
export function fleetNodeText({ at, row, lines }: DebugFleetNode): string {
  const facts = [
    ['node', `${row.nodeName} ${row.state}`],
    ['trouble', row.problem === undefined ? 'none' : `! ${problemText(row.problem, at)}`],
    ['why', row.why],
    ['owner', row.owner ?? 'nobody'],
    ['shard', String(row.shard)],
    ...(row.since === undefined ? [] : [['since', roundedDuration(at - row.since)]]),
  ];
  return lines.length === 0 ? columns(facts) : `${columns(facts)}\n\n${columns(lines)}`;
}
