import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/base/problem.ts';
import {
  crowdProblem,
  ofNode,
  outsideProblem,
  sharedWatchProblem,
  unclearProblem,
  unownedProblem,
} from '../../../src/fleet/fleet-problems.ts';
import { nodeOptionsProblem, nodeStartProblem, nodesProblem } from '../../../src/fleet/nodes/fleet-node-problems.ts';
import { ApiError } from '../../../src/index.ts';

const answer = (status: number, reason: string): ApiError =>
  new ApiError({ status, reason, message: `${status} leases is ${reason}` });
describe('a watch that the nodes share', () => {
  const failure = { error: answer(403, 'Forbidden'), at: 1000, retryAt: 3000 };

  it.each(['pods', 'nodes', 'services'] as const)('of %s that is down says what it watches, and since when', (resource) => {
    expect(sharedWatchProblem({ ...failure, resource, since: 500, attempt: 4 })).toEqual({
      kind: 'forbidden',
      message: `the ${resource} of the cluster could not be watched for the nodes of this member: 403 leases is Forbidden`,
      since: 500,
      attempt: 4,
      retryAt: 3000,
      help: expect.stringContaining('deploy/rbac.yaml'),
    });
  });

  it('that has failed once is down since then', () => {
    expect(sharedWatchProblem({ ...failure, resource: 'pods' })).toMatchObject({ since: 1000, attempt: 1 });
  });
});

describe('a process that takes no shards', () => {
  it('since another has its id says which', () => {
    expect(outsideProblem({ kind: 'namesake', agent: 'process 2 on b' }, 'edge', 8)).toEqual({
      kind: 'fleet-id',
      message: 'another process has the id of this member: process 2 on b',
      attempt: 0,
      help: 'Give each member an id of its own; this one takes shards once the other has left, or its Lease has run out.',
    });
  });

  const help = 'Give all members the same number of shards; this one takes shards once no member with another number is left.';
  const many = ['a', 'b', 'c', 'd', 'e', 'f'];

  it.each<[number | undefined, readonly string[], readonly string[], string]>([
    [4, [], [], 'the fleet edge has 4 shards, and this process was told 8'],
    [undefined, [], [], 'the fleet edge has an unknown number of shards, and this process was told 8'],
    [4, ['a', 'b'], [], 'the fleet edge has 4 shards, and this process was told 8; members with another number: a, b'],
    [
      8,
      [],
      ['a'],
      'the fleet edge has 8 shards, and this process was told 8; shards are held by others, whose number is not known to be this one: a',
    ],
    [
      4,
      many,
      many,
      'the fleet edge has 4 shards, and this process was told 8; members with another number: a, b, c, d, e' +
        '; shards are held by others, whose number is not known to be this one: a, b, c, d, e',
    ],
  ])('since the fleet has %s shards, by members %j and holders %j, says so', (shards, members, holders, message) => {
    const problem = outsideProblem({ kind: 'other-shards', shards, members, holders }, 'edge', 8);
    expect(problem).toEqual({ kind: 'fleet-shards', message, attempt: 0, help });
  });
});

describe('members of a fleet', () => {
  it('that are too many are said to be, and how many are used', () => {
    expect(crowdProblem(300, 256)).toEqual({
      kind: 'fleet-shards',
      message: 'the fleet has 300 members, and shards are placed on the first 256 of them by their ids',
      attempt: 0,
      help: 'Start fewer members, or remove the Leases of members that are none.',
    });
  });

  it.each([
    [['a', 'b', 'c', 'd', 'e'], 'a, b, c, d, e'],
    [['a', 'b', 'c', 'd', 'e', 'f', 'g'], 'a, b, c, d, e and 2 more'],
  ])('whose Leases %j name no number of shards are named, but not too many', (leases, which) => {
    expect(unclearProblem(leases)).toEqual({
      kind: 'fleet-shards',
      message: `Leases have the names of members of the fleet, and name no number of shards or another holder: ${which}`,
      attempt: 0,
      help: 'Remove these Leases, or what changes them: such a member is passed over.',
    });
  });
});

describe('shards that nobody has taken', () => {
  it.each([
    [[5], 'shard 5 of the fleet has no owner: nobody serves the nodes'],
    [[2, 5, 7], '3 shards, the first of them 2, of the fleet have no owner: nobody serves the nodes'],
  ])('%j are said to have no owner, since when', (shards, message) => {
    expect(unownedProblem(shards, 500)).toEqual({
      kind: 'fleet-unowned',
      message,
      since: 500,
      attempt: 0,
      help: 'See what the members say of these shards: their snapshots and logs tell why none takes them.',
    });
  });
});

describe('the nodes of a fleet', () => {
  const error = new Error('the inventory is gone');

  it('that are not all known say why', () => {
    expect(nodesProblem({ error, at: 1000, retryAt: 1000 })).toEqual({
      kind: 'fleet-nodes',
      message: 'the nodes of the fleet are not all known: the inventory is gone',
      since: 1000,
      attempt: 1,
      help: 'Mend the source of the nodes that the fleet was given: what it has told before stays.',
    });
  });

  it.each([
    [true, 'node n1 is left out: the inventory is gone'],
    [false, 'node n1 goes on with the options that it had: the inventory is gone'],
  ])('whose options cannot be used say what becomes of them; left out: %s', (isLeftOut, message) => {
    expect(nodeOptionsProblem({ nodeName: 'n1', error, at: 1000, retryAt: 1000 }, isLeftOut)).toEqual({
      kind: 'fleet-nodes',
      message,
      since: 1000,
      attempt: 1,
      help: 'Mend what the message names: it is looked at again when the source tells of the node again, or its object changes.',
    });
  });

  it('that could not be started say since when, and when they are tried next', () => {
    expect(nodeStartProblem('n1', { error, since: 500, attempt: 3, retryAt: 9000 })).toEqual({
      kind: 'fleet-node-start',
      message: 'node n1 could not be started: the inventory is gone',
      since: 500,
      attempt: 3,
      retryAt: 9000,
      help: 'See what the message names: the options of the node, or the function that makes its provider.',
    });
  });

  it('have problems of their own, which say whose they are', () => {
    const problem: Problem = {
      kind: 'adopt',
      message: 'adopt() failed: no',
      since: 500,
      attempt: 2,
      retryAt: 900,
      help: 'Mend it.',
    };
    expect(ofNode('n1', problem)).toEqual({ ...problem, message: 'node n1: adopt() failed: no' });
  });
});
