import type { RunStateName } from '../base/concurrency/run-state.ts';
import type { Metrics } from '../base/metrics/metrics.ts';
import { isPodProblem, notRunning, type Problem, problemReport, roundedDuration } from '../base/problem.ts';
import type { SharedWatches } from '../node/provider/shared-watches.ts';
import {
  crowdProblem,
  leaseProblem,
  nodeOptionsProblem,
  nodeStartProblem,
  nodesProblem,
  ofNode,
  outsideProblem,
  sharedWatchProblem,
  unclearProblem,
  unownedProblem,
} from './fleet-problems.ts';
import type {
  FleetMemberReport,
  FleetNodeCounts,
  FleetNodeExplanation,
  FleetNodeReport,
  FleetShardReport,
  FleetSnapshot,
} from './fleet-reports.ts';
import type { FleetMember } from './member/fleet-member.ts';
import { idOf } from './member/lease-documents.ts';
import type { ShardKeeper } from './member/shard-keeper.ts';
import type { CheckedFleetOptions } from './node-fleet-options.ts';
import type { FleetNodeSource } from './nodes/fleet-node-source.ts';
import type { ServedNode } from './nodes/served-node.ts';
import type { ServedNodes } from './nodes/served-nodes.ts';
import { mostMembers, shardOf } from './placement.ts';

/** The parts of a fleet, as reports read them. */
export interface ReportedFleet {
  readonly options: CheckedFleetOptions;
  readonly state: RunStateName;
  readonly member: FleetMember;
  readonly nodes: ServedNodes;
  readonly source: FleetNodeSource;
  readonly watches: Pick<SharedWatches, 'lastFailures'>;
}

/** How a fleet is. With `withNodes` false the list of its nodes is left out. */
export function fleetSnapshot(fleet: ReportedFleet, withNodes: boolean): FleetSnapshot {
  const { options, state, member, nodes } = fleet;
  const at = options.clock.now();
  const shards = shardReports(fleet);
  const names = withNodes ? [...nodes.known.keys()].toSorted() : [];
  return Object.freeze({
    at,
    state,
    name: options.names.name,
    id: options.id,
    isMember: member.isMember,
    members: memberReports(fleet, shards),
    shards,
    moving: member.movingShards,
    nodeCounts: countsOf(nodes),
    nodes: Object.freeze(names.map((nodeName) => Object.freeze(nodeReport(fleet, nodeName)))),
    ...problemReport(problemsOf(fleet, at), at),
  });
}

/** Who owns a node, and why. */
export function explainNode(fleet: ReportedFleet, nodeName: string): FleetNodeExplanation {
  const report = nodeReport(fleet, nodeName);
  const served = fleet.nodes.served.get(nodeName);
  const node = served?.agent?.snapshot({ pods: false });
  const problem = nodeProblem(fleet, nodeName) ?? node?.problems.find((one) => !isPodProblem(one));
  return Object.freeze({ ...report, why: whyOf(fleet, report), problem, node });
}

/** What the fleet knows to be wrong with the node. */
function nodeProblem({ nodes, source }: ReportedFleet, nodeName: string): Problem | undefined {
  const started = nodes.served.get(nodeName)?.failure;
  if (started !== undefined) return nodeStartProblem(nodeName, started);
  const failed = source.failureOf(nodeName);
  return failed && nodeOptionsProblem(failed, !nodes.known.has(nodeName));
}

export function setFleetGauges(metrics: Metrics, { member, nodes }: ReportedFleet): void {
  const { running, starting, stopping, failed } = countsOf(nodes);
  metrics.set('pod_status_manager_fleet_members', member.members.living().length);
  const owned = member.shards.filter(({ state }) => state === 'owned').length;
  metrics.set('pod_status_manager_fleet_shards', owned, { state: 'owned' });
  metrics.set('pod_status_manager_fleet_shards', member.movingShards, { state: 'moving' });
  metrics.set('pod_status_manager_fleet_unowned_shards', member.shards.filter(({ state }) => state === 'free').length);
  for (const [state, count] of Object.entries({ running, starting, stopping, failed })) {
    metrics.set('pod_status_manager_fleet_nodes', count, { state: state as 'running' });
  }
}

