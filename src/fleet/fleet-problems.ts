import { frozenProblem, type Problem } from '../base/problem.ts';
import { apiProblem } from '../client/resources/api-problem.ts';
import type { SharedWatchFailure } from '../node/provider/shared-watches.ts';
import type { Outside } from './member/fleet-member.ts';

/** A watch that the nodes of this member share is down. */
export function sharedWatchProblem({ resource, error, at, since = at, attempt = 1, retryAt }: SharedWatchFailure): Problem {
  return apiProblem(`the ${resource} of the cluster could not be watched for the nodes of this member`, error, {
    since,
    attempt,
    retryAt,
  });
}

/** Why this process takes no shards. */
export function outsideProblem(outside: Outside, name: string, shards: number): Problem {
  if (outside.kind === 'namesake') {
    const message = `another process has the id of this member: ${outside.agent}`;
    const help = 'Give each member an id of its own; this one takes shards once the other has left, or its Lease has run out.';
    return frozenProblem({ kind: 'fleet-id', message, attempt: 0, help });
  }
  const others = outside.members.slice(0, 5).join(', ');
  const ofFleet = outside.shards === undefined ? 'an unknown number of' : outside.shards;
  const alive = others === '' ? '' : `; members with another number: ${others}`;
  const holders = outside.holders.slice(0, 5).join(', ');
  const held = holders === '' ? '' : `; shards are held by others, whose number is not known to be this one: ${holders}`;
  const message = `the fleet ${name} has ${ofFleet} shards, and this process was told ${shards}${alive}${held}`;
  const help = 'Give all members the same number of shards; this one takes shards once no member with another number is left.';
  return frozenProblem({ kind: 'fleet-shards', message, attempt: 0, help });
}

/** More members than shards are placed on. */
export function crowdProblem(living: number, mostMembers: number): Problem {
  const message = `the fleet has ${living} members, and shards are placed on the first ${mostMembers} of them by their ids`;
  const help = 'Start fewer members, or remove the Leases of members that are none.';
  return frozenProblem({ kind: 'fleet-shards', message, attempt: 0, help });
}

/** The watch of the Leases brings nothing, not even the own renewals, and has not failed. */
export function silenceProblem(since: number): Problem {
  const message = 'the watch of the Leases of the fleet brings nothing, not even the renewals of this member';
  const help =
    'See what lies between this process and the apiserver: the watch begins anew once it has brought nothing for 150 s.';
  return frozenProblem({ kind: 'timeout', message, since, attempt: 0, help });
}

/** Leases that no member counts with. */
export function unclearProblem(leases: readonly string[]): Problem {
  const which = `${leases.slice(0, 5).join(', ')}${leases.length > 5 ? ` and ${leases.length - 5} more` : ''}`;
  const message = `Leases have the names of members of the fleet, and name no number of shards or another holder: ${which}`;
  const help = 'Remove these Leases, or what changes them: such a member is passed over.';
  return frozenProblem({ kind: 'fleet-shards', message, attempt: 0, help });
}

/** A shard that nobody has taken. */
export function unownedProblem(shards: readonly number[], since: number): Problem {
  const which = shards.length === 1 ? `shard ${shards[0]}` : `${shards.length} shards, the first of them ${shards[0]},`;
  const verb = shards.length === 1 ? 'has' : 'have';
  const message = `${which} of the fleet ${verb} no owner: nobody serves the nodes`;
  const help = 'See what the members say of these shards: their snapshots and logs tell why none takes them.';
  return frozenProblem({ kind: 'fleet-unowned', message, since, attempt: 0, help });
}

/** A problem of a node, which says whose it is. */
export function ofNode(nodeName: string, problem: Problem): Problem {
  return frozenProblem({ ...problem, message: `node ${nodeName}: ${problem.message}` });
}
