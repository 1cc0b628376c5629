import { describe, expect, it } from 'vitest';
import { CountingPodClient } from '../../../examples/virtual-node/counting-pod-client.ts';
import { ApiError, type PodClient } from '../../../src/index.ts';

const { signal } = new AbortController();
const metadata = { uid: 'u1', resourceVersion: '1' };

function client(answer: () => Promise<never>): CountingPodClient {
  const next: PodClient = {
    getPod: async () => ({ metadata }),
    patchPodStatus: async () => metadata,
    deletePod: answer,
  };
  return new CountingPodClient(next);
}

describe('CountingPodClient', () => {
  it('passes every answer on and counts the requests by verb', async () => {
    const counting = client(async () => Promise.reject(new ApiError({ status: 409, reason: 'Conflict', message: 'no' })));
    expect(await counting.getPod('default', 'web', { signal })).toEqual({ metadata });
    const patch = { type: 'application/strategic-merge-patch+json', body: {} } as const;
    expect(await counting.patchPodStatus('default', 'web', patch, { signal })).toEqual(metadata);
    expect(counting.requests).toEqual({ get: 1, patch: 1, delete: 0 });
    expect(counting.total).toBe(2);
  });

  it.each([
    [new ApiError({ status: 409, reason: 'Conflict', message: 'no' }), 409],
    [new ApiError({ reason: 'Timeout', message: 'no' }), 'Timeout'],
    [new Error('no'), 'unknown'],
  ])('rejects with the error of the inner client (%s), and counts it as a refusal by %s', async (error, what) => {
    const counting = client(() => Promise.reject(error));
    const options = { signal, gracePeriodSeconds: 0, uid: 'u1' };
    await expect(counting.deletePod('default', 'web', options)).rejects.toBe(error);
    expect([...counting.refusals]).toEqual([[what, 1]]);
  });
});
