import { describe, expect, it } from 'vitest';
import type { WirePodStatus } from '../../../src/api/json/types.ts';
import { cachedStatusOf } from '../../../src/status/cached-status.ts';
import { apiPodOf } from '../../../src/status/sync/api-copies.ts';
import { type LookContext, lookAt } from '../../../src/status/sync/look.ts';
import { Harness, testPod } from './status-harness.ts';

const uid = '12345678';
const condition = { type: 'example.com/Own', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };

describe('cachedStatusOf', () => {
  it('gives the status as the manager keeps it, with times as texts, and makes no view of it', () => {
    const { manager } = new Harness();
    manager.setPodStatus(testPod(), { phase: 'Running', startTime: '2026-01-01T00:00:00Z' });
    const status = cachedStatusOf(manager, uid);
    expect(status).toMatchObject({ phase: 'Running', startTime: '2026-01-01T00:00:00Z' });
    expect(cachedStatusOf(manager, uid)).toBe(status);
  });

  it('knows nothing of a pod without a status, and of a manager that is another one', () => {
    expect(cachedStatusOf(new Harness().manager, uid)).toBeUndefined();
    expect(cachedStatusOf({ getPodStatus: () => ({ phase: 'Running' }) }, uid)).toBeUndefined();
  });
});

describe('a look at a pod that is in step', () => {
  it('compares it with the copy once, and keeps once what is equal in both', () => {
    const status: WirePodStatus = { phase: 'Running', conditions: [{ ...condition }] };
    const read = apiPodOf(testPod({ metadata: { resourceVersion: '7' }, status: { phase: 'Running', conditions: [condition] } }));
    let compared = 0;
    const copy = {
      ...read,
      get normalized() {
        compared += 1;
        return read.normalized;
      },
    };
    const context = {
      agent: { target: () => ({ podUID: uid, apiUID: uid }), pod: () => ({}), freshest: () => copy, copyToCompare: () => copy },
      podStatuses: { get: () => ({ status, version: 1 }) },
      records: { state: () => undefined },
      apiStatusVersions: { get: () => 1 },
      ownedConditionTypes: new Set(),
    } as unknown as LookContext;
    expect(lookAt(context, uid)).toEqual({ kind: 'nothing' });
    const first = compared;
    expect(lookAt(context, uid)).toEqual({ kind: 'nothing' });
    expect([first > 0, compared]).toEqual([true, first]);
    expect(copy.status.conditions).toBe(status.conditions);
  });
});