function shardReports({ options, member, nodes }: ReportedFleet): readonly FleetShardReport[] {
  const reports = member.shards.map((keeper, shard): FleetShardReport => {
    const { state, since } = keeper;
    const owner = ownerOf(keeper, options.id);
    return Object.freeze({ shard, state, owner, placedOn: member.placedOn(shard), since, nodes: nodes.nodesOf(shard) });
  });
  return Object.freeze(reports);
}

function ownerOf({ state, holder }: ShardKeeper, ownID: string): string | undefined {
  if (state === 'owned' || state === 'handingOver') return ownID;
  return holder === undefined ? undefined : idOf(holder);
}

function memberReports({ member }: ReportedFleet, shards: readonly FleetShardReport[]): readonly FleetMemberReport[] {
  const owned = new Map<string, number>();
  for (const { owner } of shards) if (owner !== undefined) owned.set(owner, (owned.get(owner) ?? 0) + 1);
  const reports = member.members.all().map(({ id, isSelf, isAlive, isLeaving, agent, seenAt }): FleetMemberReport => {
    return Object.freeze({ id, isSelf, isAlive, isLeaving, agent, shards: owned.get(id) ?? 0, seenAt });
  });
  return Object.freeze(reports);
}

function countsOf(nodes: ServedNodes): FleetNodeCounts {
  const counts = { starting: 0, running: 0, failed: 0, stopping: 0 };
  for (const { state } of nodes.served.values()) counts[state] += 1;
  return Object.freeze({ known: nodes.known.size, here: nodes.served.size, ...counts });
}

function nodeReport({ options, member, nodes }: ReportedFleet, nodeName: string): FleetNodeReport {
  const { clock, id, names } = options;
  const known = nodes.known.get(nodeName);
  const shard = known?.shard ?? shardOf(nodeName, names.shards);
  const keeper = member.shards[shard];
  const owner = keeper && ownerOf(keeper, id);
  const served = nodes.served.get(nodeName);
  if (served !== undefined) return { nodeName, shard, state: served.state, owner, since: served.since };
  if (known === undefined) return { nodeName, shard, state: 'unknown', owner, since: clock.now() };
  const since = Math.max(keeper?.since ?? 0, known.since);
  return { nodeName, shard, state: owner === undefined ? 'unowned' : 'elsewhere', owner, since };
}

function whyOf({ options, member, nodes, state, source }: ReportedFleet, report: FleetNodeReport): string {
  const { shard, owner, nodeName, since } = report;
  const { names, clock, id } = options;
  const age = roundedDuration(clock.now() - since);
  const placedOn = member.placedOn(shard);
  switch (report.state) {
    case 'unknown':
      if (source.failureOf(nodeName) !== undefined) return 'The node is left out: its options could not be made or used.';
      return `The fleet ${names.name} has no node of this name; it would fall into shard ${shard}.`;
    case 'running':
      return `This member owns shard ${shard} and has run the node for ${age}.`;
    case 'starting':
      return `This member owns shard ${shard}, and the node has been starting for ${age}.`;
    case 'failed':
      return failedWhy(nodes.served.get(nodeName), clock.now());
    case 'stopping':
      return `The node ends here: its shard ${shard} goes to another member, or the node has left the fleet.`;
    case 'elsewhere':
      return placedOn === id
        ? `Member ${owner} owns shard ${shard}, and is to hand it over to this member.`
        : `Member ${owner} owns shard ${shard}.`;
    case 'unowned':
      if (state !== 'running') return `Nobody owns shard ${shard}, and this member does not run.`;
      return placedOn === undefined
        ? `Nobody owns shard ${shard}, and no member is known that may take it.`
        : `Nobody owns shard ${shard}; ${placedOn === id ? 'this member' : `member ${placedOn}`} is to take it.`;
  }
}

