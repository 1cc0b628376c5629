import type { RunStateName } from '../base/concurrency/run-state.ts';
import type { Metrics } from '../base/metrics/metrics.ts';
import { isPodProblem, notRunning, type Problem, problemReport, roundedDuration } from '../base/problem.ts';
import type { SharedWatches } from '../node/provider/shared-watches.ts';
import {
  crowdProblem,
  ofNode,
  outsideProblem,
  sharedWatchProblem,
  silenceProblem,
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
import { leaseProblem } from './member/lease-problems.ts';
import type { SeenMember } from './member/members.ts';
import type { ShardKeeper } from './member/shard-keeper.ts';
import type { CheckedFleetOptions } from './node-fleet-options.ts';
import { nodeOptionsProblem, nodeStartProblem, nodesProblem } from './nodes/fleet-node-problems.ts';
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
    unheardSince: unheardSince(fleet),
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
  const problem = nodeProblem(fleet, nodeName) ?? node?.problems.find((one) => !isPodProblem(one) && !isEnd(one));
  return Object.freeze({ ...report, why: whyOf(fleet, report), problem, node });
}

/** That a node ends is not wrong in a fleet. */
function isEnd({ kind }: Problem): boolean {
  return kind === 'stopped';
}

/** What the fleet knows to be wrong with the node. */
function nodeProblem({ nodes, source }: ReportedFleet, nodeName: string): Problem | undefined {
  const started = nodes.served.get(nodeName)?.failure;
  if (started !== undefined) return nodeStartProblem(nodeName, started);
  const failed = source.failureOf(nodeName);
  return failed && nodeOptionsProblem(failed, !nodes.known.has(nodeName));
}

/** Since when this process has not heard of the Leases, in milliseconds since the epoch; undefined while it hears of them, or never was to. */
function unheardSince({ options, member }: ReportedFleet): number | undefined {
  const { isHeard, heardUntil } = member.heard;
  if (isHeard || heardUntil === undefined) return undefined;
  return Math.round(options.clock.now() - (options.clock.elapsed() - heardUntil));
}

/** Every member, as of when the Leases were heard of last: nobody has gone of whom nothing could be heard. */
function membersAsHeard({ member }: ReportedFleet): readonly SeenMember[] {
  return member.members.all(member.heard.heardUntil);
}

/** True where nobody owns the shard: who does not hear of the Leases calls none free. */
function isKnownFree({ heard }: FleetMember, keeper: ShardKeeper): boolean {
  const { isHeard, heardUntil } = heard;
  return isHeard && heardUntil !== undefined && keeper.wasFree(heardUntil);
}

export function setFleetGauges(metrics: Metrics, fleet: ReportedFleet): void {
  const { member, nodes } = fleet;
  const { running, starting, stopping, failed } = countsOf(nodes);
  const living = member.members.living(membersAsHeard(fleet)).length;
  // who has not heard of anybody yet says nothing
  if (living > 0 || member.heard.isHeard) metrics.set('pod_status_manager_fleet_members', living);
  const owned = member.shards.filter(({ state }) => state === 'owned').length;
  metrics.set('pod_status_manager_fleet_shards', owned, { state: 'owned' });
  metrics.set('pod_status_manager_fleet_shards', member.movingShards, { state: 'moving' });
  const unowned = member.shards.filter((keeper) => isKnownFree(member, keeper)).length;
  metrics.set('pod_status_manager_fleet_unowned_shards', unowned);
  for (const [state, count] of Object.entries({ running, starting, stopping, failed })) {
    metrics.set('pod_status_manager_fleet_nodes', count, { state: state as 'running' });
  }
}

function shardReports(fleet: ReportedFleet): readonly FleetShardReport[] {
  const { options, member, nodes } = fleet;
  const reports = member.shards.map((keeper, shard): FleetShardReport => {
    const { since } = keeper;
    const state = keeper.state === 'free' && !isKnownFree(member, keeper) ? 'unknown' : keeper.state;
    const owner = ownerOf(keeper, options.id);
    return Object.freeze({ shard, state, owner, placedOn: member.placedOn(shard), since, nodes: nodes.nodesOf(shard) });
  });
  return Object.freeze(reports);
}

function ownerOf({ state, holder }: ShardKeeper, ownID: string): string | undefined {
  if (state === 'owned' || state === 'handingOver') return ownID;
  return holder === undefined ? undefined : idOf(holder);
}

