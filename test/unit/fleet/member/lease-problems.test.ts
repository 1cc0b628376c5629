import { describe, expect, it } from 'vitest';
import { leaseProblem, lossHelp, lostShardProblem } from '../../../../src/fleet/member/lease-problems.ts';
import { ApiError } from '../../../../src/index.ts';

const failed = (status: number, reason: string) => {
  const error = new ApiError({ status, reason, message: `${status} leases is ${reason}` });
  return leaseProblem('the Lease of shard 3 could not be written', { error, at: 1000, since: 500, attempt: 2, retryAt: 3000 });
};

describe('a Lease of a fleet that is refused', () => {
  it('for a right that is missing is helped by the rights of a fleet', () => {
    const { help, ...problem } = failed(403, 'Forbidden');
    expect(problem).toEqual({
      kind: 'forbidden',
      message: 'the Lease of shard 3 could not be written: 403 leases is Forbidden',
      since: 500,
      attempt: 2,
      retryAt: 3000,
    });
    expect(help).toContain('deploy/fleet.yaml');
    expect(help).not.toContain('deploy/rbac.yaml');
  });

  it('for another reason is helped as any request is', () => {
    expect(failed(429, 'TooManyRequests')).toMatchObject({ kind: 'throttled', help: expect.stringContaining('flow-schema') });
  });
});

describe('a shard that is lost', () => {
  const error = new ApiError({ status: 500, reason: 'InternalError', message: '500 database space exceeded' });
  const failure = { error, at: 1000, since: 500, attempt: 2, retryAt: 3000 };

  it('says why, and by which failure of its Lease, without a try that does not come', () => {
    const problem = lostShardProblem(3, 'the Lease l was not renewed for 10000 ms', failure);
    expect(problem).toEqual({
      kind: 'unavailable',
      message:
        'this member has lost shard 3: the Lease l was not renewed for 10000 ms; the Lease of shard 3 could not be written: 500 database space exceeded',
      since: 500,
      attempt: 2,
      help: expect.stringContaining('whether the apiserver is up'),
    });
  });

  it('for another reason than its Lease is helped as that says, whatever has failed before', () => {
    expect(lostShardProblem(3, 'the time of the stop is over', failure, lossHelp.ofStop)).toEqual({
      kind: 'not-owner',
      message: 'this member has lost shard 3: the time of the stop is over',
      attempt: 0,
      help: lossHelp.ofStop,
    });
  });
});
