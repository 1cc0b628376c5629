import { describe, expect, it } from 'vitest';
import { leaseProblem } from '../../../../src/fleet/member/lease-problems.ts';
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
