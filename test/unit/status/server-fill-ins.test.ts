import { describe, expect, it } from 'vitest';
import { withServerFillIns } from '../../../src/status/server-fill-ins.ts';
import { PodStore } from '../../../src/testing.ts';
import { Harness, testPod } from './harness.ts';

describe('withServerFillIns', () => {
  it('gives a condition the observedGeneration the server keeps for it', () => {
    const server = { conditions: [{ type: 'Ready', status: 'True', observedGeneration: 3 }] };
    const status = { conditions: [{ type: 'Ready', status: 'False' }] };
    expect(withServerFillIns(status, server).conditions).toEqual([{ type: 'Ready', status: 'False', observedGeneration: 3 }]);
    expect(status.conditions[0]).not.toHaveProperty('observedGeneration');
  });

  it('leaves a condition that has one, and one the server does not know', () => {
    const server = { conditions: [{ type: 'Ready', status: 'True', observedGeneration: 3 }] };
    const status = {
      conditions: [
        { type: 'Ready', status: 'True', observedGeneration: 4 },
        { type: 'Initialized', status: 'True' },
      ],
    };
    expect(withServerFillIns(status, server)).toBe(status);
  });
});

describe('StatusManager, conditions whose observedGeneration the server keeps', () => {
  it.each(['strategic', 'json'] as const)('does not try to take it away, batch for batch (%s)', async (patchFormat) => {
    const h = new Harness({ patchFormat, client: { store: new PodStore({ validate: false }) } });
    const kept = { type: 'Ready', status: 'True', observedGeneration: 3 };
    const pod = h.publish(testPod({ spec: { containers: [] }, status: { phase: 'Running', conditions: [kept] } }));
    const status = { ...h.apiStatus(pod), conditions: [{ type: 'Ready', status: 'True' }], message: 'm' };
    expect(await h.set(pod, status)).toEqual(['patch']);
    expect(h.apiStatus(pod).conditions).toEqual([expect.objectContaining(kept)]);
    h.observe(pod);
    h.rival(pod, { message: 'somebody else’s' });
    h.observe(pod);
    expect(await h.batch()).toEqual(['patch']);
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
    h.manager.reconcile('12345678');
    expect(await h.calls()).toEqual([]);
  });
});