function memberReports(fleet: ReportedFleet, shards: readonly FleetShardReport[]): readonly FleetMemberReport[] {
  const owned = new Map<string, number>();
  for (const { owner } of shards) if (owner !== undefined) owned.set(owner, (owned.get(owner) ?? 0) + 1);
  const reports = membersAsHeard(fleet).map(({ id, isSelf, isAlive, isLeaving, agent, seenAt }): FleetMemberReport => {
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
  const report = { nodeName, shard, owner, releasingSince: releasingSince(served) };
  if (served !== undefined) return { ...report, state: served.state, since: served.since };
  if (known === undefined) return { ...report, state: 'unknown', since: clock.now() };
  const since = Math.max(keeper?.since ?? 0, known.since);
  return { ...report, state: owner === undefined ? 'unowned' : 'elsewhere', since };
}

/** Since when the provider has been told that its pods are run from elsewhere, and has not settled. */
function releasingSince(served: ServedNode | undefined): number | undefined {
  return served?.state === 'stopping' ? served.agent?.snapshot({ pods: false }).releasingSince : undefined;
}

function whyOf(fleet: ReportedFleet, report: FleetNodeReport): string {
  const { options, nodes } = fleet;
  const { shard, nodeName, since } = report;
  const { clock } = options;
  const age = roundedDuration(clock.now() - since);
  switch (report.state) {
    case 'unknown':
      return unknownWhy(fleet, report);
    case 'running':
      return `This member owns shard ${shard} and has run the node for ${age}.`;
    case 'starting':
      return `This member owns shard ${shard}, and the node has been starting for ${age}.`;
    case 'failed':
      return failedWhy(nodes.served.get(nodeName), clock.now());
    case 'stopping':
      return `${stoppingWhy(fleet, report)}${releasingText(report, clock.now())}`;
    case 'elsewhere':
    case 'unowned':
      return isOwnerKnown(fleet, report) ? ownerWhy(fleet, report) : unheardWhy(fleet, report);
  }
}

function unknownWhy({ options, nodes, source }: ReportedFleet, { nodeName, shard }: FleetNodeReport): string {
  if (source.failureOf(nodeName) !== undefined) return 'The node is left out: its options could not be made or used.';
  if (!source.hasTold && nodes.known.size === 0) {
    return `The nodes of the fleet ${options.names.name} are not known yet; this one would fall into shard ${shard}.`;
  }
  return `The fleet ${options.names.name} has no node of this name; it would fall into shard ${shard}.`;
}

function stoppingWhy({ member, nodes, state }: ReportedFleet, { nodeName, shard }: FleetNodeReport): string {
  if (!nodes.known.has(nodeName)) return 'The node ends here: it has left the fleet.';
  const keeper = member.shards[shard]?.state;
  if (keeper === 'owned') return 'The node ends here, and starts again with its new options.';
  if (keeper !== 'handingOver')
    return `The node ends here: this member has lost shard ${shard}, and writes nothing for it any more.`;
  if (state !== 'running') return `The node ends here: this member stops, and gives up shard ${shard}.`;
  const placedOn = member.placedOn(shard);
  return `The node ends here: its shard ${shard} goes to ${placedOn === undefined ? 'another member' : `member ${placedOn}`}.`;
}

function releasingText({ releasingSince: since }: FleetNodeReport, now: number): string {
  return since === undefined ? '' : ` Its provider has been releasing the pods for ${roundedDuration(now - since)}.`;
}

function isOwnerKnown({ member }: ReportedFleet, { shard, owner }: FleetNodeReport): boolean {
  const keeper = member.shards[shard];
  return owner === undefined && keeper?.state === 'free' ? isKnownFree(member, keeper) : member.heard.isHeard;
}

function ownerWhy({ options, member }: ReportedFleet, { shard, owner }: FleetNodeReport): string {
  const placedOn = member.placedOn(shard);
  const isPlacedHere = placedOn === options.id;
  if (owner !== undefined) {
    return `Member ${owner} owns shard ${shard}${isPlacedHere ? ', and is to hand it over to this member' : ''}.`;
  }
  return placedOn === undefined
    ? `Nobody owns shard ${shard}, and no member is known that may take it.`
    : `Nobody owns shard ${shard}; ${isPlacedHere ? 'this member' : `member ${placedOn}`} is to take it.`;
}

/** What was seen last says little of what is. */
function unheardWhy(fleet: ReportedFleet, { shard, owner }: FleetNodeReport): string {
  const { heardUntil } = fleet.member.heard;
  if (heardUntil === undefined) return `Who owns shard ${shard} is not known: this member does not run yet.`;
  const age = roundedDuration(fleet.options.clock.elapsed() - heardUntil);
  const last = owner === undefined ? '' : ` Member ${owner} owned it then.`;
  const why = fleet.state === 'stopped' ? `stopped ${age} ago` : `has not heard of the Leases for ${age}`;
  return `Who owns shard ${shard} is not known: this member ${why}.${last}`;
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
  const silentSince = failure === undefined && watchFailure === undefined ? unheardSince(fleet) : undefined;
  if (silentSince !== undefined) problems.push(silenceProblem(silentSince));
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
  const unowned = [...member.shards.entries()].filter(([, keeper]) => isKnownFree(member, keeper) && keeper.since < before);
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
  const isToBeHeard = state !== 'starting' || now - since >= longStartMs;
  if (agent === undefined || !isToBeHeard) return [];
  const problems = agent.snapshot({ pods: false }).problems.filter((one) => !isEnd(one));
  return problems.map((one) => (isPodProblem(one) ? one : ofNode(nodeName, one)));
}