function failedWhy(served: ServedNode | undefined, now: number): string {
  const { attempt = 1, retryAt = now } = served?.failure ?? {};
  return `The start of the node has failed ${attempt === 1 ? 'once' : `${attempt} times`}; next try in ${roundedDuration(Math.max(0, retryAt - now))}.`;
}

/** Why this process takes no shards, and which of them nobody has: what no request and no node tells of. */
export function ownershipProblems(fleet: ReportedFleet): Problem[] {
  const { options, state, member } = fleet;
  if (state !== 'running') return [];
  const { outside } = member;
  const { name, shards } = options.names;
  const ofOutside = outside === undefined ? [] : [outsideProblem(outside, name, shards)];
  return [...ofOutside, ...unownedProblems(fleet, options.clock.now())];
}

/** How many Leases' durations a shard may be without an owner before that is a problem. */
const unownedDurations = 2;

function problemsOf(fleet: ReportedFleet, now: number): Problem[] {
  const { options, state, member, nodes, source, watches } = fleet;
  if (state !== 'running') return [notRunning('the fleet', state)];
  const problems: Problem[] = [];
  const { outside, failure, watchFailure } = member;
  if (outside !== undefined) problems.push(outsideProblem(outside, options.names.name, options.names.shards));
  problems.push(...memberProblems(member));
  if (failure !== undefined) {
    const what = member.isMember ? 'the Lease of this member could not be renewed' : 'this process could not join the fleet';
    problems.push(leaseProblem(what, failure));
  }
  if (watchFailure !== undefined) problems.push(leaseProblem('the Leases of the fleet could not be read', watchFailure));
  for (const [shard, keeper] of member.shards.entries()) {
    if (keeper.failure !== undefined)
      problems.push(leaseProblem(`the Lease of shard ${shard} could not be written`, keeper.failure));
  }
  problems.push(...unownedProblems(fleet, now));
  problems.push(...watches.lastFailures().map(sharedWatchProblem));
  if (source.failure !== undefined) problems.push(nodesProblem(source.failure));
  for (const failed of source.failures) problems.push(nodeOptionsProblem(failed, !nodes.known.has(failed.nodeName)));
  for (const [nodeName, served] of nodes.served) problems.push(...problemsOfNode(nodeName, served, now));
  return problems;
}

function memberProblems({ members }: FleetMember): Problem[] {
  const [living, unclear] = [members.living().length, members.unclear()];
  return [
    ...(living > mostMembers ? [crowdProblem(living, mostMembers)] : []),
    ...(unclear.length > 0 ? [unclearProblem(unclear)] : []),
  ];
}

function unownedProblems({ options, member }: ReportedFleet, now: number): Problem[] {
  const before = now - unownedDurations * options.timing.leaseDurationMs;
  const unowned = [...member.shards.entries()].filter(([, { state, since }]) => state === 'free' && since < before);
  if (!member.isMember || unowned.length === 0) return [];
  return [
    unownedProblem(
      unowned.map(([shard]) => shard),
      Math.min(...unowned.map(([, { since }]) => since)),
    ),
  ];
}

/** A node that starts has what a started one would call a problem. */
const longStartMs = 10_000;

function problemsOfNode(nodeName: string, { failure, agent, state, since }: ServedNode, now: number): Problem[] {
  if (failure !== undefined) return [nodeStartProblem(nodeName, failure)];
  const isToBeHeard = state === 'running' || (state === 'starting' && now - since >= longStartMs);
  if (agent === undefined || !isToBeHeard) return [];
  return agent.snapshot({ pods: false }).problems.map((one) => (isPodProblem(one) ? one : ofNode(nodeName, one)));
}
