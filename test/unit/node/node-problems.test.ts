import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/client/transport/api-error.ts';
import { nodeProblems, type ObservedNode, workerProblem } from '../../../src/node/node-problems.ts';

const at = 1_000_000;
const well: ObservedNode = {
  at,
  node: {
    registered: true,
    readiness: { ready: true },
    rival: undefined,
    nodeFailure: undefined,
    leaseFailure: undefined,
    watchFailure: undefined,
  },
  sources: [{ name: 'api', hasSent: true, isWaiting: false, pods: 3, leftOut: [], lastObservedAt: at, lastError: undefined }],
  lastIterationAt: at - 2000,
};
const forbidden = new ApiError({ status: 403, reason: 'Forbidden', message: 'leases is forbidden' });
const failure = {
  error: forbidden,
  errorClass: 'forbidden',
  attempt: 3,
  retryInMs: 500,
  at: at - 100,
  since: at - 900,
} as const;

const rival = {
  agent: 'process 4711 on host-a',
  holderIdentity: 'other',
  renewTime: '',
  seenAt: at - 1000,
  isCertain: true,
  knownAt: undefined,
};

const ofNode = (node: Partial<ObservedNode['node']>) => nodeProblems({ ...well, node: { ...well.node, ...node } });

describe('nodeProblems', () => {
  it('finds none where all is well', () => {
    expect(nodeProblems(well)).toEqual([]);
  });

  it('says why the node is not registered, since when, and when it is tried next', () => {
    expect(ofNode({ registered: false, nodeFailure: failure })).toMatchObject([
      {
        kind: 'forbidden',
        message: 'the node object is not registered: leases is forbidden',
        attempt: 3,
        since: at - 900,
        retryAt: at + 400,
        help: expect.stringContaining('deploy/rbac.yaml'),
      },
    ]);
    expect(ofNode({ registered: false })).toMatchObject([
      { kind: 'not-registered', message: 'the node object is not registered' },
    ]);
  });

  it.each([
    [{ nodeFailure: failure }, 'the node object could not be kept in step: leases is forbidden'],
    [{ leaseFailure: failure }, 'the Lease of the node could not be renewed: leases is forbidden'],
    [{ watchFailure: failure }, 'the node cannot be watched, and is read before each write: leases is forbidden'],
    [{ readiness: { ready: false, message: 'the disk is gone' } }, 'the node is not ready: the disk is gone'],
    [{ readiness: undefined }, 'the node is not ready: it was not asked yet'],
    [{ rival }, 'another agent, process 4711 on host-a, renews the Lease of this node: two agents run under one name'],
  ])('tells of a registered node %j', (node, message) => {
    expect(ofNode(node).map((one) => one.message)).toEqual([message]);
  });

  it('tells of a watch without an answer once, and of each right that is missing', () => {
    const noAnswer = { ...failure, error: new ApiError({ reason: 'Network', message: 'reset' }) };
    const kinds = (node: Partial<ObservedNode['node']>) => ofNode(node).map(({ kind }) => kind);
    expect(kinds({ watchFailure: noAnswer })).toEqual(['unavailable']);
    expect(kinds({ watchFailure: noAnswer, leaseFailure: noAnswer })).toEqual(['unavailable']);
    expect(kinds({ watchFailure: failure, leaseFailure: failure })).toEqual(['forbidden', 'forbidden']);
    expect(kinds({ watchFailure: failure, registered: false })).toEqual(['not-registered']);
  });

  it('does not say of another agent that it runs, when it may have been killed', () => {
    const suspected = { ...rival, agent: undefined, isCertain: false, knownAt: at + 9000 };
    expect(ofNode({ rival: suspected })).toEqual([
      {
        kind: 'two-agents',
        message:
          'another agent, other, renewed the Lease of this node just before this one started, and did not say that it ended',
        attempt: 0,
        since: at - 1000,
        retryAt: at + 9000,
        help: 'It runs, or it was killed: its next renewal tells. If it runs, end one of the two agents, or give it a node name of its own.',
      },
    ]);
  });

  it('tells of a source that has not sent, that cannot be read, and whose newest list waits', () => {
    const lastError = {
      ...{ errorClass: 'unavailable' as const, message: 'connect ECONNREFUSED', at: at - 10, retryAt: at + 10 },
      ...{ since: at - 5000, attempt: 4, kind: 'connection-refused', help: 'Start it.' },
    } as const;
    const source = {
      name: 'api',
      hasSent: false,
      isWaiting: false,
      pods: 0,
      leftOut: [],
      lastObservedAt: undefined,
      lastError: undefined,
    };
    const messages = (more: object) =>
      nodeProblems({ ...well, sources: [{ ...source, ...more }] }).map(({ kind, message }) => [kind, message]);
    expect(messages({})).toEqual([['source-silent', 'the source "api" has not sent its pods']]);
    expect(messages({ lastError })).toEqual([
      ['connection-refused', 'the source "api" has not sent its pods: connect ECONNREFUSED'],
    ]);
    expect(messages({ hasSent: true, lastError })).toEqual([
      ['connection-refused', 'the source "api" cannot be read: connect ECONNREFUSED'],
    ]);
    expect(nodeProblems({ ...well, sources: [{ ...source, lastError }] })).toMatchObject([
      { attempt: 4, since: at - 5000, retryAt: at + 10, help: 'Start it.' },
    ]);
    expect(messages({ hasSent: true, isWaiting: true })).toEqual([
      ['source-waits', 'the newest list of the source "api" waits until the sync loop has taken earlier ones'],
    ]);
  });

  it('tells of a sync loop that has ended no iteration for half a minute', () => {
    expect(nodeProblems({ ...well, lastIterationAt: at - 29_999 })).toEqual([]);
    expect(nodeProblems({ ...well, lastIterationAt: at - 31_000 })).toMatchObject([
      { kind: 'silent-loop', message: 'the sync loop has ended no iteration for 31 s', since: at - 31_000 },
    ]);
  });
});

describe('workerProblem', () => {
  it('says what could not be done for the pod', () => {
    const pod = { podUID: 'u', podNamespace: 'default', podName: 'web' };
    const failed = { message: 'no room', attempt: 2, at, since: at - 5, retryAt: at + 5 };
    expect(workerProblem(pod, { state: 'sync', failure: failed })).toEqual({
      ...pod,
      kind: 'sync',
      message: 'the pod could not be synced: no room',
      attempt: 2,
      since: at - 5,
      retryAt: at + 5,
    });
    expect(workerProblem(pod, { state: 'terminating', failure: failed })?.message).toBe('the pod could not be ended: no room');
    expect(workerProblem(pod, { state: 'sync', failure: undefined })).toBeUndefined();
    expect(workerProblem(pod, undefined)).toBeUndefined();
  });
});
